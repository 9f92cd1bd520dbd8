/* SPDX-License-Identifier: MIT */
/* Numbers and bit sets by the names that the headers give them. */
#include <aio.h>
#include <dlfcn.h>
#include <errno.h>
#include <linux/fiemap.h>
#include <linux/fs.h>
#include <linux/futex.h>
#include <linux/if_alg.h>
#include <linux/netlink.h>
#include <linux/seccomp.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <netpacket/packet.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/fanotify.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/random.h>
#include <sys/reboot.h>
#include <sys/resource.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/swap.h>
#include <sys/syslog.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <termios.h>
#include <ulimit.h>
#include <unistd.h>

#include "preload/args.h"
#include "preload/text.h"

/* The C library has them in a header that cannot be included together with the kernel's. */
#ifndef MNT_FORCE
#define MNT_FORCE	1
#define MNT_DETACH	2
#define MNT_EXPIRE	4
#define UMOUNT_NOFOLLOW 8
#endif

struct named {
	uint32_t value;
	char name[28];
};

/* Either one number has one name, or a set of bits has a name each. */
#define NAMED(constant)                                                                            \
	{                                                                                          \
		(uint32_t)(constant), #constant                                                    \
	}

static const char *name_of(const struct named *list, unsigned count, uint32_t value)
{
	for (unsigned i = 0; i < count; i++)
		if (list[i].value == value)
			return list[i].name;
	return NULL;
}

/* The name of one number; the number itself if the list lacks it. */
static void text_name(struct fx_text *t, const struct named *list, unsigned count, uint32_t value)
{
	const char *name = name_of(list, count, value);

	if (name)
		fx_text_string(t, name);
	else
		fx_text_signed(t, (int32_t)value);
}

/* The names of all bits that are set, those without a name in hex; of none, the name of 0 or "0". */
static void text_flags(struct fx_text *t, const struct named *list, unsigned count, uint32_t flags)
{
	const char *none = flags ? NULL : name_of(list, count, 0);
	bool first = true;

	for (unsigned i = 0; i < count && flags; i++) {
		if (list[i].value == 0 || (flags & list[i].value) != list[i].value)
			continue;
		if (!first)
			fx_text_char(t, '|');
		first = false;
		fx_text_string(t, list[i].name);
		flags &= ~list[i].value;
	}
	if (none)
		fx_text_string(t, none);
	else if (flags || first) {
		fx_text_string(t, first ? "" : "|");
		fx_text_string(t, flags ? "0x" : "");
		fx_text_number(t, flags, 16);
	}
}

#define LIST(list) (list), FX_ARRAY_LEN(list)

static void arg_name(struct fx_call *call, unsigned name, const struct named *list, unsigned count,
		     uint32_t value)
{
	char buffer[FX_NAME_TEXT];
	struct fx_text t = FX_TEXT(buffer);

	text_name(&t, list, count, value);
	fx_arg_bytes(call, name, buffer, fx_text_length(&t));
}

static void arg_flags(struct fx_call *call, unsigned name, const struct named *list, unsigned count,
		      uint32_t flags)
{
	char buffer[FX_FLAGS_TEXT];
	struct fx_text t = FX_TEXT(buffer);

	text_flags(&t, list, count, flags);
	fx_arg_bytes(call, name, buffer, fx_text_length(&t));
}

#include "preload/names.inc"

/* One of the names in the bits of `mask`, flags in the others. */
static void arg_name_and_flags(struct fx_call *call, unsigned name, uint32_t value, uint32_t mask,
			       const struct named *names, unsigned names_count,
			       const struct named *flags, unsigned flags_count)
{
	char buffer[FX_FLAGS_TEXT];
	struct fx_text t = FX_TEXT(buffer);

	text_name(&t, names, names_count, value & mask);
	if (value & ~mask) {
		fx_text_char(&t, '|');
		text_flags(&t, flags, flags_count, value & ~mask);
	}
	fx_arg_bytes(call, name, buffer, fx_text_length(&t));
}

void fx_arg_open_flags(struct fx_call *call, unsigned name, int flags)
{
	arg_name_and_flags(call, name, (uint32_t)flags, O_ACCMODE, LIST(list_access_mode),
			   LIST(list_open_bits));
}

void fx_arg_sock_type(struct fx_call *call, unsigned name, int type)
{
	arg_name_and_flags(call, name, (uint32_t)type, 0xf, LIST(list_sock_kind),
			   LIST(list_sock_flags));
}

void fx_arg_futex_operation(struct fx_call *call, unsigned name, int operation)
{
	arg_name_and_flags(call, name, (uint32_t)operation, FUTEX_CMD_MASK,
			   LIST(list_futex_command), LIST(list_futex_flags));
}

