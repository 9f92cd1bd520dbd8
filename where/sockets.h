/* SPDX-License-Identifier: MIT */
/*
 * Which socket is at the other end of a socket of this machine: of Unix sockets the kernel says so (sock_diag(7)), of TCP the one
 * whose addresses are the same the other way round (/proc/PID/net/tcp). Of sockets of another network namespace only TCP's are known.
 */
#ifndef FX_WHERE_SOCKETS_H
#define FX_WHERE_SOCKETS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "lists/vector.h"

/* Room for an address of /proc/net/tcp6 with its port, in hexadecimal, and a NUL. */
#define FX_SOCKET_ADDRESS 40

struct fx_unix_socket {
	uint32_t inode, peer; /* peer: 0 none, or one that nobody has accepted yet */
	bool listens;
	uint8_t name_length;
	char name[108];
};

struct fx_tcp_socket {
	uint64_t space; /* its network namespace */
	uint64_t inode;
	unsigned state;
	char local[FX_SOCKET_ADDRESS], remote[FX_SOCKET_ADDRESS];
};

struct fx_sockets {
	bool is_unix_read;
	uint64_t space; /* this process's network namespace */
	FX_VECTOR(struct fx_unix_socket) local;
	FX_VECTOR(struct fx_tcp_socket) tcp;
	FX_VECTOR(uint64_t) spaces; /* whose TCP sockets are there */
};

void fx_sockets_init(struct fx_sockets *ret);
void fx_sockets_free(struct fx_sockets *sockets);

/* The inode of the socket at the other end of one of a process; 0: not known, or none. */
uint64_t fx_sockets_peer(struct fx_sockets *sockets, pid_t pid, uint64_t inode);

/* The inode of the socket that is to accept the connection that a process makes by connect(), to the address that it has in its
 * memory there; 0: not known. */
uint64_t fx_sockets_acceptor(struct fx_sockets *sockets, pid_t pid, uint64_t inode,
			     uint64_t address, uint64_t length);

#endif
