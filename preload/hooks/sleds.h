/* SPDX-License-Identifier: MIT */
/*
 * Sleds of clang's -fxray-instrument: room for a call where a function begins, before its prologue, and where it ends, behind its
 * epilogue. Both have the function's own stack pointer, so an entry and its exit are told as the hooks tell theirs.
 */
#ifndef FX_PRELOAD_HOOKS_SLEDS_H
#define FX_PRELOAD_HOOKS_SLEDS_H

#include <stdbool.h>
#include <stdint.h>

/*
 * What a sled leads to, with the function's address in r10 (sled-ways.c). All but r10 and, at an entry, r11 is as it was behind
 * them: neither means anything there.
 *
 *	enter	called
 *	leave	jumped to, in place of the function's return, which it makes
 *	tail	called, before a jump to another function, with the flags pushed on top of the return address: that jump may depend
 *		on them
 */
void fx_sled_way_enter(void) __attribute__((visibility("hidden")));
void fx_sled_way_leave(void) __attribute__((visibility("hidden")));
void fx_sled_way_tail(void) __attribute__((visibility("hidden")));

/* The quick halves: no vector is changed. `sp': where the function's return address stands; `place': the sled's, behind the call.
 * NULL, true: the call has begun, has ended. Else the slow half is to do it, and is told what it was: FX_SLED_SLOWLY, or a
 * frame that is to be taken back. */
struct fx_frame *fx_sled_enter(uint64_t function, uint64_t site, uint64_t sp, uint64_t place)
    __attribute__((visibility("hidden")));
bool fx_sled_leave(uint64_t function, uint64_t sp) __attribute__((visibility("hidden")));

#define FX_SLED_SLOWLY ((struct fx_frame *)1)

void fx_sled_enter_slowly(uint64_t function, uint64_t site, uint64_t sp, uint64_t place,
			  struct fx_frame *used) __attribute__((visibility("hidden")));
void fx_sled_leave_slowly(uint64_t function, uint64_t sp) __attribute__((visibility("hidden")));

#endif