/* The signal that the parent gets stands in the lowest byte. */
void fx_arg_clone(struct fx_call *call, unsigned name, int flags)
{
	char buffer[FX_FLAGS_TEXT];
	struct fx_text t = FX_TEXT(buffer);

	text_flags(&t, LIST(list_clone_flags), (uint32_t)flags & ~0xffu);
	fx_arg_bytes(call, name, buffer, fx_text_length(&t));
	if (flags & 0xff)
		fx_arg_signal(call, FX_STR_signal, flags & 0xff);
}

static void text_octal(struct fx_text *t, unsigned n)
{
	if (n)
		fx_text_char(t, '0');
	fx_text_number(t, n, 8);
}

void fx_arg_mode(struct fx_call *call, unsigned name, mode_t mode)
{
	char buffer[FX_NAME_TEXT];
	struct fx_text t = FX_TEXT(buffer);

	if (name_of(LIST(list_file_type), mode & ~(mode_t)07777)) {
		text_name(&t, LIST(list_file_type), mode & S_IFMT);
		fx_text_char(&t, '|');
		mode &= 07777;
	}
	text_octal(&t, mode);
	fx_arg_bytes(call, name, buffer, fx_text_length(&t));
}

void fx_arg_ipc_flags(struct fx_call *call, unsigned name, int flags)
{
	char buffer[FX_FLAGS_TEXT];
	struct fx_text t = FX_TEXT(buffer);

	if (flags & ~0777) {
		text_flags(&t, LIST(list_ipc_bits), (uint32_t)flags & ~0777u);
		fx_text_char(&t, '|');
	}
	text_octal(&t, (unsigned)flags & 0777);
	fx_arg_bytes(call, name, buffer, fx_text_length(&t));
}

void fx_arg_dirfd(struct fx_call *call, unsigned name, int fd)
{
	if (fd == AT_FDCWD)
		fx_arg_bytes(call, name, "AT_FDCWD", 8);
	else
		fx_arg_fd(call, name, fd);
}

void fx_arg_sockopt(struct fx_call *call, unsigned name, int option, int level)
{
	uint32_t o = (uint32_t)option;

	switch (level) {
	case SOL_SOCKET:
		arg_name(call, name, LIST(list_sock_option), o);
		break;
	case IPPROTO_TCP:
		arg_name(call, name, LIST(list_tcp_option), o);
		break;
	case IPPROTO_IP:
		arg_name(call, name, LIST(list_ip_option), o);
		break;
	case IPPROTO_IPV6:
		arg_name(call, name, LIST(list_ipv6_option), o);
		break;
	default:
		fx_arg_int(call, name, option);
	}
}

/* The request's name, or what its bits say: direction, type, number, size. */
void fx_arg_ioctl(struct fx_call *call, unsigned name, unsigned long request)
{
	const char *known = name_of(LIST(list_ioctl_request), (uint32_t)request);
	char buffer[FX_NAME_TEXT];
	struct fx_text t = FX_TEXT(buffer);

	if (known) {
		fx_text_string(&t, known);
	} else {
		fx_text_string(&t, "0x");
		fx_text_number(&t, (uint32_t)request, 16);
	}
	fx_arg_bytes(call, name, buffer, fx_text_length(&t));
}

/* --- fcntl ------------------------------------------------------------------------------------- */

/* A record lock: kind, start, length. */
static void arg_file_lock(struct fx_call *call, unsigned name, const struct flock *lock)
{
	char buffer[FX_FLAGS_TEXT];
	struct fx_text t = FX_TEXT(buffer);

	text_name(&t, LIST(list_file_lock_type), (uint32_t)lock->l_type);
	fx_text_char(&t, ' ');
	fx_text_string(&t, name_of(LIST(list_whence), (uint32_t)lock->l_whence) ?: "?");
	fx_text_char(&t, ' ');
	fx_text_signed(&t, lock->l_start);
	fx_text_char(&t, ' ');
	fx_text_signed(&t, lock->l_len);
	fx_arg_bytes(call, name, buffer, fx_text_length(&t));
}

/* Errors that come after the kernel has read the lock. */
static bool file_lock_was_read(int error)
{
	return error == 0 || error == EAGAIN || error == EACCES || error == EDEADLK ||
	       error == EINTR;
}

void fx_arg_fcntl(struct fx_call *call, unsigned name, long arg, int command)
{
	switch (command) {
	case F_GETFD:
	case F_GETFL:
	case F_GETOWN:
	case F_GETSIG:
	case F_GETLEASE:
	case F_GETPIPE_SZ:
	case F_GET_SEALS:
		break;
	case F_SETFD:
		fx_arg_fd_flags(call, name, (unsigned)arg);
		break;
	case F_SETFL:
		fx_arg_open_flags(call, name, (int)arg);
		break;
	case F_SETLEASE:
		fx_arg_file_lock_type(call, name, (unsigned)arg);
		break;
	case F_SETSIG:
		fx_arg_signal(call, name, (int)arg);
		break;
	case F_ADD_SEALS:
		fx_arg_seals(call, name, (unsigned)arg);
		break;
	case F_GETLK:
	case F_SETLK:
	case F_SETLKW:
	case F_OFD_GETLK:
	case F_OFD_SETLK:
	case F_OFD_SETLKW:
		if (file_lock_was_read(call->error))
			arg_file_lock(call, name, (const struct flock *)arg);
		break;
	default:
		fx_arg_long(call, name, arg);
	}
}

