/* SPDX-License-Identifier: MIT */
/*
 * Flows: arrows from slice to slice.
 *
 * A flow record belongs to a slice of its thread: to the one that was written just before it at
 * the same time (a slice or an instant), else to the one around it, else to one that ended at
 * that very time.
 *
 * Records with one id make a chain, by time. The id belongs to the process that began it; a step
 * or end in another process continues the owner's chain. Ids may be used again: each begin starts
 * a new chain.
 *
 * Perfetto draws an arrow from the slice that starts earlier to the one that starts later. Where
 * that would turn an arrow round (a thread waits; another, whose slice began later, wakes it), or
 * where there is no slice at all, the link goes to the flow record itself, which is then
 * exported as an instant.
 *
 * However many there are, they take little memory (runs.h).
 */
#ifndef FX_CONVERT_FLOWS_H
#define FX_CONVERT_FLOWS_H

#include "convert/timeline.h"

enum fx_flow_role {
	FX_FLOW_FIRST,
	FX_FLOW_MIDDLE,
	FX_FLOW_LAST,
};

/* One end of an arrow: attached to an entry of a thread. */
struct fx_flow_link {
	uint64_t entry;	 /* index in the thread's walk */
	uint64_t chain;	 /* counts from 1 over the whole timeline */
	uint32_t thread; /* number */
	uint32_t category;
	uint32_t name; /* both of the chain's first record; numbers of strings, 0: empty */
	enum fx_flow_role role;
};

struct fx_flows;

/* Of this timeline, which outlives it; NULL: no memory. */
struct fx_flows *fx_flows_new(struct fx_timeline *timeline);

/* NULL is allowed. */
void fx_flows_free(struct fx_flows *flows);

/* Takes the flow records of an arranged thread. Returns 0 or -errno. */
int fx_flows_collect(struct fx_flows *flows, struct fx_timeline *timeline,
		     struct fx_thread *thread);

/* Makes the links, once all threads were collected. Returns 0 or -errno. */
int fx_flows_resolve(struct fx_flows *flows);

/*
 * The links of an entry, @ret_count of them, until the next call. Entries must be asked for in
 * ascending order of thread number and index.
 */
const struct fx_flow_link *fx_flows_take(struct fx_flows *flows, const struct fx_thread *thread,
					 uint64_t entry, size_t *ret_count);

/* Entries from this one on will be asked for next. Returns 0 or -errno. */
int fx_flows_seek(struct fx_flows *flows, uint32_t thread, uint64_t entry);

/* Why links are missing: 0 or -errno. */
int fx_flows_error(const struct fx_flows *flows);

#endif
