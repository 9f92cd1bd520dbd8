/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "client/quantity.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct unit {
	const char *name;
	uint64_t factor;
};

static const struct unit counts[] = {{"", 1}, {NULL, 0}};
static const struct unit sizes[] = {{"", 1},	    {"K", 1 << 10}, {"M", 1 << 20}, {"G", 1 << 30},
				    {"k", 1 << 10}, {"m", 1 << 20}, {"g", 1 << 30}, {NULL, 0}};
static const struct unit times[] = {
    {"ns", 1},
    {"us", 1000},
    {"ms", 1000000},
    {"s", 1000000000},
    {"min", UINT64_C(60) * 1000000000},
    {"h", UINT64_C(3600) * 1000000000},
    {NULL, 0},
};

static const struct unit *const tables[] = {
    [FX_QUANTITY_COUNTS] = counts,
    [FX_QUANTITY_SIZES] = sizes,
    [FX_QUANTITY_TIMES] = times,
};

bool fx_quantity_parse(const char *text, enum fx_quantity what, uint64_t *ret)
{
	size_t length = strspn(text, "0123456789.");
	char *end;
	double value;

	if (!isdigit((unsigned char)text[0]))
		return false;
	value = strtod(text, &end);
	if (end != text + length) /* it takes hexadecimal numbers and exponents as well */
		return false;
	for (const struct unit *unit = tables[what]; unit->name; unit++) {
		double scaled = value * (double)unit->factor;

		if (strcmp(unit->name, end) != 0)
			continue;
		if (scaled > (double)(UINT64_MAX / 4))
			return false;
		*ret = (uint64_t)scaled;
		return true;
	}
	return false;
}

bool fx_quantity_of_glob(const char *text, char *ret, size_t size)
{
	const char *sign = strrchr(text, '=');
	uint64_t ns;
	int n;

	if (!sign || sign == text || !fx_quantity_parse(sign + 1, FX_QUANTITY_TIMES, &ns))
		return false;
	n = snprintf(ret, size, "%.*s=%" PRIu64, (int)(sign - text), text, ns);
	return n > 0 && (size_t)n < size;
}
