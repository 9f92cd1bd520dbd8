/* SPDX-License-Identifier: MIT */
/* What the two halves of the hooks share. `sp` is the stack address of the function that is entered or left. */
#ifndef FX_PRELOAD_HOOKS_INTERNAL_H
#define FX_PRELOAD_HOOKS_INTERNAL_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/provider/frame.h"
#include "engine/provider/function.h"
#include "preload/hooks/quick.h"
#include "preload/hooks/usual.h"

/* Slow halves: all that may happen at an entry and at an exit. `key`: see hooks.c; `used`: a frame to be
 * taken back. What they find is saved before (kept.c): they are to be jumped to, with all that a function keeps as it was. */
void fx_hooks_enter(uint64_t function, uint64_t site, uint64_t sp, uint64_t key);
void fx_hooks_enter_again(uint64_t function, uint64_t site, uint64_t sp, uint64_t key,
			  struct fx_frame *used);
void fx_hooks_leave(uint64_t function, uint64_t sp, void *site, bool tail);

#if defined(__x86_64__)
/* The quick ways of chosen functions (hooks-quick.c), which lead to the slow halves if need be: to be jumped to, as those. `start',
 * `end': of the call. */
void fx_hooks_enter_plain(uint64_t function, uint64_t site, uint64_t sp, uint64_t key,
			  const struct fx_quick *quick, uint64_t now);
void fx_hooks_enter_frame(uint64_t function, uint64_t site, uint64_t sp, uint64_t key,
			  const struct fx_quick *quick, uint64_t now);
void fx_hooks_enter_quick(uint64_t function, uint64_t site, uint64_t sp, uint64_t key,
			  const struct fx_quick *quick, uint64_t now);
void fx_hooks_leave_quick(uint64_t start, uint64_t sp, void *site, bool tail,
			  const struct fx_quick *quick, uint64_t end);

/* The next frame is taken for a call. False: the slow half is to do it; *ret is NULL, or a frame to be taken back. (Values are read last, so
 * that few registers are in use meanwhile.) */
fx_hot bool fx_hooks_quick_take(struct fx_thread *t, uint64_t sp, uint64_t key,
				const struct fx_quick *quick, struct fx_frame **ret)
{
	struct fx_frame *f = t->top;

	if (fx_unlikely(f >= t->usual_limit || !t->places))
		return false;
	*ret = f;
	return fx_frame_take(t, f, quick->function, sp, key);
}

/* The values of FX_QUICK_REGISTERS go to the place of a frame that was taken, and the call begins. To be jumped to, as those. */
void fx_hooks_begin_registers(const struct fx_quick *quick, struct fx_stash_place *place,
			      struct fx_frame *f, uint64_t now);
#endif

/* Writes the record of the newest call, if it is the one that began at `start', and takes it off. False: nothing has happened. */
bool fx_hooks_leave_with(const struct fx_quick *quick, struct fx_argument_words result,
			 uint64_t start, uint64_t end);

#endif
