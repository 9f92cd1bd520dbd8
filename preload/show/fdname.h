/* SPDX-License-Identifier: MIT */
/*
 * What a descriptor is, in words, as the kernel tells:
 *
 *	/var/log/syslog				a file, its whole path
 *	/memfd:name (deleted), anon_inode:[eventpoll]
 *	pipe:[INODE]				a pipe: both ends have the inode
 *	fifo:[INODE] PATH			a named one
 *	mqueue:[INODE] /NAME			a POSIX message queue
 *	anon_inode:[eventfd] PID-TICKS		an eventfd (fdevents.h)
 *	socket:[INODE] tcp 127.0.0.1:5000->127.0.0.1:80
 *	socket:[INODE] tcp 0.0.0.0:80 listening
 *	socket:[INODE] unix stream /run/x.sock->peer of pid 12
 *	socket:[INODE] unix stream->socket:[INODE]	one of a socketpair()
 *
 * Inodes and pairs of addresses are the same in every process that has the other end: by them the ends
 * of a channel are found in an archive.
 */
#ifndef FX_PRELOAD_FDNAME_H
#define FX_PRELOAD_FDNAME_H

#include <sys/stat.h>

#include "preload/show/text.h"

/* The longest of these texts, in bytes. */
#define FX_FD_NAME_MAX 256

enum fx_fd_state {
	FX_FD_NONE,    /* there is no such descriptor */
	FX_FD_SETTLED, /* it stays what it is */
	FX_FD_COUNTS,  /* an eventfd of which it is known which: what its calls move is a number */
	FX_FD_MAY_CONNECT, /* a stream socket without a peer, one for datagrams without a port */
};

/* Type, inode, size and number of names of `fd`, without asking a file server. 0 or -errno: then all is zero. One system call. */
long fx_fd_stat(int fd, struct statx *ret);

/* Appends what `fd` is, of which that has been said. Some system calls; changes nothing but *t. */
enum fx_fd_state fx_fd_name_of(struct fx_text *t, int fd, const struct statx *file);

/* Both. */
enum fx_fd_state fx_fd_name(struct fx_text *t, int fd);

/* Remembers that two sockets, just made, are each other's peers: nobody can ask the kernel for it. */
void fx_fd_pair(int first, int second);

#endif
