/* SPDX-License-Identifier: MIT */
/* Descriptors that are waited for, and sockets: wrappers of the generic shape. */
#include <string.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>

#include "preload/call/call.h"
#include "preload/call/file-locks.h"
#include "preload/show/epolls.h"
#include "preload/show/fdname.h"
#include "preload/show/fdtable.h"
#include "preload/call/flow.h"
#include "preload/host/peek.h"
#include "preload/host/real.h"

static int fx_call_socketpair(int domain, int type, int protocol, int *fds)
{
	const int ret = FX_REAL(socketpair)(domain, type, protocol, fds);

	if (ret != 0)
		return ret;
	fx_fd_forget(fds[0]);
	fx_fd_forget(fds[1]);
	if (fx_category_on(FX_CAT_SYSCALL) && fx_engine_may(FX_ASK_LOOK)) {
		fx_fd_pair(fds[0], fds[1]);
		fx_compact_look(fds[0], FX_CAT_SYSCALL);
	}
	return ret;
}

#define FX_WORDS_TELL_pair 1

/* One of them, whose name has the other's: after an exec nobody else could tell. */
static void fx_tell_pair(struct fx_call *call, const int *fds)
{
	struct fx_fd_ref is;

	if (call->error)
		return;
	is = fx_fd_known(fds[0]);
	fx_show_file(call, FX_STR_file, &is);
}

/* --- Connections that are accepted ------------------------------------------------------------------ */

/* Its first call would ask what it is. */
static int accepted(int fd)
{
	if (fd < 0)
		return fd;
	fx_fd_forget(fd);
	if (fx_category_on(FX_CAT_SYSCALL))
		fx_compact_look(fd, FX_CAT_SYSCALL);
	return fd;
}

static int fx_call_accept(int fd, struct sockaddr *address, socklen_t *length)
{
	return accepted(FX_REAL(accept)(fd, address, length));
}

static int fx_call_accept4(int fd, struct sockaddr *address, socklen_t *length, int flags)
{
	return accepted(FX_REAL(accept4)(fd, address, length, flags));
}

#define FX_WORDS_TELL_accepted 1

static void fx_tell_accepted(struct fx_call *call, int fd)
{
	const struct fx_fd_ref is = fx_fd_known(fd);

	fx_show_file(call, FX_STR_connection, &is);
}

/* --- Messages ----------------------------------------------------------------------------------------- */

/* Descriptors may go with it; before a call the message need not be there. */
static fx_cold void message_look(const struct msghdr *msg)
{
	struct msghdr copy;

	if (fx_peek_copy(&copy, msg, sizeof(copy)) == sizeof(copy) && copy.msg_controllen)
		fx_files_spread();
}

static ssize_t message_done(const struct msghdr *msg, ssize_t ret)
{
	if (ret >= 0 && msg->msg_controllen)
		fx_files_spread();
	return ret;
}

static ssize_t fx_call_sendmsg(int fd, const struct msghdr *msg, int flags)
{
	if (fx_close_may_free())
		message_look(msg);
	return message_done(msg, FX_REAL(sendmsg)(fd, msg, flags));
}

static ssize_t fx_call_recvmsg(int fd, struct msghdr *msg, int flags)
{
	return message_done(msg, FX_REAL(recvmsg)(fd, msg, flags));
}

/* Of several nobody looks at each. */
static int fx_call_sendmmsg(int fd, struct mmsghdr *messages, unsigned count, int flags)
{
	fx_files_spread();
	return FX_REAL(sendmmsg)(fd, messages, count, flags);
}

static int fx_call_recvmmsg(int fd, struct mmsghdr *messages, unsigned count, int flags,
			    struct timespec *timeout)
{
	fx_files_spread();
	return FX_REAL(recvmmsg)(fd, messages, count, flags, timeout);
}

/* --- eventfds ------------------------------------------------------------------------------------- */

