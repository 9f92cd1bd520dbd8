/* SPDX-License-Identifier: MIT */
/* Numbers and bit sets that are more than one list of names, or whose list depends on another argument. */
#include <errno.h>
#include <linux/fs.h>
#include <linux/futex.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <netpacket/packet.h>
#include <sched.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <termios.h>
#include <ulimit.h>

#include "preload/show/args.h"
#include "preload/show/naming.h"

#ifndef FUTEX_LOCK_PI2
#define FUTEX_LOCK_PI2 13 /* Linux 5.14 */
#endif

/* One of the names in the bits of `mask`, flags in the others. */
static void arg_name_and_flags(struct fx_call *call, unsigned name, uint32_t value, uint32_t mask,
			       const struct fx_named *names, unsigned names_count,
			       const struct fx_named *flags, unsigned flags_count)
{
	char buffer[FX_FLAGS_TEXT];
	struct fx_text t = FX_TEXT(buffer);

	fx_text_name(&t, names, names_count, value & mask);
	if (value & ~mask) {
		fx_text_char(&t, '|');
		fx_text_flags(&t, flags, flags_count, value & ~mask);
	}
	fx_arg_bytes(call, name, buffer, fx_text_length(&t));
}

void fx_arg_open_flags(struct fx_call *call, unsigned name, int flags)
{
	arg_name_and_flags(call, name, (uint32_t)flags, O_ACCMODE, FX_NAMES(access_mode),
			   FX_NAMES(open_bits));
}

void fx_arg_sock_type(struct fx_call *call, unsigned name, int type)
{
	arg_name_and_flags(call, name, (uint32_t)type, 0xf, FX_NAMES(sock_kind),
			   FX_NAMES(sock_flags));
}

void fx_arg_futex_operation(struct fx_call *call, unsigned name, int operation)
{
	arg_name_and_flags(call, name, (uint32_t)operation, FUTEX_CMD_MASK, FX_NAMES(futex_command),
			   FX_NAMES(futex_flags));
}

void fx_arg_futex_timeout(struct fx_call *call, unsigned name, const void *timeout, int operation)
{
	switch (operation & FUTEX_CMD_MASK) {
	case FUTEX_WAIT:
	case FUTEX_WAIT_BITSET:
	case FUTEX_LOCK_PI:
	case FUTEX_LOCK_PI2:
	case FUTEX_WAIT_REQUEUE_PI:
		fx_arg_timespec(call, name, timeout);
		break;
	default:
		fx_arg_long(call, name, (intptr_t)timeout);
	}
}

/* The signal that the parent gets stands in the lowest byte. */
void fx_arg_clone(struct fx_call *call, unsigned name, int flags)
{
	char buffer[FX_FLAGS_TEXT];
	struct fx_text t = FX_TEXT(buffer);

	fx_text_flags(&t, FX_NAMES(clone_flags), (uint32_t)flags & ~0xffu);
	fx_arg_bytes(call, name, buffer, fx_text_length(&t));
	if (flags & 0xff)
		fx_arg_signal(call, FX_STR_signal, flags & 0xff);
}

/* The first words of struct clone_args: flags, and behind four more the signal. */
void fx_arg_clone_args(struct fx_call *call, unsigned name, const void *args)
{
	const uint64_t *word = args;

	if (call->error || !args)
		return;
	fx_arg_clone_flags(call, name, (unsigned)word[0]);
	if (word[4])
		fx_arg_signal(call, FX_STR_signal, (int)word[4]);
}

/* struct open_how: flags, mode, resolve. The kernel has read it before it looks for the file. */
void fx_arg_open_how(struct fx_call *call, unsigned name, const void *how)
{
	const uint64_t *word = how;
	const int error = call->error;

	if (!how ||
	    (error && error != ENOENT && error != EACCES && error != EXDEV && error != ELOOP)) {
		fx_arg_ptr(call, name, how);
		return;
	}
	fx_arg_open_flags(call, name, (int)word[0]);
	fx_arg_open_mode(call, FX_STR_mode, (mode_t)word[1], (int)word[0]);
	if (word[2])
		fx_arg_resolve_flags(call, FX_STR_resolve, (unsigned)word[2]);
}

void fx_arg_mode(struct fx_call *call, unsigned name, mode_t mode)
{
	char buffer[FX_NAME_TEXT];
	struct fx_text t = FX_TEXT(buffer);

	if (fx_name_of(FX_NAMES(file_type), mode & ~(mode_t)07777)) {
		fx_text_name(&t, FX_NAMES(file_type), mode & S_IFMT);
		fx_text_char(&t, '|');
		mode &= 07777;
	}
	fx_text_octal(&t, mode);
	fx_arg_bytes(call, name, buffer, fx_text_length(&t));
}

void fx_arg_ipc_flags(struct fx_call *call, unsigned name, int flags)
{
	char buffer[FX_FLAGS_TEXT];
	struct fx_text t = FX_TEXT(buffer);

	if (flags & ~0777) {
		fx_text_flags(&t, FX_NAMES(ipc_bits), (uint32_t)flags & ~0777u);
		fx_text_char(&t, '|');
	}
	fx_text_octal(&t, (unsigned)flags & 0777);
	fx_arg_bytes(call, name, buffer, fx_text_length(&t));
}

