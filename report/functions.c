/* SPDX-License-Identifier: MIT */
/* Functions: calls and times by name; with --function, of those that it names, and of their callers. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "report/ask.h"
#include "report/edges.h"
#include "report/report.h"
#include "report/section.h"
#include "report/spread.h"
#include "report/units.h"

struct function {
	struct fx_spread times;
	uint64_t total; /* without the calls inside a call of the same function */
	uint64_t self;
	uint64_t unfinished;
	uint64_t entries; /* of its calls that have no end in the archive: instants */
	uint32_t open;	  /* its calls that are open */
	bool is_function; /* and no system call or the like */
};

struct functions {
	struct fx_report *report;
	struct fx_edges *edges;		  /* NULL: all functions are wanted */
	FX_VECTOR(struct function) items; /* by the number of the name */
	uint64_t self;			  /* of all */
};

static bool functions_is_function(const struct fx_open_call *call)
{
	return call->kind == FX_CALL_FUNCTION || call->kind == FX_CALL_OTHER;
}

/* A user who names a call means it, of whatever kind it is. */
static bool functions_counts(const struct functions *functions, const struct fx_open_call *call)
{
	return functions_is_function(call) ||
	       (functions->edges && fx_edges_wants(functions->edges, call->name));
}

static void functions_destroy(void *section)
{
	struct functions *functions = section;

	for (size_t i = 0; i < functions->items.count; i++)
		fx_spread_free(&functions->items.items[i].times);
	fx_vector_free(&functions->items);
	fx_edges_free(functions->edges);
	free(functions);
}

static void *functions_create(struct fx_report *report)
{
	struct functions *functions = calloc(1, sizeof(*functions));

	if (!functions)
		return NULL;
	functions->report = report;
	if (fx_report_order(report)->functions.count == 0)
		return functions;
	functions->edges = fx_edges_new(report);
	if (functions->edges)
		return functions;
	functions_destroy(functions);
	return NULL;
}

static struct function *functions_add(struct functions *functions, uint32_t name)
{
	size_t count = functions->items.count, more = name + 1 - count;

	if (fx_vector_reserve(&functions->items, more) < 0) {
		fx_report_fail(functions->report, -ENOMEM);
		return NULL;
	}
	memset(functions->items.items + count, 0, more * sizeof(struct function));
	functions->items.count += more;
	return &functions->items.items[name];
}

/* NULL: no memory. */
static struct function *functions_find(struct functions *functions, uint32_t name)
{
	return name < functions->items.count ? &functions->items.items[name]
					     : functions_add(functions, name);
}

static void functions_enter(void *section, const struct fx_open_call *call,
			    const struct fx_event *event)
{
	struct functions *functions = section;
	struct function *function;

	(void)event;
	if (functions->edges)
		fx_edges_enter(functions->edges, call);
	if (!functions_counts(functions, call))
		return;
	function = functions_find(functions, call->name);
	if (function)
		function->open++;
}

static void functions_leave(void *section, const struct fx_open_call *call)
{
	struct functions *functions = section;
	struct function *function;
	uint64_t time = call->end - call->ts, self;

	if (functions->edges)
		fx_edges_leave(functions->edges, call);
	if (!functions_counts(functions, call))
		return;
	function = functions_find(functions, call->name);
	if (!function)
		return;
	/* Cut to --from and --to, what is inside can seem longer by nothing at all, never by more. */
	self = call->inside < time ? time - call->inside : 0;
	if (function->open > 0 && --function->open == 0)
		function->total += time;
	function->self += self;
	function->unfinished += call->is_unfinished;
	if (functions_is_function(call)) {
		function->is_function = true;
		functions->self += self;
	}
	fx_spread_add(&function->times, time);
}

/* (The only other instants of that category say where calls were nested too deeply.) */
static void functions_instant(void *section, const struct fx_event *event)
{
	struct functions *functions = section;
	struct function *function;

	if (!fxt_string_equals(event->category, "function") ||
	    fxt_string_equals(event->name, "calls nested too deeply"))
		return;
	function = functions_find(functions, event->name->serial);
	if (function)
		function->entries++;
}

/* --- The same from a server ------------------------------------------------------------------- */

static struct function *functions_find_text(struct functions *functions, const char *name)
{
	return functions_find(functions, fx_report_intern(functions->report, name, strlen(name)));
}

static void functions_take_calls(void *section, char **fields)
{
	struct functions *functions = section;
	struct function *function = functions_find_text(functions, fields[0]);

	if (!function)
		return;
	function->is_function = true;
	function->self = strtoull(fields[1], NULL, 10);
	function->total = strtoull(fields[2], NULL, 10);
	function->unfinished = strtoull(fields[3], NULL, 10);
	functions->self += function->self;
	fx_spread_take(&function->times, fields + 4);
}

static void functions_take_entries(void *section, char **fields)
{
	struct function *function = functions_find_text(section, fields[0]);

	if (function)
		function->entries = strtoull(fields[1], NULL, 10);
}

