/* SPDX-License-Identifier: MIT */
#include "preload/attach/attach.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>

#include "base/clock.h"
#include "base/fault.h"
#include "base/syscall.h"
#include "engine/provider/engine.h"
#include "preload/attach/manager-user.h"
#include "preload/attach/mapped.h"
#include "preload/host/modules.h"
#include "preload/strings.h"

/* A manager that does not answer must not hold the program up, */
#define PATIENCE_SECONDS 2

/* which is heard of late, or others have said so: then it is looked what they say, */
#define HASTE_MS 10

/* and how often it is tried to connect, while more wait for that than the socket has room for; */
#define CONNECT_TURN_MS 2u

/* nor one that would and gets no processor, in which the program is no better off, for so many times that; */
#define PATIENCE_TURNS 15

/* How long the program's begin waits for the manager to know how its arguments are had, in turns between which it looks
 * whether that still lives. */
#define RECIPES_MS	6000u
#define RECIPES_TURN_MS 100u

/* and for so long, no other program either. */
#define SILENCE_SECONDS 60

static struct sockaddr_un manager = {.sun_family = AF_UNIX};
static char provider_name[FX_PROVIDER_NAME_MAX + 1];
static struct fx_msg_wish provider_wish;

/* The process's number, for its first request, while nothing is mapped; 0: the kernel is asked. Later it stands where a fork wipes it: a
 * handler may make a process meanwhile. */
static int own_pid;

/* No filter of system calls was there when the process registered. Its children have it so; what filters it has made itself
 * since is known otherwise (FX_ASK_TOGETHER). */
static bool unfiltered;

/* Others have waited for the manager in vain. */
static bool manager_is_silent;

/* Whether the manager that was connected to last could end this process anyway: root's, or this user's. */
static bool manager_is_own;

/* What is mapped now. */
static struct fx_mapped mapped;

void fx_attach_set_socket(const char *path)
{
	size_t n = strnlen(path, sizeof manager.sun_path - 1);

	memcpy(manager.sun_path, path, n);
	manager.sun_path[n] = 0;
}

void fx_attach_set_name(const char *name)
{
	size_t n = strnlen(name, sizeof provider_name - 1);

	memcpy(provider_name, name, n);
	provider_name[n] = 0;
}

static int *pid_place(void)
{
	return fx_engine.wiped ? &fx_engine.wiped->pid : &own_pid;
}

void fx_attach_set_pid(int pid)
{
	*pid_place() = pid;
}

int fx_attach_take_pid(void)
{
	int pid = *pid_place();

	*pid_place() = 0;
	return pid ? pid : fx_getpid();
}

void fx_attach_name(char ret[FX_PROVIDER_NAME_MAX + 1])
{
	memcpy(ret, provider_name, sizeof provider_name);
}

void fx_attach_set_wish(const struct fx_msg_wish *wish)
{
	provider_wish = *wish;
}

const struct fx_msg_wish *fx_attach_wish(void)
{
	return &provider_wish;
}

size_t fx_attach_message_bytes(size_t with_wish)
{
	bool wishes = provider_wish.buffer_size || provider_wish.mode;

	return wishes ? with_wish : with_wish - sizeof provider_wish;
}

bool fx_attach_raise(struct rlimit *ret_before)
{
	struct rlimit raised;

	if (fx_syscall4(SYS_prlimit64, 0, RLIMIT_NOFILE, 0, ret_before) != 0 ||
	    ret_before->rlim_cur == ret_before->rlim_max)
		return false;
	raised = (struct rlimit){ret_before->rlim_max, ret_before->rlim_max};
	return fx_syscall4(SYS_prlimit64, 0, RLIMIT_NOFILE, &raised, 0) == 0;
}

void fx_attach_lower(const struct rlimit *before)
{
	fx_syscall4(SYS_prlimit64, 0, RLIMIT_NOFILE, before, 0);
}

/* Whether a path is not there for this process: another root or mounts, or a folder that keeps it out. */
static bool is_out_of_sight(long error)
{
	return error == -ENOENT || error == -ENOTDIR || error == -EACCES;
}

/* The abstract name that the manager has beside its path: it is found whatever is mounted here. */
static long connect_beside(int fd)
{
	struct sockaddr_un beside = {.sun_family = AF_UNIX};
	size_t length = strnlen(manager.sun_path, sizeof manager.sun_path - 1);
	long r;

	memcpy(beside.sun_path + 1, manager.sun_path, length);
	do
		r = fx_syscall3(SYS_connect, fd, &beside,
				offsetof(struct sockaddr_un, sun_path) + 1 + length);
	while (r == -EINTR);
	return r;
}

