/* SPDX-License-Identifier: MIT */
/* What an adoption asks about children. (What makes children calls what engine.h has.) */
#ifndef FX_ENGINE_FORK_H
#define FX_ENGINE_FORK_H

#include "engine/provider/engine.h"

/* The state of every thread that has none. */
extern struct fx_thread fx_thread_off __attribute__((visibility("hidden")));

/* Wipes what the kernel does not, in a child of the thread that is guarded. */
void fx_fork_wipe(void);

/* False: it is a child on the storage of the thread that made it. */
bool fx_fork_may_record(void);

/* The thread's state is to stay 0, so that each look at it comes to fx_thread_adopt(). */
bool fx_fork_hides_state(void);

/* Gives a child a buffer of its own. Returns 0 or -errno: it has none, and the engine is to be detached. */
int fx_fork_attach(void);

#endif
