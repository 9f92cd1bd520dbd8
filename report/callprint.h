/* SPDX-License-Identifier: MIT */
/* Calls as lines of text, for fxtrace replay. Nothing of an archive's texts is obeyed by a terminal. */
#ifndef FX_REPORT_CALLPRINT_H
#define FX_REPORT_CALLPRINT_H

#include <stdbool.h>
#include <stdint.h>

#include "convert/timeline.h"
#include "report/line.h"

struct fx_callprint {
	struct fx_line line;
	bool color;
	bool deltas;	/* the time since the line before, instead of since the first event */
	uint64_t first; /* the first event */
	uint64_t last;	/* the line before */
};

/* How a thread is shown on each of its lines. */
struct fx_callwho {
	const struct fx_thread *thread;
	size_t length; /* 0: it has to be put together for each line */
	char text[48];
};

void fx_callprint_who(const struct fx_callprint *print, const struct fx_thread *thread,
		      struct fx_callwho *ret);

/* Begins a line: time, thread, and the indentation of this depth. */
void fx_callprint_line(struct fx_callprint *print, uint64_t ts, const struct fx_callwho *who,
		       unsigned depth);

/*
 * A name, and the arguments of a record (NULL: it has none), or of two: `NAME(name="value", name=3)', without result and
 * error. Without any, `NAME()', and NAME alone if it has its parameters.
 */
void fx_callprint_call(struct fx_callprint *print, const struct fxt_string *name,
		       const struct fxt_record *record, const struct fxt_record *end);

/* A name. */
void fx_callprint_name(struct fx_callprint *print, const struct fxt_string *name);

/* What the manager calls it. */
#define FX_CALLPRINT_LOSS "records dropped"

/* Whether an instant says that records are missing. */
bool fx_callprint_is_loss(const struct fxt_event *event);

/* A text in quotation marks. */
void fx_callprint_text(struct fx_callprint *print, const struct fxt_string *text);

/* Result, error and duration: ` = -1 ENOENT <1.234 us>;'. `end' may be NULL; UINT64_MAX: it did not finish. */
void fx_callprint_result(struct fx_callprint *print, const struct fxt_record *record,
			 const struct fxt_record *end, uint64_t ns);

/* The duration alone. */
void fx_callprint_duration(struct fx_callprint *print, uint64_t ns);

#endif
