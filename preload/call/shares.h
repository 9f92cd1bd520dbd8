/* SPDX-License-Identifier: MIT */
/*
 * Locks that lie in memory of several processes. Who of them has a lock next is not known to any, so each tells the manager what
 * it does there (enum fx_share_kind, engine/layout.h), whether anybody waits or not; and manager/archive/shares.h draws.
 *
 * Which lock it is, is said by what is mapped there: file, place in it. That is looked up once for each address, in /proc/self/maps,
 * and forgotten with the mapping; a forked child has the same mappings. What is private memory after all, is not told; and of a lock that
 * is taken and released all the time, a million times a second, that it is not told any more.
 */
#ifndef FX_PRELOAD_SHARES_H
#define FX_PRELOAD_SHARES_H

#include <stddef.h>
#include <stdint.h>

#include "base/atomic.h"
#include "base/compiler.h"
#include "engine/provider/engine.h"

/* What a thread tells of a lock; times are ticks. */
struct fx_share_word {
	enum fx_share_kind kind;
	int32_t value;
	uint64_t begin, looked, end;
};

/* The calling thread is `t', and records. Keeps errno. */
fx_cold void fx_share_tell(struct fx_thread *t, const volatile void *object,
			   const struct fx_share_word *word);

/* The time, once all that was done before is done: a lock that was taken, too. */
fx_hot uint64_t fx_share_now(void)
{
#if defined(__x86_64__)
	__builtin_ia32_lfence();
#elif defined(__aarch64__)
	__asm__ volatile("isb" ::: "memory");
#else
	fx_fence();
#endif
	return fx_now();
}

/* No machine has larger pages. */
#define FX_SHARE_PAGE ((uint64_t)1 << 16)

extern uint32_t fx_shares_are_known __attribute__((visibility("hidden")));

fx_cold void fx_share_drop(uint64_t begin, uint64_t end);

/* Nothing is mapped there any more, or something else. */
fx_hot void fx_share_forget(const volatile void *begin, size_t length)
{
	uint64_t at = (uint64_t)(uintptr_t)begin;

	/* relaxed: who unmaps a lock has used it before */
	if (fx_unlikely(fx_load_relaxed(&fx_shares_are_known)))
		fx_share_drop(at, length >= UINT64_MAX - at - FX_SHARE_PAGE
				      ? UINT64_MAX
				      : FX_ALIGN_UP(at + length, FX_SHARE_PAGE));
}

#endif
