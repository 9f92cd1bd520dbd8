/* SPDX-License-Identifier: MIT */
/*
 * The arguments of an event, and our own remarks on it, as Perfetto's debug annotations.
 */
#ifndef FX_CONVERT_PERFETTO_ARGS_H
#define FX_CONVERT_PERFETTO_ARGS_H

#include "convert/export.h"
#include "convert/perfetto/packet.h"

enum { FX_ANNOTATIONS_MAX = 2 * FXT_MAX_ARGS + 2 /* of begin and end; our own remarks */ };

/* Those of the event in work. All zeros but @packets: empty. */
struct fx_annotations {
	struct fx_packets *packets; /* where names are interned, and errors stay */
	Fx__Pf__DebugAnnotation items[FX_ANNOTATIONS_MAX];
	Fx__Pf__DebugAnnotation *list[FX_ANNOTATIONS_MAX];
	size_t count;
	char blob_texts[FX_ANNOTATIONS_MAX][40];
	FX_VECTOR(char) text; /* cleaned texts of arguments, one behind the other */
};

/* Gives @message those of @event; it points to them until the next call. */
void fx_annotations_set(struct fx_annotations *annotations, Fx__Pf__TrackEvent *message,
			const struct fx_event *event);

void fx_annotations_release(struct fx_annotations *annotations);

#endif
