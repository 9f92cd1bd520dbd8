/* SPDX-License-Identifier: MIT */
/* Functions that drown the others: called often, and over so soon that recording them costs about as much as they do. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "lists/vector.h"
#include "report/kinds.h"
#include "report/report.h"
#include "report/section.h"

/* Of all calls of functions, at least so many are of one that is named; and on the average it takes no longer, in ns, without
 * what it calls. A call that is recorded costs some 25 ns. */
#define SUGGEST_SHARE 0.01
#define SUGGEST_MEAN  500u
#define SUGGEST_CALLS 1000u /* of an archive with fewer there is nothing to win */

struct suggest_function {
	uint64_t calls;
	uint64_t self; /* ns */
};

struct suggest {
	struct fx_report *report;
	FX_VECTOR(struct suggest_function) items; /* by the number of the name */
	uint64_t calls;				  /* of all functions */
};

static void suggest_destroy(void *section)
{
	struct suggest *suggest = section;

	fx_vector_free(&suggest->items);
	free(suggest);
}

static void *suggest_create(struct fx_report *report)
{
	struct suggest *suggest = calloc(1, sizeof(*suggest));

	if (suggest)
		suggest->report = report;
	return suggest;
}

static void suggest_leave(void *section, const struct fx_open_call *call)
{
	struct suggest *suggest = section;
	uint64_t time = call->end - call->ts;

	if (call->name >= suggest->items.count) {
		size_t count = suggest->items.count, more = call->name + 1 - count;

		if (fx_vector_reserve(&suggest->items, more) < 0) {
			fx_report_fail(suggest->report, -ENOMEM);
			return;
		}
		memset(suggest->items.items + count, 0, more * sizeof(struct suggest_function));
		suggest->items.count += more;
	}
	suggest->items.items[call->name].calls++;
	/* Cut to --from and --to, what is inside can seem longer by nothing at all. */
	suggest->items.items[call->name].self += call->inside < time ? time - call->inside : 0;
	suggest->calls++;
}

static bool suggest_names(const struct suggest *suggest, const struct suggest_function *function)
{
	return suggest->calls >= SUGGEST_CALLS &&
	       (double)function->calls >= SUGGEST_SHARE * (double)suggest->calls &&
	       function->self / function->calls <= SUGGEST_MEAN;
}

enum { CALLS, SHARE, MEAN, NAME };

static const struct fx_column columns[] = {
    [CALLS] = {"calls", "calls", FX_UNIT_COUNT},
    [SHARE] = {"calls_share", "", FX_UNIT_SHARE},
    [MEAN] = {"self_mean_ns", "self, mean", FX_UNIT_NS},
    [NAME] = {"name", "function", FX_UNIT_TEXT},
};

static void suggest_tables(void *section)
{
	struct suggest *suggest = section;
	struct fx_table *table = fx_table_new("suggest", "Functions to leave out", columns,
					      sizeof(columns) / sizeof(columns[0]));
	uint64_t named = 0;

	if (!table) {
		fx_report_fail(suggest->report, -ENOMEM);
		return;
	}
	for (uint32_t name = 1; name < suggest->items.count; name++) {
		const struct suggest_function *function = &suggest->items.items[name];

		if (!function->calls || !suggest_names(suggest, function))
			continue;
		fx_table_row(table);
		fx_table_number(table, CALLS, (int64_t)function->calls);
		fx_table_real(table, SHARE, (double)function->calls / (double)suggest->calls);
		fx_table_number(table, MEAN, (int64_t)(function->self / function->calls));
		fx_table_string(table, NAME, fx_report_text(suggest->report, name)->data);
		named += function->calls;
	}
	if (fx_table_row_count(table) == 0)
		fx_table_note(table,
			      "none is called so often and over so soon that it hides the others");
	else
		fx_table_note(table,
			      "they are %.0f %% of all calls; --names lists them for --no-trace of "
			      "fxtrace run, or "
			      "for the plugin's no-functions=@FILE, which saves their time too",
			      100.0 * (double)named / (double)suggest->calls);
	fx_report_add(suggest->report, table);
}

const struct fx_section fx_section_suggest = {
    .kinds = FX_KIND(FUNCTION),
    .looks_around = true,
    .create = suggest_create,
    .leave = suggest_leave,
    .tables = suggest_tables,
    .destroy = suggest_destroy,
};
