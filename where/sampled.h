/* SPDX-License-Identifier: MIT */
/*
 * Registers and stack of a thread that computes, copied without stopping it: the kernel does so in the middle of its next tick, as a
 * profiler asks it to (perf_event_open(2)). Not everybody may ask for that.
 */
#ifndef FX_WHERE_SAMPLED_H
#define FX_WHERE_SAMPLED_H

#include <sys/types.h>

#include "where/frozen.h"

/* So much of a stack is copied. */
#define FX_SAMPLED_STACK (60u << 10)

/* 0; -EAGAIN: it has had no processor for a while, or is in the kernel all the time; or -errno: it is refused. */
int fx_sampled_take(pid_t tid, struct fx_frozen *ret);

#endif
