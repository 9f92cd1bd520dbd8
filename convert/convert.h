/* SPDX-License-Identifier: MIT */
/*
 * From an archive to another format.
 *
 *     archive -> fx_timeline (indexed) -> arrange, flows (in order) -> fx_exporter -> fx_sink
 */
#ifndef FX_CONVERT_CONVERT_H
#define FX_CONVERT_CONVERT_H

#include "convert/export.h"

/*
 * Exports a timeline, which is used up. Output is well-formed at its end whatever happened before.
 * Returns 0 or -ENOMEM; errors of writing stay in the output.
 */
int fx_convert(struct fx_exporter *exporter, fx_progress *progress, void *opaque);

/*
 * The same in steps, for exporters that want the events of the threads when they need them (stepper.h): first the order of all
 * threads and their flows, then processes and threads, and behind all events of threads, what belongs to none.
 */
int fx_convert_arrange(struct fx_timeline *timeline, struct fx_flows *flows);
void fx_convert_names(struct fx_exporter *exporter);
int fx_convert_rest(struct fx_exporter *exporter);

/* A format that archives can be converted to. */
struct fx_format {
	const char *name;
	const char *help;
	const char *const *extensions; /* with their dots, the usual one first; ends with NULL */
	bool is_text;
	bool is_packed;	 /* with gzip, whatever the name of the output says */
	bool is_picture; /* takes struct fx_picture_options */
	/* A new exporter, or NULL: no memory. The caller frees it with @free. @make is NULL of archives, which are
	 * made without a timeline. */
	struct fx_exporter *(*make)(struct fx_timeline *timeline, struct fx_sink *sink);
	void (*free)(struct fx_exporter *exporter);
};

/* All formats; ends with one that has no name. */
extern const struct fx_format fx_formats[];

/* By name; NULL: unknown. */
const struct fx_format *fx_format_find(const char *name);

/* By the extension of a file's name, ".gz" behind it or not; NULL: unknown. */
const struct fx_format *fx_format_guess(const char *path);

#endif
