/* SPDX-License-Identifier: MIT */
/*
 * The real functions behind the wrappers: those of the libraries loaded after this one.
 *
 * A function is looked up when it is called first, without the dynamic linker (lookup.h); most programs call
 * few. Where that cannot be, all are looked up in the constructor, by dlsym(). The malloc family, which
 * dlsym() itself may call, has an arena for that moment (arena.h). A function that this libc lacks stands
 * for ENOSYS.
 */
#ifndef FX_PRELOAD_REAL_H
#define FX_PRELOAD_REAL_H

#include <stdbool.h>

#include "base/atomic.h"
#include "base/compiler.h"
#include "preload/types.h"
#include "preload/wrappers.h"

union fx_real_table {
	struct fx_real fn;
	void *slot[FX_REAL_COUNT]; /* by enum fx_real_index */
};
_Static_assert(sizeof(struct fx_real) == FX_REAL_COUNT * sizeof(void *), "one slot a function");

extern union fx_real_table fx_real __attribute__((visibility("hidden")));

/* Finds out where functions are to be looked for. Keeps errno. Returns false, with nothing done, while
 * the calling thread is inside a lookup, and before this library is relocated. */
bool fx_real_init(void);

/* Whether this library is relocated. */
bool fx_real_can_begin(void);

/* Whether a function lies in this library. */
bool fx_real_is_ours(void *function);

/* Whether a function is one of libc's own. */
bool fx_real_is_of_libc(void *function);

/* Slow half of FX_REAL: looks up one function. Never NULL. Keeps errno. */
fx_cold void *fx_real_resolve(enum fx_real_index i);

/* relaxed: a slot is one word, and the code that it points to was there before */
fx_hot void *fx_real_get(enum fx_real_index i)
{
	void *p = fx_load_relaxed(&fx_real.slot[i]);

	return fx_likely(p != NULL) ? p : fx_real_resolve(i);
}

/* The same where it may be NULL: nobody has called it yet. */
#define FX_REAL_IF_KNOWN(name)                                                                     \
	((__typeof__(fx_real.fn.name))fx_load_relaxed(&fx_real.slot[FX_REAL_##name]))

/* The real function NAME, with its type. */
#define FX_REAL(name) ((__typeof__(fx_real.fn.name))fx_real_get(FX_REAL_##name))

#endif
