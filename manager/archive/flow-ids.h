/* SPDX-License-Identifier: MIT */
/*
 * Ids of the arrows that programs draw. Viewers take an id for the whole machine's, and an arrow that begins once more
 * before its end for an error. So what a process begins has a new id in the archive if its id is another's, or open:
 *
 *	                      in the archive
 *	process 10  begin 5   5
 *	process 11  begin 5   a new one; and its steps and ends of 5 from then on
 *	process 10  begin 5   another one; and what it has of 5 from then on
 *	process 12  end 5     what process 10, whose 5 is, has of it then: it has begun none, so it comes from another process
 *
 * An arrow from process to process needs an id that no other process begins: TRACE_NONCE() gives them.
 *
 * Threads' records do not come in the order of their times. An id that is used again and again, as an object's address, is so for one arrow
 * behind the other; each part belongs to the arrow that is open at its time, or to one whose begin is still to come:
 *
 *	thread A  begin @10, begin @20       these come first: two ids, for the first is open as the second begins
 *	thread B  end @15, end @25           the first's, the second's
 *	thread B  end @35                    of one to come: the same id as the second's, which is over
 *	thread A  begin @30                  it was this one's
 */
#ifndef FX_MANAGER_FLOW_IDS_H
#define FX_MANAGER_FLOW_IDS_H

#include <stddef.h>
#include <stdint.h>

struct fx_flow_id;

/* Those of a session. All zero at first. */
struct fx_flow_ids {
	struct fx_flow_id *by_key; /* uthash; the ones first made come first */
	uint64_t apart;		   /* new ids that were given */
	size_t spans;		   /* arrows that are remembered, of all ids */
};

/* Ids that are remembered, arrows of them all, and of each; then the oldest are forgotten. */
#define FX_FLOW_IDS_MAX	     131072u
#define FX_FLOW_SPANS_MAX    262144u
#define FX_FLOW_ID_SPANS_MAX 1024u

enum fx_flow_part { FX_FLOW_PART_BEGIN, FX_FLOW_PART_STEP, FX_FLOW_PART_END };

struct fx_flow_of {
	uint32_t provider; /* not 0 */
	uint64_t id;
	uint64_t ns;
};

/* The id in the archive of a part of an arrow. Without memory it is as it was. */
uint64_t fx_flow_ids_shown(struct fx_flow_ids *ids, const struct fx_flow_of *flow,
			   enum fx_flow_part part);

void fx_flow_ids_clear(struct fx_flow_ids *ids);

#endif
