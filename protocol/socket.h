/* SPDX-License-Identifier: MIT */
/*
 * The registration socket, the manager's side of it: listening, and messages with descriptors.
 * Nothing here blocks, but where it is said.
 */
#ifndef FX_PROTOCOL_SOCKET_H
#define FX_PROTOCOL_SOCKET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "protocol/messages.h"

/* Bytes of the longest socket path, the final NUL included. */
#define FX_SOCKET_PATH_SIZE 108u

/* The file that has a socket's name. */
struct fx_socket_file {
	dev_t device;
	ino_t inode;
};

/*
 * Listens at `path`. A socket that nobody listens to any more is replaced; of several who begin together, one is first. The
 * descriptor, and the file made for it, or -errno: -EADDRINUSE if somebody does listen there, -EEXIST if the name is not a
 * socket, -EACCES if it is another user's, -ENAMETOOLONG. (It waits while another begins there, but not for long.)
 */
int fx_socket_listen(const char *path, struct fx_socket_file *ret_file);

/* Closes the listener, and takes its name away, unless that is another socket's by now. */
void fx_socket_leave(int listener, const char *path, const struct fx_socket_file *file);

/*
 * Listens at the abstract name that is made of a NUL and the absolute `path`: for processes that cannot see the
 * path's folder. It has no owner and no mode: all in the same network namespace may connect. The
 * descriptor, or -errno: -EADDRINUSE if somebody else was first.
 */
int fx_socket_listen_beside(const char *path);

/* The next connection; -EAGAIN if there is none, or another -errno. */
int fx_socket_accept(int listener);

/* The process at the other end, and its user, as the kernel says. 0 or -errno. */
int fx_socket_peer(int fd, pid_t *ret_pid, uid_t *ret_uid);

/* Whether the process at the other end was of this group when it connected, by its own or another of its
 * groups. */
bool fx_socket_peer_in(int fd, gid_t group);

/* A pidfd of the process at the other end, or -errno. */
int fx_socket_peer_pidfd(int fd, pid_t pid);

/*
 * Receives one message of exactly `size` bytes; descriptors that come along are closed. 0; -EAGAIN
 * if none is there; -EPIPE if the peer is gone; -EMSGSIZE for another size; or another -errno.
 */
int fx_socket_receive(int fd, void *message, size_t size);

/*
 * Receives one message of at most `room` bytes, and the descriptor that comes with it: *ret_fd, -1 if
 * none does, -EMFILE if we may have no more; more are closed. Its size, or as fx_socket_receive().
 */
ssize_t fx_socket_receive_any(int fd, void *message, size_t room, int *ret_fd);

/* Connects to a listening socket. The descriptor, or -errno. */
int fx_socket_connect(const char *path);

/* Sends one message with `count` descriptors, at most FX_FD_COUNT. 0 or -errno. */
int fx_socket_send(int fd, const void *message, size_t size, const int *fds, size_t count);

/* The header of a message of this type. */
struct fx_msg_header fx_message_header(enum fx_message_type type);

/* Whether a received header is this version's and of this type. */
int fx_message_check(const struct fx_msg_header *header, enum fx_message_type type);

#endif
