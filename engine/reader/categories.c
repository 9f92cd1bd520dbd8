/* SPDX-License-Identifier: MIT */
/* The categories that a provider knows, as its buffer says at any time; the provider is not trusted. */
#include "engine/reader/drain-internal.h"

/* Of a name, a NUL and a description. */
#define TEXT_MAX 512u

/* The text of a record that was looked at, if it is what is wanted. */
static void categories_say(const uint8_t *record, uint64_t header, uint64_t bytes,
			   void (*each)(void *opaque, const char *text, size_t length),
			   void *opaque)
{
	uint64_t length = FXT_GET(header, STRING_LENGTH);
	char text[TEXT_MAX];

	if (FXT_GET(header, RECORD_TYPE) != FXT_RECORD_STRING || !(header & FX_STRING_CATEGORY) ||
	    length > bytes - FXT_WORD_SIZE)
		return;
	if (length > sizeof(text))
		length = sizeof(text);
	/* A copy: the provider may change it any time. */
	memcpy(text, record + FXT_WORD_SIZE, length);
	each(opaque, text, length);
}

static void walk(const uint8_t *area, uint64_t end,
		 void (*each)(void *opaque, const char *text, size_t length), void *opaque)
{
	uint64_t at = 0;

	while (at < end) {
		/* acquire: the payload stands. Pairs with the release in durable.c. */
		uint64_t header = fx_load_acquire((const uint64_t *)(area + at));
		uint64_t bytes = record_bytes(header);

		if (header == 0 || bytes == 0 || bytes > end - at)
			return;
		categories_say(area + at, header, bytes, each, opaque);
		at += bytes;
	}
}

void fx_drain_known(const struct fx_drain *d,
		    void (*each)(void *opaque, const char *text, size_t length), void *opaque)
{
	const uint8_t *builtin;
	uint64_t builtin_size;

	if (d->broken || !fx_drain_is_attached(d))
		return;
	builtin = fx_drain_builtin(d, &builtin_size);
	walk(builtin, builtin_size, each, opaque);
	walk(d->buffer + d->layout.durable_offset, d->layout.durable_size, each, opaque);
}
