/* SPDX-License-Identifier: MIT */
/*
 * Memory for the environment of a program that is started: of the kernel; or, for a thread that may not ask for any, what
 * lies ready for one at a time. No allocation, no lock.
 */
#ifndef FX_PRELOAD_ENVIRON_MEMORY_H
#define FX_PRELOAD_ENVIRON_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct fx_environ_memory {
	void *at;
	size_t bytes;
	bool is_spare;
};

/* False: there is none. */
bool fx_environ_memory_take(struct fx_environ_memory *ret, size_t bytes);

/* Gives back what no program was started with. */
void fx_environ_memory_give(const struct fx_environ_memory *memory);

/* A program is started with it: a vfork child cannot give it back, so its parent will. Returns what
 * fx_environ_memory_release() wants to know: the bytes, 0 of the spare. */
size_t fx_environ_memory_keep(const struct fx_environ_memory *memory);

/* After a program that could not be started, and after what was started beside this one. Keeps errno. */
void fx_environ_memory_release(const void *at, size_t bytes);

/* A child is gone that ran in this memory while its parent waited: what it has built for the program that it became
 * goes too. */
void fx_environ_memory_left(pid_t child);

#endif
