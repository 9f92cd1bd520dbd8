/* SPDX-License-Identifier: MIT */
/*
 * Whether the processors' counters can be told from one: without that, times of different threads cannot be compared.
 *
 * On aarch64 the architecture promises it. On x86-64 most virtual machines have a clock source of their own, and counters
 * that are perfect all the same: so this looks for itself. Three things have to hold:
 *
 *	it is steady     the processor says so (invariant TSC, CPUID leaf 0x80000007, EDX bit 8)
 *	it does not warp  a thread on each processor reads its counter as soon as it has seen what another thread has
 *	                 read: that never is more (the kernel's check_tsc_warp() does so for two)
 *	its rate is one  against CLOCK_MONOTONIC_RAW, over two stretches of that time
 *
 * What happens later (a virtual machine moves, a machine sleeps) the session's timebase finds.
 */
#ifndef FX_MANAGER_COUNTER_H
#define FX_MANAGER_COUNTER_H

/* X(SYMBOL, what is said of the counter) */
#define FX_COUNTER_VERDICTS(X)                                                                     \
	X(SOUND, "it runs steadily, and alike on all processors")                                  \
	X(CHANGING, "the processor does not say that it runs steadily")                            \
	X(WARPED, "it is not the same on all processors")                                          \
	X(UNEVEN, "its rate changes")                                                              \
	X(UNSEEN, "the processors were too busy to compare theirs")                                \
	X(UNTRIED, "no thread could be started to compare theirs")

#define FX_COUNTER_ENUM_(symbol, text) FX_COUNTER_##symbol,
enum fx_counter_verdict { FX_COUNTER_VERDICTS(FX_COUNTER_ENUM_) FX_COUNTER_VERDICT_COUNT };
#undef FX_COUNTER_ENUM_

/* The words of a verdict. */
const char *fx_counter_text(enum fx_counter_verdict verdict);

/*
 * Looks. Takes some 3 ms, up to 20 ms where the processors are busy (UNSEEN). Starts threads, which have ended when it
 * returns.
 */
enum fx_counter_verdict fx_counter_measure(void);

#endif
