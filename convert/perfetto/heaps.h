/* SPDX-License-Identifier: MIT */
/*
 * Heap profiles, from the calls of category malloc: at some moments and at the end, what each stack has allocated by
 * then, and what of that was freed. Stacks are those that the calls carry, else the slices that are open around them.
 */
#ifndef FX_CONVERT_PERFETTO_HEAPS_H
#define FX_CONVERT_PERFETTO_HEAPS_H

#include "convert/export.h"
#include "convert/perfetto/packet.h"

struct fx_heap;
struct heaps_site;

struct fx_heaps {
	struct fx_packets *packets;
	struct fx_timeline *timeline;
	struct fx_heap *heap;	  /* NULL: no call was met yet */
	FX_VECTOR(uint32_t) open; /* names of the slices around, the outermost first */
	FX_VECTOR(char) text;	  /* of the stack in work */
	bool has_calls;
	struct heaps_site *sites;
	FX_VECTOR(struct heaps_site *) order; /* the same, for sorting */
	int error;			      /* 0 or -errno */
};

void fx_heaps_init(struct fx_heaps *heaps, struct fx_packets *packets,
		   struct fx_timeline *timeline);
void fx_heaps_release(struct fx_heaps *heaps);

/* From here on the slices are those of another thread. */
void fx_heaps_enter_thread(struct fx_heaps *heaps);

/* A slice begins or ends, in the order of fx_exporter_ops. */
void fx_heaps_begin(struct fx_heaps *heaps, const struct fx_event *event);
void fx_heaps_end(struct fx_heaps *heaps);

void fx_heaps_instant(struct fx_heaps *heaps, const struct fx_event *event);

/* Writes the profiles, after all events. */
void fx_heaps_write(struct fx_heaps *heaps);

#endif
