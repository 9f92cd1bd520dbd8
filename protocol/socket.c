/* SPDX-License-Identifier: MIT */
#include "protocol/socket.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#ifndef SO_PEERGROUPS
#define SO_PEERGROUPS 59
#endif
#ifndef SO_PEERPIDFD
#define SO_PEERPIDFD 77
#endif

_Static_assert(sizeof(((struct sockaddr_un *)0)->sun_path) == FX_SOCKET_PATH_SIZE, "socket path");

/* Descriptors that a message may bring, to be closed; the kernel drops what does not fit. */
#define SURPLUS_MAX 16

static int socket_address_of(const char *path, struct sockaddr_un *ret)
{
	size_t length = strlen(path);

	if (length == 0 || length >= sizeof(ret->sun_path))
		return -ENAMETOOLONG;
	memset(ret, 0, sizeof(*ret));
	ret->sun_family = AF_UNIX;
	memcpy(ret->sun_path, path, length);
	return 0;
}

static int socket_new(void)
{
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd < 0)
		return -errno;
	return fd;
}

/* 0 if nobody listens there; -EADDRINUSE, or another -errno. */
static int unheard_check(const struct sockaddr_un *address)
{
	int fd = socket_new(), r = 0;

	if (fd < 0)
		return fd;
	if (connect(fd, (const struct sockaddr *)address, sizeof(*address)) == 0)
		r = -EADDRINUSE;
	else if (errno != ECONNREFUSED && errno != ENOENT)
		r = errno == EAGAIN ? -EADDRINUSE : -errno;
	close(fd);
	return r;
}

/* Which file it is that has the name; none: zeroes. */
static struct fx_socket_file socket_file_of(const char *path)
{
	struct stat st;

	if (lstat(path, &st) < 0)
		return (struct fx_socket_file){0};
	return (struct fx_socket_file){.device = st.st_dev, .inode = st.st_ino};
}

static bool is_same_socket(const struct fx_socket_file *a, const struct fx_socket_file *b)
{
	return a->device == b->device && a->inode == b->inode;
}

static void socket_nap(void)
{
	const struct timespec nap = {.tv_nsec = 10000000};

	nanosleep(&nap, NULL);
}

/* Takes the name of a socket of ours that nobody listens to, which `held` is. */
static int held_remove(const char *path, const struct sockaddr_un *address, int held, bool locked)
{
	struct fx_socket_file now;
	struct stat st;
	int r;

	if (fstat(held, &st) < 0)
		return -errno;
	if (!S_ISSOCK(st.st_mode))
		return -EEXIST;
	if (st.st_uid != geteuid())
		return -EACCES;
	r = unheard_check(address);
	if (r == 0 && !locked) {
		/* Somebody may have bound it, and is about to listen. */
		socket_nap();
		r = unheard_check(address);
	}
	if (r < 0)
		return r;
	now = socket_file_of(path);
	if (now.inode == 0)
		return 0;
	if (now.device != st.st_dev || now.inode != st.st_ino)
		return -EADDRINUSE;
	return unlink(path) < 0 && errno != ENOENT ? -errno : 0;
}

/* Removes a socket of ours that nobody listens to. 0: the name is free. */
static int stale_remove(const char *path, const struct sockaddr_un *address, bool locked)
{
	/* While it is open, no other file gets its number. */
	int held = open(path, O_PATH | O_NOFOLLOW | O_CLOEXEC), r;

	if (held < 0)
		return errno == ENOENT ? 0 : -errno;
	r = held_remove(path, address, held, locked);
	close(held);
	return r;
}

/* How often somebody else's lock of a folder is tried, each time after a nap. Where others may open the folder, they may keep
 * it for as long as they like. */
#define FOLDER_TRIES 30u

/* Locks the folder that the path lies in, as who takes a name there does: else two that begin together find the same name
 * stale, or one not listened to yet. The descriptor, or -1: it cannot be had, and one does without. */