/* --- Other arguments that depend on what is asked -------------------------------------------------- */

void fx_arg_ioctl_arg(struct fx_call *call, unsigned name, const void *arg, unsigned long request)
{
	switch (request) {
	case FIOCLEX:
	case FIONCLEX:
	case TIOCNOTTY:
	case TIOCEXCL:
	case TIOCNXCL:
		break;
	case FICLONE:
	case TCFLSH:
	case TCSBRK:
	case TCXONC:
	case TIOCSCTTY:
		fx_arg_int(call, name, (int)(intptr_t)arg);
		break;
	case FIONREAD:
	case FIONBIO:
	case FIOASYNC:
	case TIOCOUTQ:
	case TIOCGPGRP:
	case TIOCSPGRP:
	case TIOCGSID:
	case TIOCGPTN:
	case TIOCSPTLCK:
	case SIOCATMARK:
		fx_arg_out_int(call, name, arg);
		break;
	default:
		fx_arg_ptr(call, name, arg);
	}
}

void fx_arg_new_addr(struct fx_call *call, unsigned name, const void *addr, int flags)
{
	if (flags & MREMAP_FIXED)
		fx_arg_ptr(call, name, addr);
}

void fx_arg_semctl(struct fx_call *call, unsigned name, long arg, int command)
{
	if (command == SETVAL)
		fx_arg_int(call, name, (int)arg);
}

void fx_arg_ulimit(struct fx_call *call, unsigned name, long value, int command)
{
	if (command == UL_SETFSIZE)
		fx_arg_long(call, name, value);
}

static void arg_stat(struct fx_call *call, unsigned name, unsigned mode, uint64_t size)
{
	char buffer[48];
	struct fx_text t = FX_TEXT(buffer);

	text_name(&t, LIST(list_file_type), mode & S_IFMT);
	fx_text_char(&t, '|');
	text_octal(&t, mode & ~(unsigned)S_IFMT);
	fx_text_char(&t, ' ');
	fx_text_number(&t, size, 10);
	fx_arg_bytes(call, name, buffer, fx_text_length(&t));
}

void fx_arg_stat_out(struct fx_call *call, unsigned name, const struct stat *st)
{
	if (!call->error && st)
		arg_stat(call, name, st->st_mode, (uint64_t)st->st_size);
}

void fx_arg_statx_out(struct fx_call *call, unsigned name, const struct statx *st)
{
	if (!call->error && st)
		arg_stat(call, name, st->stx_mode, st->stx_size);
}

/* --- Sets --------------------------------------------------------------------------------------- */

void fx_arg_pollfds(struct fx_call *call, unsigned name, const struct pollfd *fds, size_t count)
{
	char buffer[FX_FLAGS_TEXT];
	struct fx_text t = FX_TEXT(buffer);

	if (!fds || (call->error && call->error != EINTR))
		return;
	for (size_t i = 0; i < count && t.at < t.end; i++) {
		if (i)
			fx_text_char(&t, ' ');
		fx_text_signed(&t, fds[i].fd);
		fx_text_char(&t, ':');
		text_flags(&t, LIST(list_poll_events), (uint16_t)fds[i].events);
	}
	fx_arg_bytes(call, name, buffer, fx_text_length(&t));
}

void fx_arg_epoll_event(struct fx_call *call, unsigned name, const struct epoll_event *event,
			int operation)
{
	if (event && call->error != EFAULT && operation != EPOLL_CTL_DEL)
		arg_flags(call, name, LIST(list_epoll_events), event->events);
}

static void text_signal(struct fx_text *t, int number)
{
	unsigned length, index = fx_signal_string(number);

	if (index) {
		const char *name = fx_builtin_text(index, &length);

		fx_text_bytes(t, name, length);
	} else {
		fx_text_signed(t, number);
	}
}

void fx_arg_sigset(struct fx_call *call, unsigned name, const sigset_t *set)
{
	char buffer[FX_FLAGS_TEXT];
	struct fx_text t = FX_TEXT(buffer);

	if (!set || call->error == EFAULT || call->error == EINVAL)
		return;
	for (int i = 1; i < NSIG; i++) {
		/* the first word of the set; the kernel has 64 signals */
		if (!(*(const uint64_t *)set >> (i - 1) & 1))
			continue;
		if (fx_text_length(&t))
			fx_text_char(&t, '|');
		text_signal(&t, i);
	}
	fx_arg_bytes(call, name, buffer, fx_text_length(&t));
}
