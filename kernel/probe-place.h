/* SPDX-License-Identifier: MIT */
/*
 * Probes as the kernel's uprobes: definitions in tracefs, each of which is a tracepoint for perf_event_open(2), and counts up the
 * probe's semaphore in every process in which its breakpoint stands.
 */
#ifndef FX_KERNEL_PROBE_PLACE_H
#define FX_KERNEL_PROBE_PLACE_H

#include "kernel/probe.h"

/*
 * Defines all probes of the list, and finds their numbers and the places of their values. What sessions before have left that
 * were killed is taken away. 0 or -errno, and then none is defined: -EACCES or -EPERM: it is for root; -ENOENT: this kernel has no
 * uprobes, or there is no tracefs.
 */
int fx_probe_place_all(struct fx_probe_list *list);

/* Takes them away, when nobody records them any more. */
void fx_probe_remove_all(struct fx_probe_list *list);

#endif
