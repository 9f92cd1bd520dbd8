/* SPDX-License-Identifier: MIT */
/*
 * Where a thread has locked what, in words of its own: one for all objects whose addresses have the same bits there, which
 * the last one of them has. The address of the call lies below 16 bits of the object, from FX_OBJECT_LSB on; each
 * start of tracing finds them empty.
 */
#ifndef FX_PRELOAD_TAKEN_H
#define FX_PRELOAD_TAKEN_H

#include <stddef.h>

#include "base/atomic.h"
#include "engine/provider/engine.h"

#define FX_OBJECT_LSB 2
#define FX_AT_BITS    48

fx_hot uint64_t fx_taken_mark(const volatile void *object)
{
	return (uint64_t)(uintptr_t)object << (FX_AT_BITS - FX_OBJECT_LSB);
}

/* Its word is so many bytes behind the first. */
fx_hot size_t fx_taken_place(const volatile void *object)
{
	return (uintptr_t)object >> 1 & (FX_THREAD_TAKEN - 1) * sizeof(uint64_t);
}

/* The thread has locked `object`, alone, by a call that returns to `at`. */
fx_hot void fx_note_taken(struct fx_thread *t, const volatile void *object, const void *at)
{
	fx_store_relaxed((uint64_t *)((char *)t->taken + fx_taken_place(object)),
			 (uint64_t)(uintptr_t)at ^ fx_taken_mark(object));
}

/* Where the thread of this number has locked it last; NULL: not known. */
fx_hot const void *fx_taken_at(const volatile void *object, uint32_t tid)
{
	const struct fx_thread *t = fx_thread_of(tid);
	uint64_t at = t ? fx_load_relaxed(&t->taken[fx_taken_place(object) / sizeof(uint64_t)]) : 0;

	at ^= fx_taken_mark(object);
	return t && at >> FX_AT_BITS == 0 ? (const void *)(uintptr_t)at : NULL;
}

#endif
