/* SPDX-License-Identifier: MIT */
/*
 * What a section of a report implements. The walk (report.h) goes through an archive thread by thread, each in order of
 * time, and makes these calls; in the end the section makes its tables.
 *
 *     create
 *     for each thread that the filter lets pass, in order of time:
 *             enter, leave, instant, counter, link
 *     switch_, wakeup          in order of time, after all threads
 *     tables
 *     destroy                  always
 *
 * Any but create, tables and destroy may be NULL. Calls and events that the filter does not let pass are not shown to
 * sections, unless these have calls for such; they count as the parents of those that are, and their time is no time of their parents' own.
 */
#ifndef FX_REPORT_SECTION_H
#define FX_REPORT_SECTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "convert/event-args.h"
#include "convert/export.h"
#include "report/kinds.h"
#include "report/table.h"

struct fx_report;

/* A call that is open in the walk. Times are those of the archive, cut to --from and --to. */
struct fx_open_call {
	const struct fx_thread *thread;
	uint64_t ts;
	uint64_t end;	   /* what did not finish ends with the archive */
	uint64_t inside;   /* ns in the calls that it made; complete when it is left */
	uint32_t name;	   /* number of a text: fx_report_text() */
	uint32_t category; /* the same */
	uint32_t depth;	   /* open calls around it */
	uint8_t kind;	   /* enum fx_call_kind */
	bool is_shown;	   /* the filter lets it pass */
	bool is_unfinished;
};

struct fx_ask;

struct fx_section {
	unsigned
	    kinds; /* of calls that enter and leave are to be told of: FX_KIND() of each; 0: all */
	bool looks_around; /* at calls of other kinds, too: those around, or what is inside */
	/* NULL: no memory. */
	void *(*create)(struct fx_report *report);
	/* `event' has its arguments; `end' is known already. */
	void (*enter)(void *section, const struct fx_open_call *call, const struct fx_event *event);
	void (*leave)(void *section, const struct fx_open_call *call);
	void (*instant)(void *section, const struct fx_event *event);
	void (*counter)(void *section, const struct fx_event *event, uint64_t id);
	/* The same for what the filter does not let pass. */
	void (*hidden_enter)(void *section, const struct fx_open_call *call,
			     const struct fx_event *event);
	void (*hidden_instant)(void *section, const struct fx_event *event);
	/* An event in which arrows begin or end, whatever the filter says of it; behind its enter or instant. */
	void (*link)(void *section, const struct fx_event *event);
	void (*switch_)(void *section, const struct fx_switch *sched);
	void (*wakeup)(void *section, const struct fx_wakeup *wakeup);
	/* Adds its tables: fx_report_add(). */
	void (*tables)(void *section);
	void (*destroy)(void *section);
	/* What a database server is asked for in the walk's place (ask.h), up to one without a `select'; NULL: it cannot be. */
	const struct fx_ask *asks;
};

#define FX_SECTION(name, is_usual, help) extern const struct fx_section fx_section_##name;
#include "report/sections.def"
#undef FX_SECTION

/* Of the objects that are asked for. */
extern const struct fx_section fx_section_history;

/* --- What sections may ask ------------------------------------------------------------------- */

/* All texts, and the text of a number. */
const struct fx_texts *fx_report_texts(const struct fx_report *report);
const struct fx_text *fx_report_text(const struct fx_report *report, uint32_t number);

/* The number of a text, which becomes one of the archive's texts; 0: it is empty, or there is no memory. */
uint32_t fx_report_intern(struct fx_report *report, const char *text, size_t length);

/* The same for texts of which there may be any number, such as paths: 0 also if so many were kept that there is no room. */
uint32_t fx_report_intern_some(struct fx_report *report, const char *text, size_t length);

/* The largest number of a text so far. */
uint32_t fx_report_text_count(const struct fx_report *report);

/* The calls that are open, the innermost last; in enter and leave, that is the call itself. */
const struct fx_open_call *fx_report_stack(const struct fx_report *report, size_t *ret_count);

const struct fx_timeline *fx_report_timeline(const struct fx_report *report);
const struct fx_report_order *fx_report_order(const struct fx_report *report);

/* The time that the report is of: from the first event, or --from, to the last one, or --to. */
uint64_t fx_report_begin(const struct fx_report *report);
uint64_t fx_report_end(const struct fx_report *report);

/* A section that has no memory left says so, and the report fails. */
void fx_report_fail(struct fx_report *report, int error);

/* For lists that are put in order; they are to be released before the timeline is closed. */
struct fx_runs_pool *fx_report_pool(struct fx_report *report);

/* Something that was asked for is not there: one line. */
void fx_report_miss(struct fx_report *report, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Takes the table over; NULL: no memory. */
void fx_report_add(struct fx_report *report, struct fx_table *table);

#endif
