/* SPDX-License-Identifier: MIT */
/* What sections may ask of the report that they are of. */
#include "config.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "report/report-state.h"

/* Texts of unbounded number, such as paths, that are kept. */
enum { TEXTS_MAX = 1000000 };

const struct fx_texts *fx_report_texts(const struct fx_report *report)
{
	return report->exporter.timeline->strings;
}

const struct fx_text *fx_report_text(const struct fx_report *report, uint32_t number)
{
	return fx_texts_get(report->exporter.timeline->strings, number);
}

uint32_t fx_report_intern(struct fx_report *report, const char *text, size_t length)
{
	uint32_t number;

	if (length == 0)
		return 0;
	number = fx_texts_add(report->exporter.timeline->strings, text, length);
	if (!number)
		fx_report_fail(report, -ENOMEM);
	return number;
}

uint32_t fx_report_intern_some(struct fx_report *report, const char *text, size_t length)
{
	uint32_t before = fx_report_text_count(report), number;

	if (length == 0)
		return 0;
	if (report->texts_made >= TEXTS_MAX)
		return fx_texts_find(report->exporter.timeline->strings, text, length);
	number = fx_report_intern(report, text, length);
	report->texts_made += number > before;
	return number;
}

uint32_t fx_report_text_count(const struct fx_report *report)
{
	return fx_texts_count(report->exporter.timeline->strings);
}

const struct fx_open_call *fx_report_stack(const struct fx_report *report, size_t *ret_count)
{
	*ret_count = report->stack.count;
	return report->stack.items;
}

const struct fx_timeline *fx_report_timeline(const struct fx_report *report)
{
	return report->exporter.timeline;
}

const struct fx_report_order *fx_report_order(const struct fx_report *report)
{
	return report->order;
}

uint64_t fx_report_begin(const struct fx_report *report)
{
	return report->begin;
}

uint64_t fx_report_end(const struct fx_report *report)
{
	return report->end;
}

struct fx_runs_pool *fx_report_pool(struct fx_report *report)
{
	return &report->exporter.timeline->pool;
}

void fx_report_miss(struct fx_report *report, const char *format, ...)
{
	char *said, *line;
	va_list args;
	int r;

	va_start(args, format);
	r = vasprintf(&said, format, args);
	va_end(args);
	if (r < 0) {
		fx_report_fail(report, -ENOMEM);
		return;
	}
	r = asprintf(&line, "%s%s", said, report->lost > 0 ? "; records were lost" : "");
	free(said);
	if (r < 0 || fx_vector_reserve(&report->missing, 1) < 0)
		fx_report_fail(report, -ENOMEM);
	else
		report->missing.items[report->missing.count++] = line;
}

void fx_report_fail(struct fx_report *report, int error)
{
	report->exporter.error = error;
}

void fx_report_add(struct fx_report *report, struct fx_table *table)
{
	if (!table || fx_vector_reserve(&report->tables, 1) < 0) {
		fx_table_free(table);
		fx_report_fail(report, -ENOMEM);
		return;
	}
	report->tables.items[report->tables.count++] = table;
}
