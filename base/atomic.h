/* SPDX-License-Identifier: MIT */
/*
 * Atomic accesses by the orders that the tree uses. Each use says which access it pairs with; the
 * table of all pairs stands in engine/layout.h.
 */
#ifndef FX_BASE_ATOMIC_H
#define FX_BASE_ATOMIC_H

#define fx_load_relaxed(p)     __atomic_load_n((p), __ATOMIC_RELAXED)
#define fx_load_acquire(p)     __atomic_load_n((p), __ATOMIC_ACQUIRE)
#define fx_store_relaxed(p, v) __atomic_store_n((p), (v), __ATOMIC_RELAXED)
#define fx_store_release(p, v) __atomic_store_n((p), (v), __ATOMIC_RELEASE)
#define fx_add_relaxed(p, v)   __atomic_fetch_add((p), (v), __ATOMIC_RELAXED)
#define fx_add_acq_rel(p, v)   __atomic_fetch_add((p), (v), __ATOMIC_ACQ_REL)

/* Compare and exchange; on failure *expected holds what was found (read with acquire order). */
#define fx_cas_acq_rel(p, expected, desired)                                                       \
	__atomic_compare_exchange_n((p), (expected), (desired), 0, __ATOMIC_ACQ_REL,               \
				    __ATOMIC_ACQUIRE)

#if defined(__SANITIZE_THREAD__)
#define FX_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define FX_TSAN 1
#endif
#endif

/*
 * What ThreadSanitizer cannot see, it is told; nothing in other builds. All before fx_happens_before(), in
 * one thread, is before all after fx_happens_after() with the same address: for an order that the kernel
 * gives. Between fx_race_begin() and fx_race_end() a thread reads what others may be writing, and throws
 * away what it read if they were.
 */
#ifdef FX_TSAN
void __tsan_release(void *address);
void __tsan_acquire(void *address);
void AnnotateIgnoreReadsBegin(const char *file, int line);
void AnnotateIgnoreReadsEnd(const char *file, int line);
#define fx_happens_before(p) __tsan_release((void *)(p))
#define fx_happens_after(p)  __tsan_acquire((void *)(p))
#define fx_race_begin()	     AnnotateIgnoreReadsBegin(__FILE__, __LINE__)
#define fx_race_end()	     AnnotateIgnoreReadsEnd(__FILE__, __LINE__)
#define fx_fence()	     ((void)0) /* it knows none; and what fences order is atomic */
#else
#define fx_happens_before(p) ((void)(p))
#define fx_happens_after(p)  ((void)(p))
#define fx_race_begin()	     ((void)0)
#define fx_race_end()	     ((void)0)
/* What was stored before it can be seen by others before what stands behind it is loaded. */
#define fx_fence()	     __atomic_thread_fence(__ATOMIC_SEQ_CST)
#endif

#endif
