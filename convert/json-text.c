/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "convert/json-text.h"
#include "base/utf8.h"

enum {
	NS_PER_US = 1000,
	DIGITS_MAX = 20, /* of 64 bits */
};

void fx_json_raw(struct fx_sink *sink, const char *text)
{
	fx_sink_write(sink, text, strlen(text));
}

/* Writes the digits behind one another so that they end at @end; returns the first. */
static char *put_digits(char *end, uint64_t value)
{
	do {
		*--end = (char)('0' + value % 10);
		value /= 10;
	} while (value > 0);
	return end;
}

void fx_json_uint(struct fx_sink *sink, uint64_t value)
{
	char digits[DIGITS_MAX];
	char *end = digits + sizeof(digits);
	char *first = put_digits(end, value);

	fx_sink_write(sink, first, (size_t)(end - first));
}

void fx_json_int(struct fx_sink *sink, int64_t value)
{
	if (value < 0)
		fx_json_raw(sink, "-");
	fx_json_uint(sink, value < 0 ? -(uint64_t)value : (uint64_t)value);
}

void fx_json_double(struct fx_sink *sink, double value)
{
	char text[40];

	if (isfinite(value))
		snprintf(text, sizeof(text), "%.17g", value);
	else
		snprintf(text, sizeof(text), "\"%s\"",
			 isnan(value) ? "NaN"
			 : value > 0  ? "Infinity"
				      : "-Infinity");
	fx_json_raw(sink, text);
}

void fx_json_hex(struct fx_sink *sink, uint64_t value)
{
	char text[24];

	snprintf(text, sizeof(text), "\"0x%llx\"", (unsigned long long)value);
	fx_json_raw(sink, text);
}

void fx_json_time(struct fx_sink *sink, uint64_t ns)
{
	char text[DIGITS_MAX + 4];
	char *end = text + sizeof(text);
	char *first;
	uint64_t rest = ns % NS_PER_US;

	*--end = (char)('0' + rest % 10);
	*--end = (char)('0' + rest / 10 % 10);
	*--end = (char)('0' + rest / 100);
	*--end = '.';
	first = put_digits(end, ns / NS_PER_US);
	fx_sink_write(sink, first, (size_t)(text + sizeof(text) - first));
}

static bool is_plain(unsigned char byte)
{
	return byte >= 0x20 && byte < 0x7f && byte != '"' && byte != '\\';
}

/* Writes one character that cannot stand as it is; returns how many bytes it was. */
static size_t put_special(struct fx_sink *sink, const char *data, size_t length)
{
	size_t size = fx_utf8_sequence(data, length);
	char text[8];

	/* Terminals obey U+0080 to U+009f. */
	if (size == 2 && (unsigned char)data[0] == 0xc2 && (unsigned char)data[1] < 0xa0) {
		snprintf(text, sizeof(text), "\\u%04x", (unsigned char)data[1]);
		fx_json_raw(sink, text);
		return size;
	}
	if (size > 1) {
		fx_sink_write(sink, data, size);
		return size;
	}
	if (size == 0 || *data == '\0')
		fx_json_raw(sink, "\xef\xbf\xbd");
	else if (*data == '"')
		fx_json_raw(sink, "\\\"");
	else if (*data == '\\')
		fx_json_raw(sink, "\\\\");
	else if (*data == '\n')
		fx_json_raw(sink, "\\n");
	else {
		snprintf(text, sizeof(text), "\\u%04x", (unsigned char)*data);
		fx_json_raw(sink, text);
	}
	return 1;
}

void fx_json_string(struct fx_sink *sink, const char *data, size_t length)
{
	size_t plain, at = 0;

	fx_json_raw(sink, "\"");
	while (at < length) {
		for (plain = at; plain < length && is_plain((unsigned char)data[plain]); plain++)
			;
		if (plain > at)
			fx_sink_write(sink, data + at, plain - at);
		at = plain;
		if (at < length)
			at += put_special(sink, data + at, length - at);
	}
	fx_json_raw(sink, "\"");
}