static const struct fx_ask functions_asks[] = {
    {"name, sum(self_ns), sumIf(time_ns, is_outermost), sum(unfinished), " FX_SPREAD_SELECT,
     "form = 'call' AND kind IN ('other', 'function') GROUP BY name", 4 + FX_SPREAD_FIELDS,
     functions_take_calls},
    {"name, count()",
     "form = 'instant' AND category = 'function' AND name != 'calls nested too deeply' GROUP BY "
     "name",
     2, functions_take_entries},
    {0},
};

enum { SELF, SHARE, TOTAL, CALLS, MIN, MEAN, P50, P99, MAX, NAME };

static const struct fx_column columns[] = {
    [SELF] = {"self_ns", "self", FX_UNIT_NS},	 [SHARE] = {"self_share", "", FX_UNIT_SHARE},
    [TOTAL] = {"total_ns", "total", FX_UNIT_NS}, [CALLS] = {"calls", "calls", FX_UNIT_COUNT},
    [MIN] = {"min_ns", "min", FX_UNIT_NS},	 [MEAN] = {"mean_ns", "mean", FX_UNIT_NS},
    [P50] = {"p50_ns", "~p50", FX_UNIT_NS},	 [P99] = {"p99_ns", "~p99", FX_UNIT_NS},
    [MAX] = {"max_ns", "max", FX_UNIT_NS},	 [NAME] = {"name", "function", FX_UNIT_TEXT},
};

static void functions_row(const struct functions *functions, struct fx_table *table, uint32_t name)
{
	const struct function *function = &functions->items.items[name];
	const struct fx_spread *times = &function->times;

	fx_table_row(table);
	fx_table_string(table, NAME, name ? fx_report_text(functions->report, name)->data : "");
	if (times->count == 0) {
		fx_table_number(table, CALLS, (int64_t)function->entries);
		return;
	}
	fx_table_number(table, SELF, (int64_t)function->self);
	if (functions->self > 0 && function->is_function)
		fx_table_real(table, SHARE, (double)function->self / (double)functions->self);
	fx_table_number(table, TOTAL, (int64_t)function->total);
	fx_table_number(table, CALLS, (int64_t)times->count);
	fx_table_number(table, MIN, (int64_t)times->min);
	fx_table_number(table, MEAN, (int64_t)(times->total / times->count));
	fx_table_number(table, P50, (int64_t)fx_spread_percentile(times, 0.5));
	fx_table_number(table, P99, (int64_t)fx_spread_percentile(times, 0.99));
	fx_table_number(table, MAX, (int64_t)times->max);
}

static bool functions_shows(const struct functions *functions, uint32_t name)
{
	const struct function *function = &functions->items.items[name];

	return (function->times.count > 0 || function->entries > 0) &&
	       (!functions->edges || fx_edges_wants(functions->edges, name));
}

static uint64_t functions_total(const void *opaque, uint32_t name)
{
	const struct functions *functions = opaque;

	return name < functions->items.count ? functions->items.items[name].total : 0;
}

static void functions_tables(void *section)
{
	struct functions *functions = section;
	struct fx_table *table =
	    fx_table_new("functions", "Functions", columns, sizeof(columns) / sizeof(columns[0]));
	uint64_t unfinished = 0;
	size_t entered = 0;

	if (!table) {
		fx_report_fail(functions->report, -ENOMEM);
		return;
	}
	for (uint32_t name = 0; name < functions->items.count; name++) {
		if (!functions_shows(functions, name))
			continue;
		functions_row(functions, table, name);
		unfinished += functions->items.items[name].unfinished;
		entered += functions->items.items[name].times.count == 0;
	}
	if (entered > 0 && entered == fx_table_row_count(table))
		fx_table_sorted_by(table, CALLS);
	if (fx_table_row_count(table) == 0 && functions->edges)
		fx_table_note(table, "no call of this name is in the archive");
	else if (fx_table_row_count(table) == 0)
		fx_table_note(table,
			      "no function was recorded: they are where the program is built "
			      "with -finstrument-functions");
	else if (entered < fx_table_row_count(table))
		fx_table_note(table, "total is without a function's calls of itself; ~p50 and ~p99 "
				     "are estimates, at most 1/16 too high");
	if (entered > 0)
		fx_table_note(table,
			      "%zu function%s: the calls have no end: of these functions entries "
			      "alone are told (-pg, --patch)",
			      entered, entered == 1 ? "" : "s");
	if (unfinished > 0)
		fx_table_note(table, "%s call%s had not ended; counted until the archive's end",
			      FX_COUNT(unfinished), unfinished == 1 ? "" : "s");
	fx_report_add(functions->report, table);
	if (functions->edges)
		fx_edges_tables(functions->edges, functions_total, functions);
}

const struct fx_section fx_section_functions = {
    .create = functions_create,
    .enter = functions_enter,
    .leave = functions_leave,
    .instant = functions_instant,
    .tables = functions_tables,
    .destroy = functions_destroy,
    .asks = functions_asks,
};
