/* SPDX-License-Identifier: MIT */
/* A report from its begin to its end: which sections it has, the walk, their tables. */
#include "config.h"

#include <errno.h>
#include <stdlib.h>

#include "convert/convert.h"
#include "report/report-state.h"
#include "report/report.h"
#include "report/units.h"
#include "report/walk.h"

struct section_entry {
	const struct fx_section *section;
	bool is_usual;
};

static const struct section_entry section_table[] = {
#define FX_SECTION(name, is_usual, help) {&fx_section_##name, is_usual},
#include "report/sections.def"
#undef FX_SECTION
};

static void report_add_listener(struct fx_report_listeners *listeners,
				const struct fx_section *section, void *state)
{
	if (section->enter) {
		listeners->enter[listeners->enter_count].tell = section->enter;
		listeners->enter[listeners->enter_count++].state = state;
	}
	if (section->leave) {
		listeners->leave[listeners->leave_count].tell = section->leave;
		listeners->leave[listeners->leave_count++].state = state;
	}
}

static void report_listen(struct fx_report *report, const struct fx_section *section, void *state)
{
	for (unsigned kind = 0; kind < FX_CALL_KIND_COUNT; kind++) {
		if (section->kinds == 0 || (section->kinds >> kind & 1))
			report_add_listener(&report->listeners[kind], section, state);
	}
}

static int report_create_section(struct fx_report *report, const struct fx_section *section)
{
	size_t at = report->section_count;

	report->sections[at] = section;
	report->states[at] = section->create(report);
	if (!report->states[at])
		return -ENOMEM;
	if (fx_section_is_told(report->order, section))
		report_listen(report, section, report->states[at]);
	report->section_count++;
	return 0;
}

static int report_create_sections(struct fx_report *report)
{
	bool any = report->order->objects.count > 0;
	int r = any ? report_create_section(report, &fx_section_history) : 0;

	for (size_t i = 0; i < FX_SECTION_COUNT; i++)
		any |= report->order->sections[i];
	for (size_t i = 0; i < FX_SECTION_COUNT && r == 0; i++) {
		if (any ? report->order->sections[i] : section_table[i].is_usual)
			r = report_create_section(report, section_table[i].section);
	}
	return r;
}

static void report_set_span(struct fx_report *report)
{
	const struct fx_timeline *timeline = report->exporter.timeline;
	const struct fx_filter *filter = &report->order->filter;
	uint64_t first = timeline->first_ts == UINT64_MAX ? 0 : timeline->first_ts;
	uint64_t last = timeline->last_ts;

	report->begin = filter->from < UINT64_MAX - first ? first + filter->from : last;
	report->end = filter->to < last - first ? first + filter->to : last;
	if (report->begin > last)
		report->begin = last;
	if (report->end < report->begin)
		report->end = report->begin;
}

static int report_arrange_tables(struct fx_report *report)
{
	bool sorted = !report->order->sort;

	for (size_t i = 0; i < report->tables.count; i++) {
		struct fx_table *table = report->tables.items[i];

		if (fx_table_error(table) < 0)
			return -ENOMEM;
		if (fx_table_arrange(table, report->order->sort, report->order->top) == 0)
			sorted = true;
		else
			fx_table_arrange(table, NULL, report->order->top);
	}
	return sorted ? 0 : -ENOENT;
}

/* The tables of a section; where records are missing, the first one says so. */
static void report_add_tables(struct fx_report *report, size_t section)
{
	size_t before = report->tables.count;

	report->sections[section]->tables(report->states[section]);
	if (report->lost > 0 && report->tables.count > before)
		fx_table_note(report->tables.items[before],
			      "%s records were lost, so numbers are too low%s%s",
			      FX_COUNT(report->lost), *report->cure ? "; to keep them: " : "",
			      report->cure);
}

int fx_report_fill(struct fx_report *report)
{
	for (size_t i = 0; i < report->section_count; i++)
		report_add_tables(report, i);
	return report->exporter.error < 0 ? report->exporter.error : report_arrange_tables(report);
}

int fx_report_open(struct fx_timeline *timeline, const struct fx_report_order *order,
		   struct fx_report **ret)
{
	struct fx_report *report = calloc(1, sizeof(*report));

	if (!report)
		return -ENOMEM;
	report->exporter = (struct fx_exporter){.ops = &fx_report_ops, .timeline = timeline};
	report->order = order;
	report_set_span(report);
	if (report_create_sections(report) < 0) {
		fx_report_free(report);
		return -ENOMEM;
	}
	*ret = report;
	return 0;
}

struct fx_exporter *fx_report_exporter(struct fx_report *report)
{
	return &report->exporter;
}

int fx_report_make(struct fx_timeline *timeline, const struct fx_report_order *order,
		   fx_progress *progress, void *opaque, struct fx_report **ret)
{
	struct fx_report *report;
	int r = fx_report_open(timeline, order, &report);

	if (r < 0)
		return r;
	r = fx_convert(&report->exporter, progress, opaque);
	if (r == 0)
		r = fx_report_fill(report);
	if (r < 0)
		fx_report_free(report);
	else
		*ret = report;
	return r;
}

void fx_report_free(struct fx_report *report)
{
	if (!report)
		return;
	for (size_t i = 0; i < report->section_count; i++)
		report->sections[i]->destroy(report->states[i]);
	for (size_t i = 0; i < report->tables.count; i++)
		fx_table_free(report->tables.items[i]);
	fx_vector_free(&report->tables);
	for (size_t i = 0; i < report->missing.count; i++)
		free(report->missing.items[i]);
	fx_vector_free(&report->missing);
	fx_vector_free(&report->stack);
	fx_vector_free(&report->facts);
	free(report);
}

const char *fx_report_missing(const struct fx_report *report, size_t number)
{
	return number < report->missing.count ? report->missing.items[number] : NULL;
}

size_t fx_report_table_count(const struct fx_report *report)
{
	return report->tables.count;
}

const struct fx_table *fx_report_table(const struct fx_report *report, size_t number)
{
	return report->tables.items[number];
}
