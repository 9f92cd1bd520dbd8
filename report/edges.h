/* SPDX-License-Identifier: MIT */
/*
 * Which function calls which, of those that --function names: an edge is a caller and what it calls, with the number of such
 * calls and their times. Calls that an edge makes inside one of its own calls, by recursion, count, but their time does
 * not count again.
 */
#ifndef FX_REPORT_EDGES_H
#define FX_REPORT_EDGES_H

#include "report/report.h"
#include "report/section.h"

struct fx_edges;

/* NULL: no memory. */
struct fx_edges *fx_edges_new(struct fx_report *report);

/* NULL is allowed. */
void fx_edges_free(struct fx_edges *edges);

/* Whether --function names it; `name' is the number of its text. */
bool fx_edges_wants(struct fx_edges *edges, uint32_t name);

/* Each call, as a section is shown it. */
void fx_edges_enter(struct fx_edges *edges, const struct fx_open_call *call);
void fx_edges_leave(struct fx_edges *edges, const struct fx_open_call *call);

/* The time that a function was open, by the number of its name. */
typedef uint64_t fx_edges_total_of(const void *opaque, uint32_t name);

/* Adds the tables `callers' and `callees', with shares of what `total_of' says. */
void fx_edges_tables(struct fx_edges *edges, fx_edges_total_of *total_of, const void *opaque);

#endif
