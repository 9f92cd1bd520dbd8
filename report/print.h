/* SPDX-License-Identifier: MIT */
/* Tables of a report as text for people, as JSON, or as CSV. */
#ifndef FX_REPORT_PRINT_H
#define FX_REPORT_PRINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "report/table.h"

enum fx_print_style { FX_PRINT_TEXT, FX_PRINT_JSON, FX_PRINT_CSV };

struct fx_print {
	FILE *out;
	enum fx_print_style style;
	unsigned width; /* of the terminal, in columns; 0: as wide as needed */
	bool color;
	size_t printed; /* tables so far; begins as 0 */
};

/* Around all tables: JSON is one object, whose members are the tables by name. */
void fx_print_begin(struct fx_print *print);
void fx_print_table(struct fx_print *print, const struct fx_table *table);
void fx_print_end(struct fx_print *print);

#endif