/* Its number has the clock in it, which may be looked at while something is recorded. */
static int fx_call_eventfd(unsigned value, int flags)
{
	const int ret = FX_REAL(eventfd)(value, flags);

	if (ret < 0)
		return ret;
	if (fx_category_on(FX_CAT_SYSCALL) && fx_engine_may(FX_ASK_LOOK)) {
		fx_fd_event(ret, flags & EFD_SEMAPHORE);
		fx_compact_look(ret, FX_CAT_SYSCALL);
	} else {
		fx_fd_forget(ret);
	}
	return ret;
}

#define FX_WORDS_TELL_event 1

static void fx_tell_event(struct fx_call *call, int fd)
{
	const struct fx_fd_ref is = fx_fd_known(fd);

	fx_show_file(call, FX_STR_file, &is);
}

/* --- Signals that are read ------------------------------------------------------------------------ */

/*
 * The first signalfd() puts functions of ours in the place of read(): a program without one pays nothing.
 * NULL before.
 */
static struct {
	__typeof__(fx_real.fn.read) read;
	__typeof__(fx_real.fn.__read_chk) read_chk;
} plain;

/* What may be a signalfd is asked for by its name: it may have been made or copied by anyone. */
static bool is_signalfd(int fd)
{
	static const char name[] = "anon_inode:[signalfd]";
	char buffer[FX_FD_NAME_MAX];
	struct fx_text t = FX_TEXT(buffer);

	if (!fx_engine_may(FX_ASK_LOOK) || fx_fd_name(&t, fd) != FX_FD_SETTLED)
		return false;
	return fx_text_length(&t) == sizeof name - 1 && memcmp(buffer, name, sizeof name - 1) == 0;
}

static void signals_read(uint64_t begin, int fd, const void *buf, ssize_t size)
{
	const struct signalfd_siginfo *info = buf;

	if (!begin || size <= 0 || (size_t)size % sizeof *info || !info->ssi_signo ||
	    info->ssi_signo >= NSIG || !is_signalfd(fd))
		return;
	for (size_t n = (size_t)size / sizeof *info; n; n--, info++)
		fx_signal_taken(begin, (int)info->ssi_signo, info->ssi_code, (pid_t)info->ssi_pid);
}

static ssize_t read_signals(int fd, void *buf, size_t count)
{
	uint64_t begin = fx_signal_begin();
	/* relaxed: stood before this function could be called */
	ssize_t ret = fx_load_relaxed(&plain.read)(fd, buf, count);

	signals_read(begin, fd, buf, ret);
	return ret;
}

static ssize_t read_signals_chk(int fd, void *buf, size_t count, size_t room)
{
	uint64_t begin = fx_signal_begin();
	ssize_t ret = fx_load_relaxed(&plain.read_chk)(fd, buf, count, room);

	signals_read(begin, fd, buf, ret);
	return ret;
}

static void watch_reads(void)
{
	__typeof__(plain.read) real = FX_REAL(read);
	__typeof__(plain.read_chk) real_chk = FX_REAL(__read_chk);

	if (real == read_signals || real_chk == read_signals_chk)
		return;
	/* relaxed: each thread that comes here writes the same */
	fx_store_relaxed(&plain.read, real);
	fx_store_relaxed(&plain.read_chk, real_chk);
	/* release: a thread that finds these finds the others; its loads depend on them */
	fx_store_release(&fx_real.slot[FX_REAL_read], (void *)read_signals);
	fx_store_release(&fx_real.slot[FX_REAL___read_chk], (void *)read_signals_chk);
}

static int fx_call_signalfd(int fd, const sigset_t *set, int flags)
{
	const int ret = FX_REAL(signalfd)(fd, set, flags);

	if (ret >= 0)
		watch_reads();
	return ret;
}

/* --- What is polled -------------------------------------------------------------------------------- */

/* So many of the descriptors are told what they are. */
#define TOLD		     4
#define FX_WORDS_TELL_polled TOLD

_Static_assert(FX_STR_file_4 == FX_STR_file + TOLD - 1, "they stand together in wrappers.tbl");