static int folder_lock(const char *path)
{
	const char *slash = strrchr(path, '/');
	char folder[FX_SOCKET_PATH_SIZE] = ".";
	int fd;

	if (slash)
		snprintf(folder, sizeof(folder), "%.*s", (int)(slash - path) + 1, path);
	fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return -1;
	for (unsigned i = 0; flock(fd, LOCK_EX | LOCK_NB) < 0; i++) {
		if (errno != EWOULDBLOCK || i == FOLDER_TRIES) {
			close(fd);
			return -1;
		}
		socket_nap();
	}
	return fd;
}

/* Without the lock, the name may be another's by then. */
static int listen_at(int fd, const char *path, const struct sockaddr_un *address,
		     struct fx_socket_file *ret_file)
{
	struct fx_socket_file now;

	if (bind(fd, (const struct sockaddr *)address, sizeof(*address)) < 0)
		return -errno;
	*ret_file = socket_file_of(path);
	if (chmod(path, 0600) < 0 || listen(fd, SOMAXCONN) < 0)
		return -errno;
	now = socket_file_of(path);
	return is_same_socket(&now, ret_file) ? 0 : -EADDRINUSE;
}

int fx_socket_listen(const char *path, struct fx_socket_file *ret_file)
{
	struct sockaddr_un address;
	int fd = -1, folder, r = socket_address_of(path, &address);

	if (r < 0)
		return r;
	folder = folder_lock(path);
	r = stale_remove(path, &address, folder >= 0);
	if (r == 0)
		r = fd = socket_new();
	if (fd >= 0)
		r = listen_at(fd, path, &address, ret_file);
	if (fd >= 0 && r < 0)
		close(fd);
	if (folder >= 0)
		close(folder);
	return r < 0 ? r : fd;
}

void fx_socket_leave(int listener, const char *path, const struct fx_socket_file *file)
{
	/* While it is open, no other file gets its number, and nobody finds the name stale. */
	struct fx_socket_file now = socket_file_of(path);

	if (is_same_socket(&now, file))
		unlink(path);
	close(listener);
}

int fx_socket_listen_beside(const char *path)
{
	struct sockaddr_un address;
	size_t length = strlen(path);
	int fd, r;

	if (path[0] != '/')
		return -EINVAL;
	if (length >= sizeof(address.sun_path))
		return -ENAMETOOLONG;
	memset(&address, 0, sizeof(address));
	address.sun_family = AF_UNIX;
	memcpy(address.sun_path + 1, path, length);
	fd = socket_new();
	if (fd < 0)
		return fd;
	if (bind(fd, (const struct sockaddr *)&address,
		 (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + length)) < 0 ||
	    listen(fd, SOMAXCONN) < 0) {
		r = -errno;
		close(fd);
		return r;
	}
	return fd;
}

int fx_socket_accept(int listener)
{
	int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

	return fd < 0 ? -errno : fd;
}

int fx_socket_peer(int fd, pid_t *ret_pid, uid_t *ret_uid)
{
	struct ucred who;
	socklen_t size = sizeof(who);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &size) < 0)
		return -errno;
	*ret_pid = who.pid;
	*ret_uid = who.uid;
	return 0;
}

/* Groups besides its own that are looked at; the kernel gives none if there are more. */
#define GROUPS_MAX 1024

bool fx_socket_peer_in(int fd, gid_t group)
{
	gid_t groups[GROUPS_MAX];
	struct ucred who;
	socklen_t size = sizeof(who);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &size) == 0 && who.gid == group)
		return true;
	size = sizeof(groups);
	if (getsockopt(fd, SOL_SOCKET, SO_PEERGROUPS, groups, &size) < 0)
		return false;
	for (size_t i = 0; i < size / sizeof(groups[0]); i++) {
		if (groups[i] == group)
			return true;
	}
	return false;
}

int fx_socket_peer_pidfd(int fd, pid_t pid)
{
	socklen_t size = sizeof(int);
	int pidfd = -1;

	/* Since Linux 6.5: names the very process, even if its number was given again. */
	if (getsockopt(fd, SOL_SOCKET, SO_PEERPIDFD, &pidfd, &size) == 0)
		return pidfd;
	if (errno != ENOPROTOOPT)
		return -errno;
	pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	return pidfd < 0 ? -errno : pidfd;
}

