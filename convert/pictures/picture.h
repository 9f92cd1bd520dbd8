/* SPDX-License-Identifier: MIT */
/*
 * What the formats that show calls by path have in common: from the calls of each thread to a tree of paths with what
 * was measured. A format says what it writes of that at the end.
 */
#ifndef FX_CONVERT_PICTURES_PICTURE_H
#define FX_CONVERT_PICTURES_PICTURE_H

#include "convert/arrange.h"
#include "convert/heap.h"
#include "convert/pictures/paths.h"
#include "convert/pictures/processor.h"

struct fx_picture;

/* A format. All but write may be NULL. */
struct fx_picture_format {
	bool all_measures; /* it shows more than the weight */
	void (*begin)(struct fx_picture *picture);
	void (*enter_thread)(struct fx_picture *picture);
	/* Calls that lie in the range of time that is shown, and their times within it. */
	void (*call_begin)(struct fx_picture *picture, const struct fx_event *event, uint64_t ts);
	void (*call_end)(struct fx_picture *picture, uint64_t ts);
	void (*instant)(struct fx_picture *picture, const struct fx_event *event);
	void (*leave_thread)(struct fx_picture *picture);
	void (*write)(struct fx_picture *picture);
};

/* A call that is open. */
struct fx_picture_call {
	uint32_t path;
	bool shown; /* in the range of time */
};

struct fx_picture {
	struct fx_exporter exporter;
	const struct fx_picture_format *format;
	struct fx_picture_options options;
	struct fx_paths paths;
	struct fx_heap *heap;
	struct fx_processor_time *processor;
	uint64_t from; /* the range that is shown */
	uint64_t to;
	uint64_t merged;    /* calls whose path was one too many */
	uint32_t functions; /* category of the frames of stacks */
	bool has_heap;
	bool has_samples;
	bool has_calls;
	FX_VECTOR(const struct fx_text *)
	notes; /* what is missing, for the reader of the picture */

	/* The thread at hand. */
	const struct fx_thread *thread;
	uint32_t root;
	bool knows_processor;
	uint64_t at; /* what came before is counted; UINT64_MAX: nothing has come yet */
	size_t depth;
	struct fx_picture_call open[FX_MAX_DEPTH];
};

/* A picture of @size bytes, which begins with a struct fx_picture. NULL: no memory. */
struct fx_exporter *fx_picture_make(size_t size, const struct fx_picture_format *format,
				    struct fx_timeline *timeline, struct fx_sink *sink);
void fx_picture_free(struct fx_exporter *exporter);

/* The text of a path's name, never NULL. */
const struct fx_text *fx_picture_name(const struct fx_picture *picture, uint32_t path);
const struct fx_text *fx_picture_category(const struct fx_picture *picture, uint32_t path);

/* Process and thread, by names and numbers; an empty text without memory. */
const struct fx_text *fx_picture_thread_title(struct fx_picture *picture);

/* Whether the archive has what this measure is taken from. */
bool fx_picture_has(const struct fx_picture *picture, enum fx_measure measure);

/* Whether all went well so far. */
bool fx_picture_is_good(const struct fx_picture *picture);

/* fx_paths_totals() of the weight that was asked for. */
uint64_t *fx_picture_totals(struct fx_picture *picture);

#endif
