/* SPDX-License-Identifier: MIT */
/*
 * What the compiler must be told: branch weights, visibility, hot and cold halves.
 *
 * The hot half of every operation is `fx_hot` (inline, a few instructions, its budget in a
 * comment); everything that happens once a chunk, a thread or a process is `fx_cold`, in another
 * file.
 */
#ifndef FX_BASE_COMPILER_H
#define FX_BASE_COMPILER_H

#include <stdint.h>

#define fx_likely(x)   __builtin_expect(!!(x), 1)
#define fx_unlikely(x) __builtin_expect(!!(x), 0)

#define fx_hot	  static inline __attribute__((always_inline))
#define fx_cold	  __attribute__((cold, noinline))
#define fx_export __attribute__((visibility("default")))

/* Static memory of which few pages are ever touched begins on a page of its own, behind all others (preload/first.awk): so all that is
 * small stands on one page. */
#define FX_LARGE __attribute__((aligned(4096), section(".bss.large")))

/* Of a page that will be read and then written, for the first time: a read that comes first takes a page fault of its own. The
 * byte stays what it is; no other thread may write it meanwhile. */
static inline void fx_touch(void *byte)
{
#if defined(__x86_64__)
	__asm__ __volatile__("orb $0, %0" : "+m"(*(char *)byte));
#else
	volatile char *touched = (volatile char *)byte;

	*touched = *touched;
#endif
}

/* Keeps the compiler (not the processor) from moving memory accesses across. Enough between a
 * thread and a signal handler that runs on it. */
#define fx_barrier() __asm__ __volatile__("" ::: "memory")

#define FX_ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))

/* Multiples of a power of two. */
#define FX_ALIGN_UP(x, a)   (((x) + ((a)-1)) & ~((__typeof__(x))(a)-1))
#define FX_ALIGN_DOWN(x, a) ((x) & ~((__typeof__(x))(a)-1))

#endif