/* Takes the first descriptor that came, if there is a place for it, and closes the others. */
static void take_descriptors(struct msghdr *m, int *ret_fd)
{
	for (struct cmsghdr *c = CMSG_FIRSTHDR(m); c; c = CMSG_NXTHDR(m, c)) {
		size_t bytes;

		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
			continue;
		bytes = c->cmsg_len - CMSG_LEN(0);
		for (size_t at = 0; at + sizeof(int) <= bytes; at += sizeof(int)) {
			int fd;

			memcpy(&fd, CMSG_DATA(c) + at, sizeof(fd));
			if (ret_fd && *ret_fd < 0)
				*ret_fd = fd;
			else
				close(fd);
		}
	}
}

/* The size of one message, or -errno. `ret_fd` may be NULL. */
static ssize_t socket_receive(int fd, void *message, size_t room, int *ret_fd)
{
	union {
		struct cmsghdr align;
		char room[CMSG_SPACE(SURPLUS_MAX * sizeof(int))];
	} control;
	struct iovec part = {.iov_base = message, .iov_len = room};
	struct msghdr m = {
	    .msg_iov = &part,
	    .msg_iovlen = 1,
	    .msg_control = &control,
	    .msg_controllen = sizeof(control),
	};
	ssize_t n = recvmsg(fd, &m, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);

	if (n < 0)
		return -errno;
	take_descriptors(&m, ret_fd);
	if (ret_fd && *ret_fd < 0 && m.msg_flags & MSG_CTRUNC)
		*ret_fd = -EMFILE;
	if (n == 0)
		return -EPIPE;
	return m.msg_flags & MSG_TRUNC ? -EMSGSIZE : n;
}

int fx_socket_receive(int fd, void *message, size_t size)
{
	ssize_t n = socket_receive(fd, message, size, NULL);

	if (n < 0)
		return (int)n;
	return (size_t)n == size ? 0 : -EMSGSIZE;
}

ssize_t fx_socket_receive_any(int fd, void *message, size_t room, int *ret_fd)
{
	ssize_t n;

	*ret_fd = -1;
	n = socket_receive(fd, message, room, ret_fd);
	if (n < 0 && *ret_fd >= 0)
		close(*ret_fd);
	if (n < 0)
		*ret_fd = -1;
	return n;
}

/* The address is as long as it is. That whoever registers from a traced process gives room for the longest path (preload/attach/) tells them from
 * others (kernel/follow-terms.h). */
int fx_socket_connect(const char *path)
{
	struct sockaddr_un address;
	int fd, r = socket_address_of(path, &address);

	if (r < 0)
		return r;
	fd = socket_new();
	if (fd < 0)
		return fd;
	if (connect(fd, (const struct sockaddr *)&address,
		    (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(path) + 1)) < 0) {
		r = -errno;
		close(fd);
		return r;
	}
	return fd;
}

int fx_socket_send(int fd, const void *message, size_t size, const int *fds, size_t count)
{
	union {
		struct cmsghdr align;
		char room[CMSG_SPACE(FX_FD_COUNT * sizeof(int))];
	} control;
	struct iovec part = {.iov_base = (void *)message, .iov_len = size};
	struct msghdr m = {.msg_iov = &part, .msg_iovlen = 1};

	if (count > FX_FD_COUNT)
		return -EINVAL;
	if (count) {
		struct cmsghdr *c = &control.align;

		memset(&control, 0, sizeof(control));
		m.msg_control = &control;
		m.msg_controllen = CMSG_SPACE(count * sizeof(int));
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(count * sizeof(int));
		memcpy(CMSG_DATA(c), fds, count * sizeof(int));
	}
	if (sendmsg(fd, &m, MSG_DONTWAIT | MSG_NOSIGNAL) < 0)
		return -errno;
	return 0;
}

struct fx_msg_header fx_message_header(enum fx_message_type type)
{
	return (struct fx_msg_header){
	    .magic = FX_MESSAGE_MAGIC,
	    .version = FX_MESSAGE_VERSION,
	    .type = (uint16_t)type,
	};
}

int fx_message_check(const struct fx_msg_header *header, enum fx_message_type type)
{
	if (header->magic != FX_MESSAGE_MAGIC || header->type != type)
		return -EBADMSG;
	return header->version == FX_MESSAGE_VERSION ? 0 : -EPROTONOSUPPORT;
}
