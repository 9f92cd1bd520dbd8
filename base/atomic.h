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

#endif
