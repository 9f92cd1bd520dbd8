/* SPDX-License-Identifier: MIT */
/* Which processes have which sockets and which ends of pipes and FIFOs open: what /proc/PID/fd tells of all processes that may be
 * looked into. */
#ifndef FX_WHERE_PIPES_H
#define FX_WHERE_PIPES_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "lists/vector.h"

struct fx_pipe {
	uint64_t device, inode;
	bool is_socket;
};

struct fx_pipe_end {
	struct fx_pipe pipe;
	pid_t pid;
	bool reads, writes;
};

struct fx_pipe_ends {
	FX_VECTOR(struct fx_pipe_end) items;
	FX_VECTOR(pid_t) hidden; /* processes that may not be looked into */
};

/* The pipe or socket that a descriptor of a process is of. False: it is of none. */
bool fx_pipe_of(pid_t pid, int fd, struct fx_pipe *ret);

static inline bool fx_pipe_is(const struct fx_pipe *a, const struct fx_pipe *b)
{
	return a->inode == b->inode && a->device == b->device;
}

/* 0 or -errno; to be freed in either case. */
int fx_pipe_ends_find(struct fx_pipe_ends *ret);
void fx_pipe_ends_free(struct fx_pipe_ends *ends);

/*
 * Whether a process that may not be looked into may have ends of a pipe of `pid`: descriptors are inherited, so it is one that `pid`
 * descends from, or that descends from `pid`.
 */
bool fx_pipe_ends_hidden_of(const struct fx_pipe_ends *ends, pid_t pid);

#endif
