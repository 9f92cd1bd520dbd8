/* SPDX-License-Identifier: MIT */
/* What a report keeps while it is made: for the files that make it. */
#ifndef FX_REPORT_REPORT_STATE_H
#define FX_REPORT_REPORT_STATE_H

#include "report/report.h"
#include "report/section.h"

/* What the filter says of a text: asked once for each. */
enum { FX_VERDICT_UNKNOWN, FX_VERDICT_PASS, FX_VERDICT_REFUSE };

struct fx_report_facts {
	uint8_t as_name, as_category; /* FX_VERDICT_ */
	uint8_t kind;		      /* enum fx_call_kind, once as_category is known */
};

/* One stands in no table of sections: it is of objects that are asked for. */
enum { FX_REPORT_SECTIONS_MAX = FX_SECTION_COUNT + 1 };

/* The sections that are told of calls of a kind. */
struct fx_report_listeners {
	size_t enter_count, leave_count;
	struct {
		void (*tell)(void *section, const struct fx_open_call *call,
			     const struct fx_event *event);
		void *state;
	} enter[FX_REPORT_SECTIONS_MAX];
	struct {
		void (*tell)(void *section, const struct fx_open_call *call);
		void *state;
	} leave[FX_REPORT_SECTIONS_MAX];
};

struct fx_report {
	struct fx_exporter exporter; /* first: the walk hands it to us */
	const struct fx_report_order *order;
	const struct fx_section *sections[FX_REPORT_SECTIONS_MAX];
	void *states[FX_REPORT_SECTIONS_MAX];
	size_t section_count;
	/* The same, by the kinds of calls that they are told of. */
	struct fx_report_listeners listeners[FX_CALL_KIND_COUNT];
	uint64_t begin, end;
	bool thread_passes;
	uint64_t texts_made; /* fx_report_intern_some() */
	uint64_t lost;	     /* records that the archive says are missing */
	char cure[120];	     /* what would have kept them; "": nothing known */
	FX_VECTOR(struct fx_open_call) stack;
	FX_VECTOR(struct fx_report_facts) facts;
	FX_VECTOR(struct fx_table *) tables;
	FX_VECTOR(char *) missing;
};

/* Whether a section is told of events, and not by a server. */
static inline bool fx_section_is_told(const struct fx_report_order *order,
				      const struct fx_section *section)
{
	return !order->is_asked || !section->asks;
}

/* Calls a function of each section that has it. */
#define FX_REPORT_EACH_SECTION(report, function, ...)                                              \
	for (size_t i_ = 0; i_ < (report)->section_count; i_++) {                                  \
		if ((report)->sections[i_]->function &&                                            \
		    fx_section_is_told((report)->order, (report)->sections[i_]))                   \
			(report)->sections[i_]->function((report)->states[i_], ##__VA_ARGS__);     \
	}

static inline struct fx_report *fx_report_of(struct fx_exporter *exporter)
{
	return (struct fx_report *)exporter;
}

#endif
