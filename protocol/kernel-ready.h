/* SPDX-License-Identifier: MIT */
/* What fxtrace-kernel tells whoever has started it, once, over the descriptor that --ready names. It is closed when all is
 * recorded. */
#ifndef FX_PROTOCOL_KERNEL_READY_H
#define FX_PROTOCOL_KERNEL_READY_H

#include <stdint.h>

/*
 * What can be had of the kernel beside samples and switches, and be refused by itself: FX_KERNEL_SETS(X): X(sym, bit, category, help).
 * Those without a help are parts of others.
 */
#define FX_KERNEL_SETS(X)                                                                          \
	X(WAKEUPS, 0, "sched", NULL)                                                               \
	X(MIGRATIONS, 1, "sched", NULL)                                                            \
	X(CALLS, 2, "syscall", NULL)                                                               \
	X(IRQ, 3, "kernel:irq", "interrupts that took a thread its time, and how long")            \
	X(BLOCK, 4, "kernel:block",                                                                \
	  "requests to disks: who asked, for what file, and how long they took")                   \
	X(FAULT, 5, "kernel:fault", "page faults that waited for a disk, by file")                 \
	X(NET, 6, "kernel:net", "TCP segments sent again, packets dropped, of the whole machine")  \
	X(POINTS, 7, "tracepoint:GROUP/NAME",                                                      \
	  "any tracepoint of the kernel, with its fields; GROUP and NAME may be globs")            \
	X(TEXTS, 8, "syscall", NULL)                                                               \
	X(PROBES, 9, "sdt", NULL)

#define FX_KERNEL_SET_BIT_(sym, bit, category, help) FX_KERNEL_##sym = 1u << (bit),
enum fx_kernel_set { FX_KERNEL_SETS(FX_KERNEL_SET_BIT_) };

#define FX_KERNEL_WORD_MAX 128u

struct fx_kernel_ready {
	int32_t error;	    /* 0: the kernel records from now on; or -errno */
	int32_t kernel;	    /* samples tell of time inside the kernel as well */
	uint32_t asked;	    /* bits: what was asked for, */
	uint32_t sets;	    /* and what of it is told */
	int32_t texts;	    /* -errno: why what system calls' pointers point to is not told */
	int32_t has_points; /* it was built with what reads tracepoints by name */
	int32_t is_cut;	    /* more were asked for than it can have */
	char unknown[FX_KERNEL_WORD_MAX]; /* a word that no tracepoint is called by; "": none */
};

#endif
