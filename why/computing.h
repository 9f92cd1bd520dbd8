/* SPDX-License-Identifier: MIT */
/* In which calls the threads on the way were, when they did something themselves: the innermost one that is recorded. */
#ifndef FX_WHY_COMPUTING_H
#define FX_WHY_COMPUTING_H

#include "convert/export.h"
#include "why/path.h"

/* Walks through the threads of the path once more, and adds to its tree. Returns 0 or -errno. */
int fx_why_computing(struct fx_why_path *path, const struct fx_why_ready *ready,
		     struct fx_timeline *timeline, struct fx_flows *flows);

#endif
