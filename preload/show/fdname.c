/* SPDX-License-Identifier: MIT */
#include "preload/show/fdname.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "base/atomic.h"
#include "base/compiler.h"
#include "base/syscall.h"
#include "preload/show/address.h"
#include "preload/show/fdevents.h"

/* --- Pairs of sockets ------------------------------------------------------------------------- */

/* By the inode of the first, modulo their number; a newer pair takes the place of an older. A forked
 * child has a copy. Inodes of sockets are not used again soon. */
static struct pair {
	uint64_t inode, peer;
} pairs[256] FX_LARGE;

static void pair_set(uint64_t inode, uint64_t peer)
{
	struct pair *p = &pairs[inode % FX_ARRAY_LEN(pairs)];

	/* relaxed: a thread that reads a half of each shows no peer, or the older one */
	fx_store_relaxed(&p->inode, 0);
	fx_store_relaxed(&p->peer, peer);
	fx_store_relaxed(&p->inode, inode);
}

/* 0: not one of a pair. */
static uint64_t pair_find(uint64_t inode)
{
	const struct pair *p = &pairs[inode % FX_ARRAY_LEN(pairs)];

	return fx_load_relaxed(&p->inode) == inode ? fx_load_relaxed(&p->peer) : 0;
}

long fx_fd_stat(int fd, struct statx *ret)
{
	*ret = (struct statx){0};
	return fx_syscall6(SYS_statx, fd, (long)"", AT_EMPTY_PATH | AT_STATX_DONT_SYNC,
			   STATX_TYPE | STATX_INO | STATX_SIZE | STATX_BLOCKS | STATX_NLINK,
			   (long)ret, 0);
}

void fx_fd_pair(int first, int second)
{
	struct statx a, b;

	if (fx_fd_stat(first, &a) != 0 || fx_fd_stat(second, &b) != 0)
		return;
	pair_set(a.stx_ino, b.stx_ino);
	pair_set(b.stx_ino, a.stx_ino);
}

/* --- Sockets ---------------------------------------------------------------------------------- */

struct address {
	struct sockaddr_storage storage;
	socklen_t length; /* 0: none */
};

static void address_get(int fd, long number, struct address *ret)
{
	ret->length = sizeof(ret->storage);
	if (fx_syscall3(number, fd, &ret->storage, &ret->length) != 0)
		ret->length = 0;
}

static int option_get(int fd, int option)
{
	int value = 0;
	socklen_t length = sizeof value;

	fx_syscall6(SYS_getsockopt, fd, SOL_SOCKET, option, (long)&value, (long)&length, 0);
	return value;
}

static void text_kind(struct fx_text *t, int family, int type)
{
	const char *stream = "stream", *datagram = "datagram";

	if (family == AF_INET || family == AF_INET6) {
		stream = "tcp";
		datagram = "udp";
	} else if (family == AF_UNIX) {
		fx_text_string(t, "unix ");
	} else {
		fx_text_family(t, family);
		fx_text_char(t, ' ');
	}
	if (type == SOCK_STREAM)
		fx_text_string(t, stream);
	else if (type == SOCK_DGRAM)
		fx_text_string(t, datagram);
	else
		fx_text_string(t, type == SOCK_SEQPACKET ? "seqpacket" : "raw");
}

/* Unix sockets that were never bound have the family alone. */
static bool has_name(const struct address *a)
{
	const sa_family_t family = a->storage.ss_family;

	return family == AF_UNIX ? a->length > offsetof(struct sockaddr_un, sun_path)
				 : family == AF_INET || family == AF_INET6;
}

/* Others than those of the Internet have none to get. One gets it when it sends first. */
static bool has_port(const struct address *a)
{
	if (a->storage.ss_family == AF_INET)
		return ((const struct sockaddr_in *)&a->storage)->sin_port != 0;
	if (a->storage.ss_family == AF_INET6)
		return ((const struct sockaddr_in6 *)&a->storage)->sin6_port != 0;
	return true;
}

static void text_address(struct fx_text *t, const struct address *a)
{
	fx_text_sockaddr(t, (const struct sockaddr *)&a->storage, a->length);
}

