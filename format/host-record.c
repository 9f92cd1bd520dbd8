/* SPDX-License-Identifier: MIT */
#include "format/host-record.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/escape.h"

#define HOST_UUID_KEY	 "uuid"
#define HOST_UUID_DIGITS 32u

/* Room for all lines. */
#define HOST_PAYLOAD_MAX 1536u

static size_t host_put_line(char *payload, size_t at, const char *key, const char *value)
{
	int size =
	    value[0] ? snprintf(payload + at, HOST_PAYLOAD_MAX - at, "%s=%s\n", key, value) : 0;

	return size > 0 && (size_t)size < HOST_PAYLOAD_MAX - at ? at + (size_t)size : at;
}

int fx_host_record_encode(struct fx_encoder *encoder, const struct fx_host_record *host)
{
	struct fxt_record record = {.kind = FXT_KIND_BLOB};
	char payload[HOST_PAYLOAD_MAX], uuid[HOST_UUID_DIGITS + 1];
	size_t size = 0;

#define HOST_PUT_(member) size = host_put_line(payload, size, #member, host->member);
	FX_HOST_VALUES(HOST_PUT_)
#undef HOST_PUT_
	snprintf(uuid, sizeof(uuid), "%016" PRIx64 "%016" PRIx64, host->uuid[0], host->uuid[1]);
	size = host_put_line(payload, size, HOST_UUID_KEY, uuid);
	record.blob.type = FXT_BLOB_DATA;
	record.blob.name = fx_string_inline(FX_HOST_RECORD_NAME, strlen(FX_HOST_RECORD_NAME));
	record.blob.payload.data = payload;
	record.blob.payload.size = (uint32_t)size;
	return fx_record_encode(encoder, &record);
}

bool fx_host_record_is(const struct fxt_record *record)
{
	return record->kind == FXT_KIND_BLOB && record->blob.type == FXT_BLOB_DATA &&
	       fxt_string_equals(&record->blob.name, FX_HOST_RECORD_NAME);
}

static int host_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static void host_take_uuid(uint64_t uuid[2], const char *digits, size_t count)
{
	uint64_t words[2] = {0, 0};

	if (count != HOST_UUID_DIGITS)
		return;
	for (size_t i = 0; i < count; i++) {
		int digit = host_digit(digits[i]);

		if (digit < 0)
			return;
		words[i / 16] = words[i / 16] << 4 | (uint64_t)digit;
	}
	memcpy(uuid, words, sizeof(words));
}

static bool host_is_key(const char *line, size_t length, const char *key)
{
	return length == strlen(key) && memcmp(line, key, length) == 0;
}

/* Whatever wrote it, the text is one that can be shown. */
static void host_take_line(struct fx_host_record *host, const char *line, size_t length)
{
	const char *equals = memchr(line, '=', length), *value;
	size_t key, size;

	if (!equals)
		return;
	value = equals + 1;
	key = (size_t)(equals - line);
	size = length - key - 1;
	if (host_is_key(line, key, HOST_UUID_KEY))
		host_take_uuid(host->uuid, value, size);
#define HOST_TAKE_(member)                                                                         \
	if (host_is_key(line, key, #member))                                                       \
		host->member[fx_escape(host->member, sizeof(host->member) - 1, value, size,        \
				       FX_ESCAPE_CONTROLS | FX_ESCAPE_KEEP_BACKSLASHES)] = '\0';
	FX_HOST_VALUES(HOST_TAKE_)
#undef HOST_TAKE_
}

bool fx_host_record_decode(const struct fxt_record *record, struct fx_host_record *ret)
{
	const char *at = record->blob.payload.data, *end;

	if (!fx_host_record_is(record))
		return false;
	*ret = (struct fx_host_record){0};
	for (end = at + record->blob.payload.size; at < end;) {
		const char *newline = memchr(at, '\n', (size_t)(end - at));
		const char *stop = newline ? newline : end;

		host_take_line(ret, at, (size_t)(stop - at));
		at = stop + 1;
	}
	return true;
}
