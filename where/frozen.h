/* SPDX-License-Identifier: MIT */
/* Registers and stack of a thread, copied at one moment. */
#ifndef FX_WHERE_FROZEN_H
#define FX_WHERE_FROZEN_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "kernel/registers.h"

/* Deeper parts of a stack are not seen. */
#define FX_FROZEN_STACK (256u << 10)

struct fx_frozen {
	uint64_t registers[FX_REGISTER_COUNT];
	uint64_t known; /* bits: which of them are */
	uint64_t ip;
	uint64_t held_ns; /* how long it was stopped for that, at most */
	size_t stack_size;
	uint8_t stack[FX_FROZEN_STACK];
};

/* Where a thread waits, as /proc says. */
struct fx_call_place {
	int64_t call; /* its number; -1: it is in no system call */
	uint64_t args[6];
	uint64_t sp, ip;
};

/* 0; -EAGAIN: it is in none; or -errno. */
int fx_call_read(pid_t pid, pid_t tid, struct fx_call_place *ret);

/*
 * Of a thread that waits in a system call, as /proc says: where it is on its stack, and nothing more of its registers. It is not
 * touched. 0 or -errno; *call is the number, and its arguments, -1 if it is in none (then -EAGAIN).
 */
int fx_frozen_read(pid_t pid, pid_t tid, struct fx_frozen *ret, int64_t *call, uint64_t args[6]);

/* Whether the system call of this number ends, with EINTR, when its thread is stopped and goes on (signal(7)); others are taken up
 * again. Of sockets with a time limit and of inotify's descriptors that is so as well, which a number does not tell. */
bool fx_call_ends_by_stop(int64_t call);

/* Of a thread that the caller holds by ptrace(2). 0 or -errno. */
int fx_frozen_copy(pid_t pid, pid_t tid, struct fx_frozen *ret);

/* Stops it, copies all and lets it go on. 0 or -errno. */
int fx_frozen_take(pid_t pid, pid_t tid, struct fx_frozen *ret);

#endif
