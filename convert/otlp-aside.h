/* SPDX-License-Identifier: MIT */
/*
 * Spans with arrows, of OpenTelemetry's protocol: they are put aside, in a file without a name, until the ids of all are known; an arrow
 * becomes a link, from the span that it leads to to the one that it comes from.
 *
 *	begin, the span's JSON into the sink that it gives, end	for each
 *	seal							when there are no more
 *	copy, links						for each, in the same order
 *
 * Functions return 0 or -errno.
 */
#ifndef FX_CONVERT_OTLP_ASIDE_H
#define FX_CONVERT_OTLP_ASIDE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "convert/export.h"
#include "convert/flow-ends.h"
#include "convert/sink.h"
#include "convert/timeline.h"
#include "lists/vector.h"

struct fx_otlp_link {
	struct fx_flow_end
	    end; /* its slice is the span; once sealed, the one that an arrow comes from */
	uint64_t to;
};

/* A span that was put aside. */
struct fx_otlp_held {
	uint64_t span, offset, size;
	const struct fx_process *process;
};

/* All zero at first. */
struct fx_otlp_aside {
	struct fx_sink *sink; /* NULL: nothing is put aside */
	bool has_fd;
	int fd; /* the same file, to be read */
	FX_VECTOR(struct fx_otlp_link) links;
	FX_VECTOR(struct fx_otlp_held) held;
	size_t next_link;
};

int fx_otlp_aside_begin(struct fx_otlp_aside *aside);
int fx_otlp_aside_end(struct fx_otlp_aside *aside, const struct fx_event *event,
		      const struct fx_process *process, uint64_t span);
int fx_otlp_aside_seal(struct fx_otlp_aside *aside);

/* What was put aside as the i-th goes to the sink. */
int fx_otlp_aside_copy(const struct fx_otlp_aside *aside, size_t i, struct fx_sink *sink);

/* The links of the i-th, with the comma in front; none: nothing. */
void fx_otlp_aside_links(struct fx_otlp_aside *aside, size_t i, const char *trace_id,
			 struct fx_sink *sink);

void fx_otlp_aside_release(struct fx_otlp_aside *aside);

#endif
