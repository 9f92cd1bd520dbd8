/* SPDX-License-Identifier: MIT */
/*
 * Ends of arrows on virtual threads, whose slices are begun and ended in whatever order: each is held until it is known whether it stands in a
 * slice, else it has an instant, as those of threads have (loose-flows.h). So it is at the end of the process, or when the
 * virtual thread has begun and ended so much that it is to be forgotten; what is in doubt then has an instant, too.
 */
#ifndef FX_MANAGER_VTHREAD_FLOWS_H
#define FX_MANAGER_VTHREAD_FLOWS_H

#include <stdbool.h>
#include <stdint.h>

#include "manager/archive/rewriting.h"

/* Begins and ends that are remembered of a virtual thread, and of a process. */
#define FX_VTHREAD_STEPS     1024u
#define FX_VTHREAD_STEPS_ALL (1u << 18)

/* A begin or an end, as the archive has it. */
void fx_vthread_flows_step(struct fx_rewriting *w, uint64_t ns, bool is_end);

/* As fx_loose_take(). */
int fx_vthread_flows_take(struct fx_rewriting *w, uint64_t header);

/* Nothing more comes: all are written. The stream's part of the archive is selected. */
void fx_vthread_flows_end(struct fx_stream *s);

#endif
