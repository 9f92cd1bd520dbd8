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

/* A negative number so small that it is rounded to zero has no sign. */
static double unit_without_sign(double value, double least)
{
	return value <= 0 && value >= -least ? 0 : value;
}

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
	value = unit_without_sign(value / scale->factor, decimals ? 0 : 0.5);
	snprintf(text, FX_UNIT_TEXT_MAX, "%.*f %s", decimals, value, scale->name);
}

/* Times of a minute at most, by how they are shown: four digits, which count so many nanoseconds. */
static const struct {
	uint64_t end; /* of these times */
	uint64_t part;
	unsigned point; /* stands behind so many digits */
	char name[4];
} unit_times[] = {
    {10000, 1, 1, " us"},	    {99995, 10, 2, " us"},
    {999950, 100, 3, " us"},	    {9999500, 1000, 1, " ms"},
    {99995000, 10000, 2, " ms"},    {999950000, 100000, 3, " ms"},
    {9999500000, 1000000, 1, " s"}, {59997000000, 10000000, 2, " s"},
};

enum { UNIT_TIMES = sizeof(unit_times) / sizeof(*unit_times) };

static char *unit_append(char *text, const char *more)
{
	size_t length = strlen(more);

	memcpy(text, more, length);
	return text + length;
}

/* Of less than a microsecond. */
static char *unit_nanoseconds(unsigned ns, char *text)
{
	if (ns >= 100)
		*text++ = (char)('0' + ns / 100);
	if (ns >= 10)
		*text++ = (char)('0' + ns / 10 % 10);
	*text++ = (char)('0' + ns % 10);
	return unit_append(text, " ns");
}

/* As unit_scaled(), much faster; NULL: it takes that. */
static char *unit_short_time(uint64_t ns, char *text)
{
	unsigned range = 0, digits, divisor = 1000;
	uint64_t part;

	while (range < UNIT_TIMES && ns >= unit_times[range].end)
		range++;
	if (range == UNIT_TIMES)
		return NULL;
	part = unit_times[range].part;
	/* Half way between two numbers of these digits, the nearest double decides. */
	if (part > 1 && ns % part * 2 == part)
		return NULL;
	digits = (unsigned)((ns + part / 2) / part);
	for (unsigned i = 0; i < 4; i++, divisor /= 10) {
		if (i == unit_times[range].point)
			*text++ = '.';
		*text++ = (char)('0' + digits / divisor % 10);
	}
	return unit_append(text, unit_times[range].name);
}

char *fx_unit_time(uint64_t ns, char *text)
{
	char *end;

	if (ns < 1000)
		return unit_nanoseconds((unsigned)ns, text);
	end = unit_short_time(ns, text);
	if (end)
		return end;
	unit_scaled(times, (double)ns, text);
	return text + strlen(text);
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

const char *fx_unit_count(uint64_t count, char text[FX_UNIT_TEXT_MAX])
{
	unit_grouped((int64_t)count, text);
	return text;
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
		snprintf(text, FX_UNIT_TEXT_MAX, "%.1f %%", unit_without_sign(value * 100, 0.05));
		return;
	default:
		snprintf(text, FX_UNIT_TEXT_MAX, "%.4g", value + 0.0);
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
		if (value >= 0)
			*fx_unit_time((uint64_t)value, text) = 0;
		else
			unit_scaled(times, (double)value, text);
		return;
	case FX_UNIT_BYTES:
	case FX_UNIT_SHARE:
		fx_unit_real(unit, (double)value, text);
		return;
	default:
		snprintf(text, FX_UNIT_TEXT_MAX, "%" PRId64, value);
	}
}
