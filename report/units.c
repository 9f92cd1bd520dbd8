/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "report/units.h"

struct scale {
	double factor;
	const char *name;
};

/* From the largest to the smallest, whose factor is 1. */
static const struct scale times[] = {{3600e9, "h"}, {60e9, "min"}, {1e9, "s"},
				     {1e6, "ms"},   {1e3, "us"},   {1, "ns"}};
static const struct scale sizes[] = {{1e12, "TB"}, {1e9, "GB"}, {1e6, "MB"}, {1e3, "kB"}, {1, "B"}};

/* Four digits, whatever the point's place. */
static void unit_scaled(const struct scale *scale, double value, char *text)
{
	double size = value < 0 ? -value : value;
	int decimals;

	/* What would be rounded up to 1000 is one of the next unit already. */
	while (scale->factor > 1 && size < scale->factor * 0.99995)
		scale++;
	size /= scale->factor;
	if (scale->factor == 1)
		decimals = 0;
	else
		decimals = size < 9.9995 ? 3 : size < 99.995 ? 2 : size < 999.95 ? 1 : 0;
	snprintf(text, FX_UNIT_TEXT_MAX, "%.*f %s", decimals, value / scale->factor, scale->name);
}

/* 1234567 as 1,234,567. */
static void unit_grouped(int64_t value, char *text)
{
	char digits[24];
	size_t length, put = 0;

	snprintf(digits, sizeof(digits), "%" PRId64, value);
	length = strlen(digits);
	for (size_t i = 0; i < length; i++) {
		size_t left = length - i;

		if (i > 0 && left % 3 == 0 && digits[i - 1] != '-')
			text[put++] = ',';
		text[put++] = digits[i];
	}
	text[put] = 0;
}

void fx_unit_real(enum fx_unit unit, double value, char *text)
{
	switch (unit) {
	case FX_UNIT_NS:
	case FX_UNIT_MOMENT:
		unit_scaled(times, value, text);
		return;
	case FX_UNIT_BYTES:
		unit_scaled(sizes, value, text);
		return;
	case FX_UNIT_SHARE:
		snprintf(text, FX_UNIT_TEXT_MAX, "%.1f %%", value * 100);
		return;
	default:
		snprintf(text, FX_UNIT_TEXT_MAX, "%.4g", value);
	}
}

void fx_unit_number(enum fx_unit unit, int64_t value, char *text)
{
	switch (unit) {
	case FX_UNIT_COUNT:
		unit_grouped(value, text);
		return;
	case FX_UNIT_NS:
	case FX_UNIT_MOMENT:
	case FX_UNIT_BYTES:
	case FX_UNIT_SHARE:
		fx_unit_real(unit, (double)value, text);
		return;
	default:
		snprintf(text, FX_UNIT_TEXT_MAX, "%" PRId64, value);
	}
}
