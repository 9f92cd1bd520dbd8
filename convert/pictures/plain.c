/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "convert/pictures/plain.h"

void fx_plain_raw(struct fx_sink *sink, const char *text)
{
	fx_sink_write(sink, text, strlen(text));
}

/* The bytes of the control character at @at; 0: there is none. */
static uint32_t plain_control(const unsigned char *at, uint32_t size)
{
	if (at[0] < 0x20 || at[0] == 0x7f)
		return 1;
	return at[0] == 0xc2 && size > 1 && at[1] < 0xa0 ? 2 : 0;
}

static void plain_escape(struct fx_sink *sink, const unsigned char *at, uint32_t size)
{
	char text[8];

	for (uint32_t i = 0; i < size; i++) {
		snprintf(text, sizeof(text), "\\x%02X", at[i]);
		fx_plain_raw(sink, text);
	}
}

void fx_plain_name(struct fx_sink *sink, const struct fx_text *name, char separator)
{
	const unsigned char *data = (const unsigned char *)name->data;
	uint32_t size;

	if (name->length == 0)
		fx_plain_raw(sink, FX_UNNAMED);
	for (uint32_t i = 0; i < name->length; i += size ? size : 1) {
		size = plain_control(data + i, name->length - i);
		if (size > 0)
			plain_escape(sink, data + i, size);
		else if (separator && name->data[i] == separator)
			fx_plain_raw(sink, ":");
		else
			fx_sink_write(sink, data + i, 1);
	}
}

void fx_plain_uint(struct fx_sink *sink, uint64_t value)
{
	char text[24];

	snprintf(text, sizeof(text), "%llu", (unsigned long long)value);
	fx_plain_raw(sink, text);
}
