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

#include <stdint.h>

#include "base/atomic.h"
#include "base/compiler.h"
#include "preload/call/call.h"

/* What has become of the tables' words, in the lowest bits; beside BUSY stands which process is at it, above. */
enum {
	FX_STREAMS_UNTOUCHED = 0,
	FX_STREAMS_BUSY = 2,	/* somebody changes them */
	FX_STREAMS_SETTLED = 1, /* a bit: nothing is to be done */
	FX_STREAMS_CHANGED = FX_STREAMS_SETTLED,
	FX_STREAMS_LEFT =
	    FX_STREAMS_SETTLED | 2, /* as they are, until this process is attached to again */
};

extern uint64_t fx_streams_state;

fx_cold void fx_streams_see_first(void);

/* Before a call of stdio. */
fx_hot void fx_streams_see(void)
{
	/* relaxed: whoever changes something asks again, by an exchange */
	if (fx_unlikely(!(fx_load_relaxed(&fx_streams_state) & FX_STREAMS_SETTLED)) &&
	    fx_category_on(FX_CAT_SYSCALL))
		fx_streams_see_first();
}

/* The process is attached to, maybe not for the first time. */
void fx_streams_begin(void);

/* The words are as they were, if that can be, and stay so until fx_streams_begin(). */
void fx_streams_restore(void);

#endif
