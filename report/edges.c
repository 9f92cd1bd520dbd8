/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "report/edges.h"
#include "report/keys.h"
#include "report/units.h"

enum { EDGES_MAX = 1000000 };

enum { VERDICT_UNKNOWN, VERDICT_YES, VERDICT_NO };

/* What the outermost calls of a thread are made by. */
#define NO_CALLER UINT32_MAX

struct edge {
	uint64_t calls, self;
	uint64_t total; /* without the calls inside a call of the same edge */
	uint32_t open;	/* its calls that are open */
};

struct open_call {
	uint32_t name;
	size_t edge; /* FX_KEY_NONE: it is of no interest */
};

struct fx_edges {
	struct fx_report *report;
	struct fx_keys keys; /* caller, callee: numbers of texts */
	FX_VECTOR(struct edge) edges;
	FX_VECTOR(struct open_call) open;
	FX_VECTOR(uint8_t) verdicts; /* on each text */
};

struct fx_edges *fx_edges_new(struct fx_report *report)
{
	struct fx_edges *edges = calloc(1, sizeof(*edges));

	if (edges) {
		edges->report = report;
		edges->keys.limit = EDGES_MAX;
	}
	return edges;
}

void fx_edges_free(struct fx_edges *edges)
{
	if (!edges)
		return;
	fx_keys_free(&edges->keys);
	fx_vector_free(&edges->edges);
	fx_vector_free(&edges->open);
	fx_vector_free(&edges->verdicts);
	free(edges);
}

/* --- What is seen ----------------------------------------------------------------------------- */

static const char *edges_text(const struct fx_edges *edges, uint32_t name)
{
	if (name == NO_CALLER)
		return "(none)";
	return name ? fx_report_text(edges->report, name)->data : "";
}

bool fx_edges_wants(struct fx_edges *edges, uint32_t name)
{
	size_t count = edges->verdicts.count;

	if (name == NO_CALLER)
		return false;
	if (name >= count) {
		size_t more = name + 1 - count;

		if (fx_vector_reserve(&edges->verdicts, more) < 0) {
			fx_report_fail(edges->report, -ENOMEM);
			return false;
		}
		memset(edges->verdicts.items + count, VERDICT_UNKNOWN, more);
		edges->verdicts.count += more;
	}
	if (edges->verdicts.items[name] == VERDICT_UNKNOWN)
		edges->verdicts.items[name] =
		    fx_patterns_match(&fx_report_order(edges->report)->functions,
				      edges_text(edges, name))
			? VERDICT_YES
			: VERDICT_NO;
	return edges->verdicts.items[name] == VERDICT_YES;
}

/* FX_KEY_NONE: it is one too many, or there is no memory. */
static size_t edges_find(struct fx_edges *edges, uint32_t caller, uint32_t callee)
{
	size_t number;

	/* An edge that was found has its place. */
	if (fx_vector_reserve(&edges->edges, 1) < 0) {
		fx_report_fail(edges->report, -ENOMEM);
		return FX_KEY_NONE;
	}
	number = fx_keys_number(&edges->keys, (struct fx_key){.numbers = {caller, callee}});
	if (number == edges->edges.count)
		edges->edges.items[edges->edges.count++] = (struct edge){0};
	return number;
}

void fx_edges_enter(struct fx_edges *edges, const struct fx_open_call *call)
{
	size_t depth = edges->open.count;
	uint32_t caller = depth > 0 ? edges->open.items[depth - 1].name : NO_CALLER;
	struct open_call *open;

	if (fx_vector_reserve(&edges->open, 1) < 0) {
		fx_report_fail(edges->report, -ENOMEM);
		return;
	}
	open = &edges->open.items[edges->open.count++];
	*open = (struct open_call){.name = call->name, .edge = FX_KEY_NONE};
	if (fx_edges_wants(edges, caller) || fx_edges_wants(edges, call->name))
		open->edge = edges_find(edges, caller, call->name);
	if (open->edge != FX_KEY_NONE)
		edges->edges.items[open->edge].open++;
}

