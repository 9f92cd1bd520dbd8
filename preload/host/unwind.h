/* SPDX-License-Identifier: MIT */
/*
 * The calling thread's stack, as return addresses. Not by libunwind, which takes locks (the dynamic
 * linker's among them), makes system calls and exports the symbols of C++ exceptions: a program that
 * is traced must not meet any of that.
 *
 * By call frame information (preload/host/cfi.h), whose results are kept by place; by frame pointers where a
 * place has none (code made at run time).
 */
#ifndef FX_PRELOAD_UNWIND_H
#define FX_PRELOAD_UNWIND_H

#include <stdbool.h>
#include <stdint.h>

#include "preload/host/cfi.h"

/* The most frames of a stack that are kept, the innermost ones. */
#define FX_UNWIND_MAX 64u

/*
 * Writes the return addresses outside of this library, innermost first, and returns how many. A
 * 0 behind FX_UNWIND_MAX - 1 of them says that there are more. No lock, allocation or system call;
 * some 20 ns a frame.
 */
unsigned fx_unwind(uint64_t ret[FX_UNWIND_MAX]);

/* The code that `pc` lies in, as far as its module tells. */
bool fx_unwind_code(uint64_t pc, struct fx_cfi_code *ret);

/* The same, what its caller's stack pointer was before the call, and where that goes on, from the registers that it has
 * at `pc`. */
bool fx_unwind_cfa(uint64_t pc, uint64_t sp, uint64_t frame_pointer, struct fx_cfi_code *ret_code,
		   uint64_t *ret, uint64_t *ret_site);

/* A module is gone, and what was remembered of its code with it. */
void fx_unwind_forget(void);

/* In the constructor, single-threaded: where this library and the main thread's stack lie. */
void fx_unwind_init(void);

#endif
