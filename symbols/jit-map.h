/* SPDX-License-Identifier: MIT */
/*
 * Names of code that a program made while it ran, from the map that just-in-time compilers write for perf: a line of
 * "START SIZE NAME" for each function, numbers in hexadecimal, added at the end as functions are made. Of several lines that
 * cover an address the last is right: the code of the others is gone.
 *
 * Whoever can write to the folder can write such a file, so one is believed that is the user's own, was written since the
 * process began, and is no link.
 */
#ifndef FX_SYMBOLS_JIT_MAP_H
#define FX_SYMBOLS_JIT_MAP_H

#include <stdint.h>

#include "symbols/table.h"

/* What is read of a map at a time, in bytes; what is behind is for the next look. */
#define FX_JIT_MAP_BYTES (UINT64_C(64) << 20)

/* Longer names are cut. */
#define FX_JIT_NAME_MAX 4096u

/* Which map to read, and from where on. */
struct fx_jit_source {
	struct fx_jit_mark mark; /* what has been read; all zero: nothing */
	uint64_t owner;		 /* the user whose file it is */
	uint64_t
	    since_ns; /* CLOCK_REALTIME; a file that was not written since is another process's */
};

/*
 * Opens the map at `path', below the directory `root' (-1: from here). 0, or an enum fx_symbol_problem_kind plus one.
 */
int fx_jit_map_open(int root, const char *path, const struct fx_jit_source *source, int *ret_fd);

/*
 * Reads the lines that were added since source->mark, as far as they have an end; all of them if the file was replaced
 * meanwhile or became shorter. *ret is the caller's to clear, its `jit' says how far that was. As above.
 */
int fx_jit_map_read(int fd, const struct fx_jit_source *source, uint64_t limit,
		    struct fx_symtab *ret);

#endif
