/* SPDX-License-Identifier: MIT */
/*
 * Programs that were started and could not be traced, as the instants `not traced' tell
 * (preload/call/untraced.h), for the summary.
 */
#ifndef FX_MANAGER_UNTRACED_H
#define FX_MANAGER_UNTRACED_H

#include <stddef.h>
#include <stdint.h>

#include "base/loadable.h"

/* Programs that are told by name; the others are counted. */
#define FX_UNTRACED_PROGRAMS 8
#define FX_UNTRACED_PATH     256

struct fx_untraced {
	unsigned count;
	uint64_t others;
	struct fx_untraced_program {
		char path[FX_UNTRACED_PATH]; /* printable */
		enum fx_loadable verdict;
		uint64_t times;
	} programs[FX_UNTRACED_PROGRAMS];
};

/* One start more of the program at `path`; `why` is a text of base/loadable.def, or else ignored, since
 * it is a provider that says so. */
void fx_untraced_add(struct fx_untraced *u, const char *path, size_t path_length, const char *why,
		     size_t why_length);

/* A line for each program on stderr. */
void fx_untraced_report(const struct fx_untraced *u);

#endif
