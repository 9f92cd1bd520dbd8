/* SPDX-License-Identifier: MIT */
/*
 * Facts of the whole trace, which are the summary's of fxtrace report, as attributes: Perfetto has them in its table
 * metadata, as trace_attribute.fxtrace_*.
 */
#ifndef FX_CONVERT_PERFETTO_ATTRIBUTES_H
#define FX_CONVERT_PERFETTO_ATTRIBUTES_H

#include "convert/export.h"
#include "convert/perfetto/packet.h"
#include "convert/timeline.h"

/* Records that were lost for one cause; its word may have been cut. */
struct fx_lost {
	char cause[32];
	uint64_t count;
};

/* What comes together while events are exported. */
struct fx_facts {
	uint64_t calls, unfinished, instants, counter_values;
	struct fx_lost lost[16]; /* no archive has more causes */
	size_t lost_count;
	char end[32]; /* how the first process ended; "": not known */
};

/* Of a call that has more than its names. */
void fx_facts_call(struct fx_facts *facts, const struct fx_event *event);

void fx_facts_instant(struct fx_facts *facts, const struct fx_timeline *timeline,
		      const struct fx_event *event);

/* At the end, when it is known what was left out. */
void fx_attributes_write(struct fx_packets *packets, const struct fx_timeline *timeline,
			 const struct fx_facts *facts);

#endif
