/* SPDX-License-Identifier: MIT */
/* Numbers as people read them: each with its unit, four digits at most. */
#ifndef FX_REPORT_UNITS_H
#define FX_REPORT_UNITS_H

#include <stdint.h>

#include "report/table.h"

enum { FX_UNIT_TEXT_MAX = 40 };

/* "1.234 ms"; "6,000,025"; "12.3 MB"; "25.0 %". `text' has room for FX_UNIT_TEXT_MAX bytes. */
void fx_unit_number(enum fx_unit unit, int64_t value, char *text);
/* The same of FX_UNIT_NS, for very many times: returns what is behind the text, which is not terminated. */
char *fx_unit_time(uint64_t ns, char *text);
void fx_unit_real(enum fx_unit unit, double value, char *text);

/* A count in a sentence: "6,000,025"; the text lasts as long as the block. */
#define FX_COUNT(count) fx_unit_count((count), (char[FX_UNIT_TEXT_MAX]){""})
const char *fx_unit_count(uint64_t count, char text[FX_UNIT_TEXT_MAX]);

#endif
