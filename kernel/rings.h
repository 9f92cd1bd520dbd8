/* SPDX-License-Identifier: MIT */
/*
 * What the kernel's performance events say of a process and of all that it starts: a ring for each processor (kernel/ring.h), which
 * a thread of its own empties, so that none overflows while names are looked for. Records come in order of time from
 * fx_rings_next(); all functions here are the other thread's.
 */
#ifndef FX_KERNEL_RINGS_H
#define FX_KERNEL_RINGS_H

#include <stdbool.h>
#include <stdint.h>

#include "kernel/ring-record.h"
#include "kernel/wish.h"

struct fx_rings;

/*
 * Opens the rings. *kernel: samples tell of time inside the kernel as well, which not everybody may see. 0 or -errno: -EACCES
 * or -EPERM where it is not permitted (perf_event_paranoid), -ENOSYS where the kernel has none.
 */
int fx_rings_open(const struct fx_kernel_wish *wish, struct fx_rings **ret, bool *ret_kernel);
void fx_rings_close(struct fx_rings *rings);

/* Whether it has the tracepoints that were asked for. */
bool fx_rings_have_tracepoints(const struct fx_rings *rings);

/* How many rings there are for tracepoints that come later; 0: none were wished, or they are not permitted. */
unsigned fx_rings_late(const struct fx_rings *rings);

/* One more tracepoint, of all threads, in that one of them: a descriptor, which is the caller's and ends it, or -errno. Of any thread. */
int fx_rings_add_late(const struct fx_rings *rings, unsigned ring, uint32_t number);

/* Begins to read. 0 or -errno. */
int fx_rings_start(struct fx_rings *rings);

/* The next record, to be freed with free(). NULL: there is none within `wait_ms`. */
struct fx_ring_record *fx_rings_next(struct fx_rings *rings, unsigned wait_ms);

/* Nothing more is of interest: what is there is read, and then fx_rings_is_over(). Of any thread, and async-signal-safe. */
void fx_rings_finish(struct fx_rings *rings);
bool fx_rings_is_over(struct fx_rings *rings);

/* How many records were lost since it was asked last: the rings were full, or there was no memory for them. */
uint64_t fx_rings_lost(struct fx_rings *rings);

#endif
