/* SPDX-License-Identifier: MIT */
/*
 * A report: what an archive says, in tables. The sections (section.h, sections.def) see the events, one walk for all of
 * them.
 */
#ifndef FX_REPORT_REPORT_H
#define FX_REPORT_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "convert/export.h"
#include "convert/timeline.h"
#include "report/filter.h"
#include "report/table.h"
#include "report/wanted.h"

#define FX_ENUM_SECTION_(name, is_usual, help) FX_SECTION_##name,
enum fx_section_number {
#define FX_SECTION FX_ENUM_SECTION_
#include "report/sections.def"
#undef FX_SECTION
	FX_SECTION_COUNT
};

/* What a report is to say. */
struct fx_report_order {
	bool sections[FX_SECTION_COUNT]; /* none: the usual ones */
	struct fx_filter filter;
	size_t top;	  /* rows of a table; 0: all */
	const char *sort; /* key of a column; NULL: as each table is best sorted */
	/* Functions whose callers and callees are wanted; the others are then left out. */
	struct fx_patterns functions;
	size_t paths;  /* of the tree, that are told apart */
	bool is_asked; /* sections that a server can tell are not told of events: ask.h */
	/* Objects whose history is wanted; without sections, it is all that is told. */
	struct {
		const struct fx_wanted *items;
		size_t count;
	} objects;
};

struct fx_report;

/*
 * Walks through the timeline (borrowed, and its events are gone then) and makes the tables. Returns 0 or -errno:
 * -ENOENT if no table has the column to sort by, -ENOMEM.
 */
int fx_report_make(struct fx_timeline *timeline, const struct fx_report_order *order,
		   fx_progress *progress, void *opaque, struct fx_report **ret);

/*
 * The same in steps, for a caller that walks through the timeline itself: the exporter is to be told of all, and then the tables are
 * made. fx_report_open() returns 0 or -ENOMEM, and then there is none; fx_report_fill() as fx_report_make() does, but the
 * report is to be freed either way.
 */
int fx_report_open(struct fx_timeline *timeline, const struct fx_report_order *order,
		   struct fx_report **ret);
struct fx_exporter *fx_report_exporter(struct fx_report *report);
int fx_report_fill(struct fx_report *report);

/* NULL is allowed. */
void fx_report_free(struct fx_report *report);

/* Lines about what was asked for and is not there; NULL: there are no more. */
const char *fx_report_missing(const struct fx_report *report, size_t number);

size_t fx_report_table_count(const struct fx_report *report);
const struct fx_table *fx_report_table(const struct fx_report *report, size_t number);

#endif