void fx_edges_leave(struct fx_edges *edges, const struct fx_open_call *call)
{
	uint64_t time = call->end - call->ts;
	struct edge *edge;
	size_t number;

	/* Only where memory has run out. */
	if (edges->open.count == 0)
		return;
	number = edges->open.items[--edges->open.count].edge;
	if (number == FX_KEY_NONE)
		return;
	edge = &edges->edges.items[number];
	edge->calls++;
	edge->self += call->inside < time ? time - call->inside : 0;
	if (--edge->open == 0)
		edge->total += time;
}

/* --- Tables ----------------------------------------------------------------------------------- */

enum { TOTAL, SHARE, SELF, CALLS, FUNCTION, OTHER };

#define EDGE_COLUMNS(other)                                                                        \
	{                                                                                          \
		[TOTAL] = {"total_ns", "total", FX_UNIT_NS},                                       \
		[SHARE] = {"function_share", "", FX_UNIT_SHARE},                                   \
		[SELF] = {"self_ns", "self", FX_UNIT_NS},                                          \
		[CALLS] = {"calls", "calls", FX_UNIT_COUNT},                                       \
		[FUNCTION] = {"function", "function", FX_UNIT_TEXT},                               \
		[OTHER] = {other, other, FX_UNIT_TEXT},                                            \
	}

static const struct fx_column caller_columns[] = EDGE_COLUMNS("caller");
static const struct fx_column callee_columns[] = EDGE_COLUMNS("callee");

static void edges_row(const struct fx_edges *edges, struct fx_table *table, size_t number,
		      uint32_t function, uint32_t other, uint64_t whole)
{
	const struct edge *edge = &edges->edges.items[number];

	fx_table_row(table);
	fx_table_number(table, TOTAL, (int64_t)edge->total);
	if (whole > 0)
		fx_table_real(table, SHARE, (double)edge->total / (double)whole);
	fx_table_number(table, SELF, (int64_t)edge->self);
	fx_table_number(table, CALLS, (int64_t)edge->calls);
	fx_table_string(table, FUNCTION, edges_text(edges, function));
	fx_table_string(table, OTHER, edges_text(edges, other));
}

static struct fx_table *edges_table(const struct fx_edges *edges, bool is_callers)
{
	struct fx_table *table =
	    is_callers
		? fx_table_new("callers", "Callers: the calls that each makes of the function",
			       caller_columns, OTHER + 1)
		: fx_table_new("callees", "Callees: the calls that the function makes",
			       callee_columns, OTHER + 1);

	if (table && edges->keys.beyond > 0)
		fx_table_note(table, "%s calls are left out, of pairs beyond the first %s",
			      FX_COUNT(edges->keys.beyond), FX_COUNT(EDGES_MAX));
	return table;
}

void fx_edges_tables(struct fx_edges *edges, fx_edges_total_of *total_of, const void *opaque)
{
	struct fx_table *callers = edges_table(edges, true), *callees = edges_table(edges, false);

	if (!callers || !callees) {
		fx_table_free(callers);
		fx_table_free(callees);
		fx_report_fail(edges->report, -ENOMEM);
		return;
	}
	for (size_t i = 0; i < edges->edges.count; i++) {
		uint32_t caller = edges->keys.keys.items[i].numbers[0];
		uint32_t callee = edges->keys.keys.items[i].numbers[1];

		if (fx_edges_wants(edges, callee))
			edges_row(edges, callers, i, callee, caller, total_of(opaque, callee));
		if (fx_edges_wants(edges, caller))
			edges_row(edges, callees, i, caller, callee, total_of(opaque, caller));
	}
	if (fx_table_row_count(callers) > 0)
		fx_table_note(callers, "self is the function's own time in these calls; (none): "
				       "nothing recorded is around them");
	if (fx_table_row_count(callees) > 0)
		fx_table_note(callees, "total is without calls inside a call of the same two");
	else
		fx_table_note(callees, "no call was recorded inside it");
	fx_report_add(edges->report, callers);
	fx_report_add(edges->report, callees);
}