/* Behind "->". An accepted unix socket does not know its peer's name, but its process. */
static void text_peer(struct fx_text *t, int fd, const struct address *peer, uint64_t paired)
{
	struct ucred who = {0};
	socklen_t length = sizeof who;

	fx_text_string(t, "->");
	if (paired) {
		fx_text_string(t, "socket:[");
		fx_text_number(t, paired, 10);
		fx_text_char(t, ']');
		return;
	}
	if (has_name(peer))
		text_address(t, peer);
	if (peer->storage.ss_family != AF_UNIX)
		return;
	fx_syscall6(SYS_getsockopt, fd, SOL_SOCKET, SO_PEERCRED, (long)&who, (long)&length, 0);
	if (who.pid > 0) {
		fx_text_string(t, has_name(peer) ? " of pid " : "pid ");
		fx_text_number(t, (unsigned)who.pid, 10);
	}
}

static enum fx_fd_state name_socket(struct fx_text *t, int fd, uint64_t inode)
{
	const int type = option_get(fd, SO_TYPE);
	struct address self, peer;

	address_get(fd, SYS_getsockname, &self);
	address_get(fd, SYS_getpeername, &peer);
	if (!self.length)
		return FX_FD_SETTLED;
	fx_text_char(t, ' ');
	text_kind(t, self.storage.ss_family, type);
	if (has_name(&self)) {
		fx_text_char(t, ' ');
		text_address(t, &self);
	}
	if (peer.length) {
		text_peer(t, fd, &peer, pair_find(inode));
		return FX_FD_SETTLED;
	}
	if (type == SOCK_DGRAM || type == SOCK_RAW)
		return has_port(&self) ? FX_FD_SETTLED : FX_FD_MAY_CONNECT;
	if (!option_get(fd, SO_ACCEPTCONN))
		return FX_FD_MAY_CONNECT;
	fx_text_string(t, " listening");
	return FX_FD_SETTLED;
}

/* --- All -------------------------------------------------------------------------------------- */

/* Where the kernel says that it leads; -errno if it does not. At most `room` bytes, no NUL. */
static long link_read(int fd, char *link, size_t room)
{
	char path[40];
	struct fx_text t = FX_TEXT(path);

	fx_text_string(&t, "/proc/thread-self/fd/");
	fx_text_number(&t, (unsigned)fd, 10);
	fx_text_char(&t, 0);
	return fx_syscall4(SYS_readlinkat, AT_FDCWD, path, link, room);
}

static void text_inode(struct fx_text *t, const char *what, uint64_t inode)
{
	fx_text_string(t, what);
	fx_text_string(t, ":[");
	fx_text_number(t, inode, 10);
	fx_text_char(t, ']');
}

/* A POSIX message queue is called as a file in / would be; no file of its size has no blocks. */
static bool is_queue(const struct statx *file, const char *link, long length)
{
	return S_ISREG(file->stx_mode) && file->stx_dev_major == 0 && file->stx_size == 80 &&
	       file->stx_blocks == 0 && length > 1 && link[0] == '/' &&
	       !memchr(link + 1, '/', (size_t)length - 1);
}

static bool is_event(const char *link, long length)
{
	static const char name[] = "anon_inode:[eventfd]";

	return (size_t)length == sizeof name - 1 && memcmp(link, name, sizeof name - 1) == 0;
}

enum fx_fd_state fx_fd_name_of(struct fx_text *t, int fd, const struct statx *file)
{
	char link[FX_TEXT_MAX + 1];
	long length;

	if (S_ISSOCK(file->stx_mode)) {
		text_inode(t, "socket", file->stx_ino);
		return name_socket(t, fd, file->stx_ino);
	}
	length = link_read(fd, link, sizeof link);
	if (S_ISFIFO(file->stx_mode)) {
		const bool named = length > 0 && link[0] == '/';

		text_inode(t, named ? "fifo" : "pipe", file->stx_ino);
		if (!named)
			return FX_FD_SETTLED;
		fx_text_char(t, ' ');
	} else if (is_queue(file, link, length)) {
		text_inode(t, "mqueue", file->stx_ino);
		fx_text_char(t, ' ');
	} else if (length <= 0) { /* no /proc */
		text_inode(t, "inode", file->stx_ino);
		return FX_FD_SETTLED;
	}
	fx_text_bytes(t, link, fx_text_cut(link, (size_t)length, FX_TEXT_MAX - fx_text_length(t)));
	return is_event(link, length) && fx_event_name(t, fd) ? FX_FD_COUNTS : FX_FD_SETTLED;
}

enum fx_fd_state fx_fd_name(struct fx_text *t, int fd)
{
	struct statx file;

	return fx_fd_stat(fd, &file) == -EBADF ? FX_FD_NONE : fx_fd_name_of(t, fd, &file);
}