void fx_arg_dirfd(struct fx_call *call, unsigned name, int fd)
{
	if (fd == AT_FDCWD)
		fx_arg_bytes(call, name, "AT_FDCWD", 8);
	else
		fx_arg_fd(call, name, fd);
}

/* 0 is the usual one. */
void fx_arg_sock_protocol(struct fx_call *call, unsigned name, int protocol, int domain)
{
	if (protocol && (domain == AF_INET || domain == AF_INET6))
		fx_arg_ip_protocol(call, name, (unsigned)protocol);
	else if (domain == AF_NETLINK)
		fx_arg_netlink_protocol(call, name, (unsigned)protocol);
	else
		fx_arg_int(call, name, protocol);
}

void fx_arg_sockopt(struct fx_call *call, unsigned name, int option, int level)
{
	uint32_t o = (uint32_t)option;

	switch (level) {
	case SOL_SOCKET:
		fx_arg_sock_option(call, name, o);
		break;
	case IPPROTO_TCP:
		fx_arg_tcp_option(call, name, o);
		break;
	case IPPROTO_IP:
		fx_arg_ip_option(call, name, o);
		break;
	case IPPROTO_IPV6:
		fx_arg_ipv6_option(call, name, o);
		break;
	case IPPROTO_UDP:
		fx_arg_udp_option(call, name, o);
		break;
	case SOL_NETLINK:
		fx_arg_netlink_option(call, name, o);
		break;
	case SOL_PACKET:
		fx_arg_packet_option(call, name, o);
		break;
	default:
		fx_arg_int(call, name, option);
	}
}

/* The request's name, or what its bits say: direction, type, number, size. */
void fx_arg_ioctl(struct fx_call *call, unsigned name, unsigned long request)
{
	const char *known = fx_name_of(FX_NAMES(ioctl_request), (uint32_t)request);
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

	fx_text_name(&t, FX_NAMES(file_lock_type), (uint32_t)lock->l_type);
	fx_text_char(&t, ' ');
	fx_text_string(&t, fx_name_of(FX_NAMES(whence), (uint32_t)lock->l_whence) ?: "?");
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

void fx_arg_fcntl(struct fx_call *call, unsigned name, long arg, int command, int ret)
{
	switch (command) {
	case F_GETFD:
		if (!call->error)
			fx_arg_fd_flags(call, FX_STR_flags, (unsigned)ret);
		break;
	case F_GETFL:
		if (!call->error)
			fx_arg_open_flags(call, FX_STR_flags, ret);
		break;
	case F_GET_SEALS:
		if (!call->error)
			fx_arg_seals(call, FX_STR_seals, (unsigned)ret);
		break;
	case F_GETOWN:
	case F_GETSIG:
	case F_GETLEASE:
	case F_GETPIPE_SZ:
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

/* By its name, which need not end in its place. */
static void arg_interface(struct fx_call *call, unsigned name, const struct ifreq *request)
{
	if (!call->error && request)
		fx_arg_bytes(call, name, request->ifr_name,
			     strnlen(request->ifr_name, sizeof request->ifr_name));
}

void fx_arg_char(struct fx_call *call, unsigned name, int c)
{
	const char seen = (char)c;

	if (c == '\n')
		fx_arg_bytes(call, name, "\\n", 2);
	else if (c == '\t')
		fx_arg_bytes(call, name, "\\t", 2);
	else if (c >= ' ' && c <= '~')
		fx_arg_bytes(call, name, &seen, 1);
	else
		fx_arg_int(call, name, c);
}

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
	case BLKGETSIZE64:
		fx_arg_out_size(call, name, arg);
		break;
	case SIOCGIFNAME:
	case SIOCGIFINDEX:
	case SIOCGIFFLAGS:
	case SIOCGIFADDR:
	case SIOCGIFNETMASK:
	case SIOCGIFBRDADDR:
	case SIOCGIFMTU:
	case SIOCGIFHWADDR:
	case SIOCSIFFLAGS:
		arg_interface(call, name, arg);
		break;
	case TIOCGWINSZ:
	case TIOCSWINSZ:
		fx_arg_winsize(call, name, arg);
		break;
	case TCGETS:
	case TCSETS:
	case TCSETSW:
	case TCSETSF:
		fx_arg_termios(call, name, arg); /* the kernel's begins in the same way */
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

void fx_arg_ulimit(struct fx_call *call, unsigned name, long value, int command)
{
	if (command == UL_SETFSIZE)
		fx_arg_long(call, name, value);
}

static void arg_stat(struct fx_call *call, unsigned name, unsigned mode, uint64_t size)
{
	char buffer[48];
	struct fx_text t = FX_TEXT(buffer);

	fx_text_name(&t, FX_NAMES(file_type), mode & S_IFMT);
	fx_text_char(&t, '|');
	fx_text_octal(&t, mode & ~(unsigned)S_IFMT);
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
