/* SPDX-License-Identifier: MIT */
/*
 * What stdio itself reads from pipes and sockets, and writes to them. libc does that inside, past all wrappers, by a table of
 * functions that each kind of stream has (_IO_file_jumps and its like). Of these tables two words are changed at the first call of
 * a wrapper of stdio: they lead to functions here, which make a record of the call and go on to libc's.
 *
 *	fwrite() -> libc's -> table -> libc's write of a buffer				before
 *	fwrite() -> libc's -> table -> record -> libc's write of a buffer		afterwards
 *
 * Only words that lead to the very functions that libc exports are changed, each by one exchange, and only in the memory that
 * libc has made read-only once it was relocated. So what is found is what is expected, or stays as it is: then streams' calls are
 * missing in the sums of channels, as they would be without.
 */
#ifndef FX_PRELOAD_STREAMS_H
#define FX_PRELOAD_STREAMS_H

#include <stdbool.h>

#include "base/atomic.h"
#include "base/compiler.h"

extern bool fx_streams_are_seen;

fx_cold void fx_streams_see_first(void);

/* Before a call of stdio. */
fx_hot void fx_streams_see(void)
{
	/* relaxed: set by whoever changes them, and once is enough */
	if (fx_unlikely(!fx_load_relaxed(&fx_streams_are_seen)))
		fx_streams_see_first();
}

/* The words are as they were. */
void fx_streams_restore(void);

#endif