bool fx_attach_sees_manager(void)
{
	long fd, r;

	if (!manager.sun_path[0])
		return true;
#ifdef SYS_access /* a filter knows it: the dynamic linker begins with it */
	r = fx_syscall2(SYS_access, manager.sun_path, F_OK);
#else
	r = fx_syscall3(SYS_faccessat, AT_FDCWD, manager.sun_path, F_OK);
#endif
	if (!is_out_of_sight(r))
		return true;
	fd = fx_syscall3(SYS_socket, AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fx_syscall_failed(fd))
		return true;
	r = connect_beside((int)fd);
	fx_syscall1(SYS_close, fd);
	return r != -ECONNREFUSED;
}

static int64_t now_seconds(void)
{
	return (int64_t)(fx_clock_ns(CLOCK_REALTIME) / 1000000000u);
}

/* A process that has waited in vain says so to all that come later, by a time of the socket's that is to come. The
 * manager takes it back when it goes on (manager/door/listener.c). Not everybody may do so, and nobody where its
 * path is not seen. */
static void silence_tell(void)
{
	const struct timespec times[2] = {{.tv_nsec = UTIME_OMIT},
					  {.tv_sec = now_seconds() + SILENCE_SECONDS}};

	fx_syscall4(SYS_utimensat, AT_FDCWD, manager.sun_path, times, 0);
}

static bool is_silent(void)
{
	int64_t now = now_seconds();
	struct stat st;

	manager_is_silent = fx_syscall4(SYS_newfstatat, AT_FDCWD, manager.sun_path, &st, 0) == 0 &&
			    st.st_mtim.tv_sec > now && st.st_mtim.tv_sec <= now + SILENCE_SECONDS;
	return manager_is_silent;
}

/* Connects, by the path if it is seen. */
static long connect_once(int fd, bool *by_path)
{
	long r;

	do
		r = fx_syscall3(SYS_connect, fd, &manager, sizeof manager);
	while (r == -EINTR);
	*by_path = !is_out_of_sight(r) || manager.sun_path[0] != '/';
	return *by_path ? r : connect_beside(fd);
}

int fx_attach_connect(bool patient)
{
	const struct timespec turn = {.tv_nsec = CONNECT_TURN_MS * 1000000l};
	unsigned turns = patient ? PATIENCE_SECONDS * 1000u / CONNECT_TURN_MS : 0;
	long fd = FX_FAULT(register_connect), r;
	bool by_path;

	manager_is_silent = false;
	if (!manager.sun_path[0])
		return -ENOENT;
	if (fd == 0)
		fd = fx_syscall3(SYS_socket, AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK,
				 0);
	if (fx_syscall_failed(fd))
		return (int)fd;
	while ((r = connect_once((int)fd, &by_path)) == -EAGAIN && turns-- && !is_silent()) {
		struct timespec left = turn; /* which the kernel changes */

		fx_syscall6(SYS_ppoll, 0, 0, (long)&left, 0, 0, 0);
	}
	if (!fx_syscall_failed(r) && !fx_manager_is_trusted((int)fd, by_path, &manager_is_own))
		r = -EPERM;
	if (fx_syscall_failed(r)) {
		fx_syscall1(SYS_close, fd);
		return (int)r;
	}
	return (int)fd;
}

/* Of a process that waits for the answer the kernel tells the manager all else. */
static int request_send(int fd, int pid, enum fx_register_cause cause)
{
	struct fx_msg_register m = {
	    .header = {FX_MESSAGE_MAGIC, FX_MESSAGE_VERSION, FX_MSG_REGISTER},
	    .pid = (uint32_t)pid,
	    .cause = cause,
	    .wish = provider_wish,
	};
	long size = (long)fx_attach_message_bytes(sizeof m), r;

	memcpy(m.name, provider_name, sizeof provider_name);
	do
		r = fx_syscall6(SYS_sendto, fd, (long)&m, size, MSG_NOSIGNAL, 0, 0);
	while (r == -EINTR);
	return r == size ? 0 : r < 0 ? (int)r : -EPROTO;
}

static int count_fds(const struct cmsghdr *c)
{
	return (int)((c->cmsg_len - CMSG_LEN(0)) / sizeof(int));
}

/* Takes all descriptors out of a reply; more or fewer than FX_FD_COUNT are closed. */
static int take_fds(struct msghdr *msg, int fds[FX_FD_COUNT])
{
	int found = 0;

	for (struct cmsghdr *c = CMSG_FIRSTHDR(msg); c; c = CMSG_NXTHDR(msg, c)) {
		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
			continue;
		for (int i = 0; i < count_fds(c); i++) {
			int fd;

			memcpy(&fd, CMSG_DATA(c) + i * sizeof fd, sizeof fd);
			if (found < FX_FD_COUNT)
				fds[found++] = fd;
			else
				fx_syscall1(SYS_close, fd);
		}
	}
	return found;
}