/* The first of those that are ready; of all if none is. Nothing of a call that has failed. */
static unsigned polled(int told[TOLD], const struct pollfd *fds, nfds_t count, int ready)
{
	unsigned n = 0;

	for (nfds_t i = 0; ready >= 0 && i < count && n < TOLD; i++)
		if (!ready || fds[i].revents)
			told[n++] = fds[i].fd;
	return n;
}

/* They are asked for after the call: before it nobody knows whether the array can be read. */
static int polled_look(const struct pollfd *fds, nfds_t count, int ready)
{
	int told[TOLD];

	if (fx_category_on(FX_CAT_SYSCALL))
		for (unsigned n = polled(told, fds, count, ready); n; n--)
			fx_compact_look(told[n - 1], FX_CAT_SYSCALL);
	return ready;
}

static void descriptors_tell(struct fx_call *call, const int *told, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		const struct fx_fd_ref is = fx_fd_known(told[i]);

		fx_show_file(call, FX_STR_file + i, &is);
	}
}

static void fx_tell_polled(struct fx_call *call, const struct pollfd *fds, nfds_t count, int ready)
{
	int told[TOLD];

	descriptors_tell(call, told, polled(told, fds, count, ready));
}

static int fx_call_poll(struct pollfd *fds, nfds_t count, int timeout)
{
	return polled_look(fds, count, FX_REAL(poll)(fds, count, timeout));
}

static int fx_call___poll_chk(struct pollfd *fds, nfds_t count, int timeout, size_t room)
{
	return polled_look(fds, count, FX_REAL(__poll_chk)(fds, count, timeout, room));
}

static int fx_call_ppoll(struct pollfd *fds, nfds_t count, const struct timespec *timeout,
			 const sigset_t *mask)
{
	return polled_look(fds, count, FX_REAL(ppoll)(fds, count, timeout, mask));
}

static int fx_call___ppoll_chk(struct pollfd *fds, nfds_t count, const struct timespec *timeout,
			       const sigset_t *mask, size_t room)
{
	return polled_look(fds, count, FX_REAL(__ppoll_chk)(fds, count, timeout, mask, room));
}

#define FX_WORDS_TELL_ready TOLD

/* The first of those that epoll has told of; -1 for one that is not known. */
static unsigned waited(int told[TOLD], int epfd, const struct epoll_event *events, int ready)
{
	int n = 0;

	for (; n < ready && n < TOLD; n++)
		told[n] = fx_epoll_find(epfd, events[n].data.u64);
	return (unsigned)n;
}

static int waited_look(int epfd, const struct epoll_event *events, int ready)
{
	int told[TOLD];

	if (fx_category_on(FX_CAT_SYSCALL))
		for (unsigned n = waited(told, epfd, events, ready); n; n--)
			fx_compact_look(told[n - 1], FX_CAT_SYSCALL);
	return ready;
}

static void fx_tell_ready(struct fx_call *call, int epfd, const struct epoll_event *events,
			  int ready)
{
	int told[TOLD];

	descriptors_tell(call, told, waited(told, epfd, events, ready));
}

static int fx_call_epoll_ctl(int epfd, int operation, int fd, struct epoll_event *event)
{
	const int ret = FX_REAL(epoll_ctl)(epfd, operation, fd, event);

	if (ret == 0 && (operation == EPOLL_CTL_ADD || operation == EPOLL_CTL_MOD))
		fx_epoll_remember(epfd, fd, event->data.u64);
	return ret;
}

static int fx_call_epoll_wait(int epfd, struct epoll_event *events, int count, int timeout)
{
	return waited_look(epfd, events, FX_REAL(epoll_wait)(epfd, events, count, timeout));
}

static int fx_call_epoll_pwait(int epfd, struct epoll_event *events, int count, int timeout,
			       const sigset_t *mask)
{
	return waited_look(epfd, events, FX_REAL(epoll_pwait)(epfd, events, count, timeout, mask));
}

