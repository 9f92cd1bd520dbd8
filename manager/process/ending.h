/* SPDX-License-Identifier: MIT */
/*
 * How a process ended, as far as the kernel tells a stranger: the pidfd of what has ended (Linux 6.15), or what
 * /proc says until its parent has heard; and, of a fault, the line that the kernel has logged, if that may be read.
 */
#ifndef FX_MANAGER_ENDING_H
#define FX_MANAGER_ENDING_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct fx_ending {
	bool is_death;	  /* and not an exec, or the end of tracing */
	bool is_known;	  /* wait_status says how */
	bool has_fault;	  /* the rest says where */
	bool has_address; /* of a general protection fault none is told, */
	bool has_code;	  /* and by riscv no instruction */
	int wait_status;  /* as of wait() */
	uint32_t tid;	  /* that faulted, */
	uint64_t address; /* when it used this address */
	uint64_t code;	  /* in the instruction at this one */
};

/* The process has ended; *ret may have its status already. `is_thread` says whether a thread was its own. */
void fx_ending_learn(struct fx_ending *ret, int pidfd, pid_t pid,
		     bool (*is_thread)(void *opaque, uint32_t tid), void *opaque);

/* The thread and the addresses of a line of the kernel's log, if it is of a fault and has them. What arm64 says has
 * none. */
bool fx_ending_parse(const char *line, struct fx_ending *ret);

#endif