static void close_fds(const int *fds, int count)
{
	while (count--)
		fx_syscall1(SYS_close, fds[count]);
}

void fx_attach_close(const int *fds, int count)
{
	bool row = unfiltered && fx_engine_may(FX_ASK_TOGETHER);

	/* With no other between them. */
	for (int i = 1; i < count; i++)
		row = row && fds[i] == fds[0] + i;
	if (!row || fx_syscall3(SYS_close_range, fds[0], fds[count - 1], 0) != 0)
		close_fds(fds, count);
}

static bool reply_is_valid(const struct fx_msg_registered *m, long length)
{
	return length == sizeof *m && m->header.magic == FX_MESSAGE_MAGIC &&
	       m->header.version == FX_MESSAGE_VERSION && m->header.type == FX_MSG_REGISTERED;
}

/* 0: it is there, or the other end is gone; or -errno, -EAGAIN for one that does not come. The kernel takes off `left` what was waited. */
static long reply_await(int fd, struct timespec left)
{
	struct pollfd one = {.fd = fd, .events = POLLIN};
	long r;

	do
		r = fx_syscall6(SYS_ppoll, (long)&one, 1, (long)&left, 0, 0, 0);
	while (r == -EINTR);
	return r > 0 ? 0 : r == 0 ? -EAGAIN : r;
}

static long reply_await_patiently(int fd)
{
	long r = reply_await(fd, (struct timespec){.tv_nsec = HASTE_MS * 1000000l});

	if (r != -EAGAIN || is_silent())
		return r;
	for (int turns = PATIENCE_TURNS; turns > 0; turns--) {
		r = reply_await(fd, (struct timespec){.tv_sec = PATIENCE_SECONDS});
		if (r != -EAGAIN || !fx_manager_is_runnable(fd))
			break;
	}
	return r;
}

/* Looks at the reply, which stays in the socket, and takes the descriptors that come along. *room: there was room for
 * them. Its length, or -errno. */
static long reply_look(int fd, struct fx_msg_registered *ret, int fds[FX_FD_COUNT], int *found,
		       bool *room)
{
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(8 * sizeof(int))];
	} control;
	struct iovec iov = {ret, sizeof *ret};
	struct msghdr msg = {.msg_iov = &iov,
			     .msg_iovlen = 1,
			     .msg_control = &control,
			     .msg_controllen = sizeof control};
	long r = reply_await_patiently(fd);

	if (r == 0)
		do
			r = fx_syscall3(SYS_recvmsg, fd, &msg,
					MSG_CMSG_CLOEXEC | MSG_PEEK | MSG_DONTWAIT);
		while (r == -EINTR);
	*room = !(msg.msg_flags & MSG_CTRUNC);
	*found = fx_syscall_failed(r) ? 0 : take_fds(&msg, fds);
	return r;
}

static int reply_receive(int fd, struct fx_msg_registered *ret, int fds[FX_FD_COUNT])
{
	struct rlimit before;
	bool room;
	int found;
	long r = reply_look(fd, ret, fds, &found, &room);

	if (!fx_syscall_failed(r) && !room && fx_attach_raise(&before)) {
		close_fds(fds, found);
		r = reply_look(fd, ret, fds, &found, &room);
		fx_attach_lower(&before);
	}
	if (fx_syscall_failed(r))
		return (int)r;
	if (found == FX_FD_COUNT && reply_is_valid(ret, r))
		return 0;
	close_fds(fds, found);
	return reply_is_valid(ret, r) && ret->status < 0 ? ret->status : -EPROTO;
}

/* Whether what is to be mapped is there and stays: behind the end of a file every access is a signal. A manager that
 * is root's or this user's is believed its size, for it could end this process anyway; but it may have handed on the memory
 * to one that cuts it. */
static bool is_large_enough(int fd, uint64_t size)
{
	struct stat st;
	long seals =
	    fx_syscall2(SYS_fcntl, fd, F_GET_SEALS); /* first: the size is then the last one */

	if (fx_syscall_failed(seals) || !(seals & F_SEAL_SHRINK))
		return false;
	return manager_is_own ||
	       (fx_syscall2(SYS_fstat, fd, &st) == 0 && (uint64_t)st.st_size >= size);
}

static bool attach_sizes_are_sound(const struct fx_msg_registered *m, const int fds[FX_FD_COUNT])
{
	return m->control_size >= sizeof(struct fx_control) &&
	       m->buffer_size >= sizeof(struct fx_buffer_header) &&
	       is_large_enough(fds[FX_FD_CONTROL], m->control_size) &&
	       is_large_enough(fds[FX_FD_COMMON], FX_PAGE) &&
	       is_large_enough(fds[FX_FD_BUFFER], m->buffer_size);
}

