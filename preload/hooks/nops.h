/* SPDX-License-Identifier: MIT */
/*
 * Room that a compiler leaves where a function begins, for a call that is written there later: instructions that do nothing,
 * as of -fpatchable-function-entry and -mnop-mcount, or a jump over such, as of clang's -fxray-instrument.
 */
#ifndef FX_PRELOAD_NOPS_H
#define FX_PRELOAD_NOPS_H

#include <stddef.h>
#include <stdint.h>

#define FX_NOPS_CALL 5u	   /* bytes of a call */
#define FX_NOPS_SLED 0xebu /* the first byte of a jump over such */

/*
 * The room in a function whose code is `size` bytes at `code`: whole instructions that may be replaced by a call and by no-ops behind
 * it, *ret_size bytes, FX_NOPS_CALL or a few more. Behind an endbr64, which an indirect call has to meet, and the pushing of
 * a nested function's static chain. NULL: there is none, or none is known of on this machine.
 */
uint8_t *fx_nops_room(uint8_t *code, size_t size, size_t *ret_size)
    __attribute__((visibility("hidden")));

#endif
