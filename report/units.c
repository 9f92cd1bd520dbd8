/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "report/units.h"

/* Times that can be multiplied by a thousand, and are exact as double. */
#define UNIT_FAST_MAX 4000000000000000

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

/* Digits of a number, at @text; returns what is behind them. */
static char *unit_put_digits(char *text, uint64_t number, size_t least)
{
	char digits[20];
	size_t at = sizeof(digits);

	do
		digits[--at] = (char)('0' + number % 10);
	while (number /= 10);
	while (sizeof(digits) - at < least)
		digits[--at] = '0';
	memcpy(text, digits + at, sizeof(digits) - at);
	return text + sizeof(digits) - at;
}

/* The same of a time that is no less than 0, much faster. False: it stands between two numbers of these digits. */
static bool unit_scaled_time(uint64_t ns, char *text)
{
	static const uint64_t powers[] = {1, 10, 100, 1000};
	const struct scale *scale = times;
	uint64_t factor, parts;
	unsigned decimals;
	double size;

	while (scale->factor > 1 && (double)ns < scale->factor * 0.99995)
		scale++;
	size = (double)ns / scale->factor;
	factor = (uint64_t)scale->factor;
	if (factor == 1)
		decimals = 0;
	else
		decimals = size < 9.9995 ? 3 : size < 99.995 ? 2 : size < 999.95 ? 1 : 0;
	parts = ns * powers[decimals];
	if (parts % factor * 2 == factor)
		return false;
	parts = (parts + factor / 2) / factor;
	text = unit_put_digits(text, parts / powers[decimals], 1);
	if (decimals > 0) {
		*text++ = '.';
		text = unit_put_digits(text, parts % powers[decimals], decimals);
	}
	*text++ = ' ';
	strcpy(text, scale->name);
	return true;
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
		if (value >= 0 && value < UNIT_FAST_MAX && unit_scaled_time((uint64_t)value, text))
			return;
		/* fall through */
	case FX_UNIT_BYTES:
	case FX_UNIT_SHARE:
		fx_unit_real(unit, (double)value, text);
		return;
	default:
		snprintf(text, FX_UNIT_TEXT_MAX, "%" PRId64, value);
	}
}
