/* SPDX-License-Identifier: MIT */
/*
 * The calling thread's stack, as return addresses. Not by libunwind, which takes locks (the dynamic
 * linker's among them), makes system calls and exports the symbols of C++ exceptions: a program that
 * is traced must not meet any of that.
 *
 * x86-64: by call frame information (preload/cfi.h), whose results are kept by place; by frame pointers
 * where a place has none (code made at run time). aarch64: by frame pointers, which its ABI keeps.
 */
#ifndef FX_PRELOAD_UNWIND_H
#define FX_PRELOAD_UNWIND_H

#include <stdint.h>

/* The most frames of a stack that are kept, the innermost ones. */
#define FX_UNWIND_MAX 64u

/*
 * Writes the return addresses outside of this library, innermost first, and returns how many. A
 * 0 behind FX_UNWIND_MAX - 1 of them says that there are more. No lock, allocation or system call;
 * some 20 ns a frame.
 */
unsigned fx_unwind(uint64_t ret[FX_UNWIND_MAX]);

/* A module is gone, and what was remembered of its code with it. */
void fx_unwind_forget(void);

/* In the constructor, single-threaded: where this library and the main thread's stack lie. */
void fx_unwind_init(void);

#endif
