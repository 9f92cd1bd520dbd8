/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <stdio.h>

#include "report/ask.h"
#include "report/report-state.h"

static const struct fx_section *const ask_sections[] = {
#define FX_SECTION(name, is_usual, help) &fx_section_##name,
#include "report/sections.def"
#undef FX_SECTION
};

bool fx_report_can_ask(enum fx_section_number section)
{
	return ask_sections[section]->asks;
}

bool fx_report_walks(const struct fx_report_order *order, unsigned *ret_kinds)
{
	bool any = false, all = order->objects.count > 0;

	*ret_kinds = 0;
	for (size_t i = 0; i < FX_SECTION_COUNT; i++) {
		const struct fx_section *section = ask_sections[i];

		if (!order->sections[i] || !fx_section_is_told(order, section))
			continue;
		any = true;
		all |= section->kinds == 0 || section->looks_around;
		*ret_kinds |= section->kinds;
	}
	/* A filter may let any call pass, or hide it. */
	if (all || fx_filter_is_set(&order->filter) || order->functions.count > 0)
		*ret_kinds = 0;
	return any || all;
}

/* Finds a question, and the section that has it. */
static const struct fx_ask *ask_find(const struct fx_report *report, size_t number,
				     size_t *ret_section)
{
	for (size_t i = 0; report->order->is_asked && i < report->section_count; i++) {
		for (const struct fx_ask *ask = report->sections[i]->asks; ask && ask->select;
		     ask++) {
			*ret_section = i;
			if (number-- == 0)
				return ask;
		}
	}
	return NULL;
}

const struct fx_ask *fx_report_ask(const struct fx_report *report, size_t number)
{
	size_t section;

	return ask_find(report, number, &section);
}

void fx_report_take(struct fx_report *report, size_t number, char **fields)
{
	size_t section;
	const struct fx_ask *ask = ask_find(report, number, &section);

	if (ask)
		ask->take(report->states[section], fields);
}

void fx_report_set_lost(struct fx_report *report, uint64_t count, const char *cure)
{
	report->lost = count;
	snprintf(report->cure, sizeof(report->cure), "%s", cure);
}