/* Whether the control page has a word for each chunk that its layout names. */
static bool control_is_whole(const struct fx_control *control, uint64_t size)
{
	const struct fx_layout *l = &control->layout;

	return size - sizeof(*control) >= 8ull * l->halves * l->chunks_per_half &&
	       (!control->recipes_offset ||
		(control->recipes_offset % 8 == 0 && control->recipes_offset <= size &&
		 size - control->recipes_offset >= FX_RECIPE_SPACE));
}

int fx_attach_engine(int pid, const struct fx_control *control, uint64_t control_size,
		     const struct fx_common *common, void *buffer, uint64_t buffer_size)
{
	if (!control_is_whole(control, control_size))
		return -EPROTO;
	return fx_engine_attach(pid, control, common, buffer, buffer_size, &fx_builtin);
}

static int engine_attach(int pid)
{
	int r = fx_attach_engine(pid, mapped.control, mapped.control_size, mapped.common,
				 mapped.buffer, mapped.buffer_size);

	if (r != 0)
		fx_mapped_drop_buffer(&mapped);
	return r;
}

/* Where arguments of functions are wanted, the manager has their module's file read now that it knows of it. */
static void recipes_await(void)
{
	const struct fx_recipe_book *book = fx_recipe_book_of(fx_engine.page);
	const struct timespec turn = {.tv_nsec = RECIPES_TURN_MS * 1000000l};

	if (!book)
		return;
	fx_doorbell_ring();
	for (unsigned i = 0; i < RECIPES_MS / RECIPES_TURN_MS; i++) {
		/* Pairs with the manager's release. */
		if (fx_load_acquire(&book->serial) ||
		    (fx_load_relaxed(&fx_common()->owner) & FX_OWNER_DIED))
			return;
		fx_syscall4(SYS_futex, &book->serial, FUTEX_WAIT, 0, &turn);
	}
}

int fx_attach_over(int fd, enum fx_register_cause cause)
{
	struct fx_msg_registered reply;
	const int pid = fx_attach_take_pid();
	int opened[1 + FX_FD_COUNT] = {fd}, *const fds = opened + 1;
	int r = request_send(fd, pid, cause);

	FX_FAULT(register_sent);
	if (r == 0)
		r = reply_receive(fd, &reply, fds);
	if (r != 0) {
		fx_syscall1(SYS_close, fd);
		return r;
	}
	FX_FAULT(register_received);
	r = attach_sizes_are_sound(&reply, fds) ? fx_mapped_make(&mapped, &reply, fds) : -EPROTO;
	if (r == 0)
		r = FX_FAULT(register_mapped);
	if (r == 0)
		unfiltered = ((const struct fx_control *)mapped.control)->unfiltered == 1;
	fx_attach_close(opened, 1 + FX_FD_COUNT);
	if (r == 0) {
		const struct fx_control *control = mapped.control;

		fx_modules_collect(control->program);
		r = engine_attach(pid);
	}
	FX_FAULT(attach_modules);
	if (r == 0)
		fx_modules_write();
	if (r == 0 && cause == FX_REGISTER_START)
		recipes_await();
	return r;
}

int fx_attach(enum fx_register_cause cause)
{
	int fd = fx_attach_connect(true);
	struct rlimit before;
	int r;

	/* What is open stays so; what more it takes: see reply_receive(). */
	if (fd == -EMFILE && fx_attach_raise(&before)) {
		fd = fx_attach_connect(true);
		fx_attach_lower(&before);
	}
	r = fd < 0 ? fd : fx_attach_over(fd, cause);

	if (fd >= 0 && r == -EAGAIN && !manager_is_silent)
		silence_tell();
	return r;
}

int fx_attach_anew(void)
{
	int fd = fx_attach_connect(true);

	if (fd < 0)
		return fd; /* all is as it was */
	/* A child's own memory was brought by itself. Where its parent's was, there may be the program's by now. */
	if (mapped.buffer != (const void *)fx_engine.header)
		mapped.buffer = NULL;
	fx_engine_detach();
	fx_mapped_keep(&mapped, &fx_engine.layout);
	if (!fx_engine_renew()) {
		fx_syscall1(SYS_close, fd);
		return -ENOMEM;
	}
	return fx_attach_over(fd, FX_REGISTER_START);
}

int fx_attach_again(void)
{
	const struct fx_common *common = mapped.common;

	if (!common || !fx_engine.page)
		return -ENOTCONN;
	if (fx_load_relaxed(&common->owner) & FX_OWNER_DIED)
		return -EOWNERDEAD;
	fx_engine_take_up(common);
	return 0;
}
