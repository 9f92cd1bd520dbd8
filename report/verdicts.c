/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <errno.h>
#include <string.h>

#include "report/verdicts.h"

static const struct fx_report_facts no_facts = {FX_VERDICT_PASS, FX_VERDICT_PASS, FX_CALL_OTHER};

static struct fx_report_facts *report_add_facts(struct fx_report *report, uint32_t text)
{
	size_t count = report->facts.count, more = text + 1 - count;

	if (fx_vector_reserve(&report->facts, more) < 0) {
		report->exporter.error = -ENOMEM;
		return NULL;
	}
	memset(report->facts.items + count, 0, more * sizeof(struct fx_report_facts));
	report->facts.count += more;
	return &report->facts.items[text];
}

static inline struct fx_report_facts *report_facts(struct fx_report *report, uint32_t text)
{
	return text < report->facts.count ? &report->facts.items[text]
					  : report_add_facts(report, text);
}

static const char *report_text_data(const struct fx_report *report, uint32_t text)
{
	return text ? fx_report_text(report, text)->data : "";
}

static const struct fx_report_facts *report_name_facts(struct fx_report *report, uint32_t name)
{
	struct fx_report_facts *facts = report_facts(report, name);

	if (!facts)
		return &no_facts;
	if (facts->as_name == FX_VERDICT_UNKNOWN)
		facts->as_name =
		    fx_patterns_match(&report->order->filter.names, report_text_data(report, name))
			? FX_VERDICT_PASS
			: FX_VERDICT_REFUSE;
	return facts;
}

const struct fx_report_facts *fx_report_category_facts(struct fx_report *report, uint32_t category)
{
	struct fx_report_facts *facts = report_facts(report, category);

	if (!facts)
		return &no_facts;
	if (facts->as_category == FX_VERDICT_UNKNOWN) {
		const char *text = report_text_data(report, category);

		facts->kind = fx_call_kind_of(text);
		facts->as_category = fx_patterns_match(&report->order->filter.categories, text)
					 ? FX_VERDICT_PASS
					 : FX_VERDICT_REFUSE;
	}
	return facts;
}

bool fx_report_shows(struct fx_report *report, const struct fx_event *event,
		     const struct fx_report_facts *category)
{
	uint64_t end = event->end > event->ts ? event->end : event->ts;

	return report->thread_passes && end >= report->begin && event->ts <= report->end &&
	       category->as_category == FX_VERDICT_PASS &&
	       report_name_facts(report, event->name->serial)->as_name == FX_VERDICT_PASS;
}
