/* SPDX-License-Identifier: MIT */
/* Samples: in which functions threads were found that had a processor, and below which. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "convert/sample.h"
#include "report/report.h"
#include "report/section.h"
#include "report/units.h"

struct samples_function {
	uint64_t self;	/* samples that found it innermost, */
	uint64_t total; /* and those that found it at all */
	uint64_t self_ns, total_ns;
	uint64_t newest; /* the number of the sample that found it last */
};

struct samples {
	struct fx_report *report;
	FX_VECTOR(struct samples_function) items; /* by the number of the name */
	uint64_t count;
	uint64_t ns;
};

static void *samples_create(struct fx_report *report)
{
	struct samples *samples = calloc(1, sizeof(*samples));

	if (samples)
		samples->report = report;
	return samples;
}

static void samples_destroy(void *section)
{
	struct samples *samples = section;

	fx_vector_free(&samples->items);
	free(samples);
}

/* NULL: no memory, or no name. */
static struct samples_function *samples_find(struct samples *samples, const char *name,
					     size_t length)
{
	uint32_t number = fx_report_intern(samples->report, name, length);
	size_t count = samples->items.count, more = number + 1 - count;

	if (!number)
		return NULL;
	if (number < count)
		return &samples->items.items[number];
	if (fx_vector_reserve(&samples->items, more) < 0) {
		fx_report_fail(samples->report, -ENOMEM);
		return NULL;
	}
	memset(samples->items.items + count, 0, more * sizeof(*samples->items.items));
	samples->items.count += more;
	return &samples->items.items[number];
}

/* Of a function that stands there several times, one counts. */
static void samples_found(struct samples *samples, const char *name, size_t length, bool innermost,
			  uint64_t period)
{
	struct samples_function *function = samples_find(samples, name, length);

	if (!function)
		return;
	if (innermost) {
		function->self++;
		function->self_ns += period;
	}
	if (function->newest == samples->count)
		return;
	function->newest = samples->count;
	function->total++;
	function->total_ns += period;
}

static void samples_instant(void *section, const struct fx_event *event)
{
	struct samples *samples = section;
	const struct fxt_string *stack = fx_sample_stack(event);
	uint64_t period = fx_sample_period(event);
	char name[FX_SAMPLE_NAME_MAX];
	const char *line, *end;

	if (!stack)
		return;
	samples->count++;
	samples->ns += period;
	line = stack->data;
	end = line + stack->length;
	for (bool innermost = true; line < end; innermost = false) {
		const char *newline = memchr(line, '\n', (size_t)(end - line));
		const char *behind = newline ? newline : end;

		size_t length =
		    fx_sample_function(line, (size_t)(behind - line), name, sizeof(name));

		samples_found(samples, name, length, innermost, period);
		line = behind + 1;
	}
}

enum { SELF, SHARE, TOTAL, TOTAL_SHARE, SAMPLES, NAME };

static const struct fx_column columns[] = {
    [SELF] = {"self_ns", "self", FX_UNIT_NS},
    [SHARE] = {"self_share", "", FX_UNIT_SHARE},
    [TOTAL] = {"total_ns", "total", FX_UNIT_NS},
    [TOTAL_SHARE] = {"total_share", "", FX_UNIT_SHARE},
    [SAMPLES] = {"samples", "samples", FX_UNIT_COUNT},
    [NAME] = {"name", "function", FX_UNIT_TEXT},
};

/* The largest first; what stands alike in the first column, by the whole. */
static int samples_before(const void *a, const void *b, void *opaque)
{
	const struct samples *samples = opaque;
	const struct samples_function *left = &samples->items.items[*(const uint32_t *)a];
	const struct samples_function *right = &samples->items.items[*(const uint32_t *)b];

	if (left->self != right->self)
		return left->self > right->self ? -1 : 1;
	if (left->total != right->total)
		return left->total > right->total ? -1 : 1;
	return 0;
}

/* The functions that were found, in order; NULL: no memory. */
static uint32_t *samples_order(struct samples *samples, size_t *count)
{
	uint32_t *order = calloc(samples->items.count + 1, sizeof(*order));

	*count = 0;
	for (uint32_t name = 1; order && name < samples->items.count; name++) {
		if (samples->items.items[name].total)
			order[(*count)++] = name;
	}
	if (order)
		qsort_r(order, *count, sizeof(*order), samples_before, samples);
	return order;
}

static void samples_row(const struct samples *samples, struct fx_table *table, uint32_t name)
{
	const struct samples_function *function = &samples->items.items[name];

	fx_table_row(table);
	fx_table_number(table, SELF, (int64_t)function->self_ns);
	fx_table_real(table, SHARE, (double)function->self / (double)samples->count);
	fx_table_number(table, TOTAL, (int64_t)function->total_ns);
	fx_table_real(table, TOTAL_SHARE, (double)function->total / (double)samples->count);
	fx_table_number(table, SAMPLES, (int64_t)function->total);
	fx_table_string(table, NAME, fx_report_text(samples->report, name)->data);
}

static void samples_tables(void *section)
{
	struct samples *samples = section;
	struct fx_table *table = fx_table_new("samples", "Functions by samples", columns,
					      sizeof(columns) / sizeof(columns[0]));

	size_t count;
	uint32_t *order = samples_order(samples, &count);

	if (!table || !order) {
		fx_report_fail(samples->report, -ENOMEM);
		free(order);
		return;
	}
	for (size_t i = 0; i < count; i++)
		samples_row(samples, table, order[i]);
	free(order);
	if (samples->count)
		fx_table_note(
		    table,
		    "%s sample%s: self is of those that found the function innermost, total "
		    "of all that found it",
		    FX_COUNT(samples->count), samples->count == 1 ? "" : "s");
	else
		fx_table_note(table, "none were taken: `fxtrace run --sample 999' does");
	fx_report_add(samples->report, table);
}

const struct fx_section fx_section_samples = {
    .create = samples_create,
    .instant = samples_instant,
    .tables = samples_tables,
    .destroy = samples_destroy,
};
