/* SPDX-License-Identifier: MIT */
/* What the kernel's records are made into: names and stacks, and records of this provider. */
#ifndef FX_KERNEL_WATCH_H
#define FX_KERNEL_WATCH_H

#include <sys/types.h>

#include "kernel/ring-record.h"
#include "kernel/wanted-points.h"
#include "kernel/wish.h"

struct fx_watch;

/* Begins with what the process has mapped already. `points' outlive it, NULL: no tracepoints come; `alone': no other
 * process is of interest. 0 or -ENOMEM. */
int fx_watch_create(const struct fx_kernel_wish *wish, const struct fx_wanted_points *points,
		    bool alone, struct fx_watch **ret);
/* Probes whose records come, and those of files that are seen (NULL: of none); they outlive it. */
struct fx_probe_list;
struct fx_late_probes;
void fx_watch_let_probes(struct fx_watch *watch, const struct fx_probe_list *probes,
			 struct fx_late_probes *late);

/* What is told of processes that are of interest; it outlives it. */
struct fx_follow;
void fx_watch_let_follow(struct fx_watch *watch, struct fx_follow *follow);

void fx_watch_destroy(struct fx_watch *watch);

/* Who is registered already is of interest from now on. */
void fx_watch_meet(struct fx_watch *watch);

/* Records can be written from now on. */
void fx_watch_begin(struct fx_watch *watch);

/* Some were lost: who is who may have been among these. */
void fx_watch_lost(struct fx_watch *watch);

/* No more records come. */
void fx_watch_finish(struct fx_watch *watch);

void fx_watch_take(struct fx_watch *watch, const struct fx_ring_record *record);

#endif