static int fx_call_epoll_pwait2(int epfd, struct epoll_event *events, int count,
				const struct timespec *timeout, const sigset_t *mask)
{
	return waited_look(epfd, events, FX_REAL(epoll_pwait2)(epfd, events, count, timeout, mask));
}

/* --- select() ---------------------------------------------------------------------------------------- */

void fx_before_sets(struct fx_before_sets *before, int count, const fd_set *readfds,
		    const fd_set *writefds, const fd_set *exceptfds)
{
	const fd_set *const sets[3] = {readfds, writefds, exceptfds};
	const unsigned bits = 8 * sizeof(long);
	const void *good = before;

	count = count < 0 ? 0 : count > FD_SETSIZE ? FD_SETSIZE : count;
	before->words = ((unsigned)count + bits - 1) / bits;
	before->timed = false;
	for (unsigned i = 0; i < FX_ARRAY_LEN(sets); i++) {
		const size_t size = before->words * sizeof(long);

		before->given[i] = sets[i] && size && fx_peek_near(sets[i], size, good);
		if (before->given[i]) {
			memcpy(before->sets[i], sets[i], size);
			good = sets[i];
		}
	}
}

void fx_before_sets_and_time(struct fx_before_sets *before, int count, const fd_set *readfds,
			     const fd_set *writefds, const fd_set *exceptfds,
			     const struct timeval *timeout)
{
	fx_before_sets(before, count, readfds, writefds, exceptfds);
	before->timed = timeout && fx_peek_near(timeout, sizeof *timeout, before);
	if (before->timed)
		before->timeout_ns = (int64_t)((uint64_t)timeout->tv_sec * 1000000000u +
					       (uint64_t)timeout->tv_usec * 1000u);
}

#define FX_WORDS_TELL_selected TOLD

/* The first of those that the kernel has left in the sets. */
static unsigned selected(int told[TOLD], int count, const fd_set *const sets[3], int ready)
{
	const unsigned bits = 8 * sizeof(long);
	unsigned n = 0;

	count = ready <= 0 ? 0 : count > FD_SETSIZE ? FD_SETSIZE : count;
	for (unsigned i = 0; i * bits < (unsigned)count; i++) {
		unsigned long left = 0;

		for (unsigned s = 0; s < 3; s++)
			left |= sets[s] ? ((const unsigned long *)sets[s])[i] : 0;
		for (; left && n < TOLD; left &= left - 1)
			told[n++] = (int)(i * bits) + __builtin_ctzl(left);
	}
	return n;
}

static int selected_look(int count, const fd_set *const sets[3], int ready)
{
	int told[TOLD];

	if (fx_category_on(FX_CAT_SYSCALL))
		for (unsigned n = selected(told, count, sets, ready); n; n--)
			fx_compact_look(told[n - 1], FX_CAT_SYSCALL);
	return ready;
}

static void fx_tell_selected(struct fx_call *call, int count, const fd_set *readfds,
			     const fd_set *writefds, const fd_set *exceptfds, int ready)
{
	const fd_set *const sets[3] = {readfds, writefds, exceptfds};
	int told[TOLD];

	descriptors_tell(call, told, selected(told, count, sets, ready));
}

static int fx_call_select(int count, fd_set *readfds, fd_set *writefds, fd_set *exceptfds,
			  struct timeval *timeout)
{
	const fd_set *const sets[3] = {readfds, writefds, exceptfds};

	return selected_look(count, sets,
			     FX_REAL(select)(count, readfds, writefds, exceptfds, timeout));
}

static int fx_call_pselect(int count, fd_set *readfds, fd_set *writefds, fd_set *exceptfds,
			   const struct timespec *timeout, const sigset_t *mask)
{
	const fd_set *const sets[3] = {readfds, writefds, exceptfds};

	return selected_look(count, sets,
			     FX_REAL(pselect)(count, readfds, writefds, exceptfds, timeout, mask));
}

#include "preload/unit-descriptors.inc"
