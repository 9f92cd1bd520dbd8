/* SPDX-License-Identifier: MIT */
/* Calls that move bytes, by name: of their descriptor `file', or between two. */
#ifndef FX_REPORT_BYTES_H
#define FX_REPORT_BYTES_H

#include "convert/export.h"

enum fx_bytes_way { FX_BYTES_NONE, FX_BYTES_READ, FX_BYTES_WRITTEN, FX_BYTES_BOTH };

/* Those with two descriptors say themselves which is which. */
enum fx_bytes_way fx_bytes_of_name(const char *name);

/* Arguments of a call, by their names; `flags' may be NULL. */
struct fx_bytes_said {
	int64_t ret, size;
	const struct fxt_string *flags;
};

/* How many bytes it moved this way; what was only looked at stays where it is. */
uint64_t fx_bytes_moved(const struct fxt_string *name, enum fx_bytes_way way,
			const struct fx_bytes_said *said);
uint64_t fx_bytes_of_event(const struct fx_event *event, enum fx_bytes_way way);

#endif
