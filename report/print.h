/* SPDX-License-Identifier: MIT */
/* Tables of a report as text for people, as JSON, as CSV, for a page, or the names alone. */
#ifndef FX_REPORT_PRINT_H
#define FX_REPORT_PRINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "report/table.h"

enum fx_print_style {
	FX_PRINT_TEXT,
	FX_PRINT_JSON,
	FX_PRINT_CSV,
	FX_PRINT_NAMES,
	FX_PRINT_PAGE, /* JSON for a page: page.c */
};

/* Tables without rows beyond that have a heading each. */
#define FX_PRINT_EMPTY_MAX 32u

struct fx_print {
	FILE *out;
	enum fx_print_style style;
	unsigned width; /* of the terminal, in columns; 0: as wide as needed */
	bool color;
	size_t printed; /* tables so far; begins as 0 */
	/* titles of those that had nothing to say: one line at the end names them, for people; borrowed from the tables */
	const char *empty[FX_PRINT_EMPTY_MAX];
	size_t empty_count;
};

/* Around all tables: JSON is one object, whose members are the tables by name. */
void fx_print_begin(struct fx_print *print);
void fx_print_table(struct fx_print *print, const struct fx_table *table);
void fx_print_end(struct fx_print *print);

/* A table in the style of pages. */
void fx_print_page_table(struct fx_print *print, const struct fx_table *table);

/*
 * At most `width' columns of a text (0: all), with an ellipsis where it is cut. What a terminal would obey is shown as
 * a question mark: control characters, C1 ones (U+0080 to U+009F) too; and so is each byte that is no UTF-8.
 */
void fx_print_shown(FILE *out, const char *text, size_t length, size_t width);

/* A text as JSON, in its quotation marks. Control characters are escaped, C1 ones too; so is `<', since JSON may be put into a
 * page. The text is UTF-8. */
void fx_print_json_text(FILE *out, const char *text, size_t length);

/* A text as a field of CSV, in its quotation marks. Control characters, and bytes that are no UTF-8, are escaped as texts
 * of archives are (base/escape.h): so a line is a row, and a terminal has nothing to obey. */
void fx_print_csv_text(FILE *out, const char *text, size_t length);

#endif
