/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "convert/texts.h"
#include "lists/hashes.h"
#include "convert/utf8.h"
#include "lists/vector.h"

struct entry {
	struct fx_text text;
	UT_hash_handle hh;
	char bytes[];
};

struct fx_texts {
	struct entry *by_text;
	FX_VECTOR(struct entry *) by_id;
};

struct fx_texts *fx_texts_new(void)
{
	return calloc(1, sizeof(struct fx_texts));
}

void fx_texts_free(struct fx_texts *strings)
{
	if (!strings)
		return;
	HASH_CLEAR(hh, strings->by_text);
	for (size_t i = 0; i < strings->by_id.count; i++)
		free(strings->by_id.items[i]);
	fx_vector_free(&strings->by_id);
	free(strings);
}

static uint32_t add_clean(struct fx_texts *strings, const char *data, size_t length)
{
	struct entry *entry;

	HASH_FIND(hh, strings->by_text, data, length, entry);
	if (entry)
		return entry->text.id;
	if (fx_vector_reserve(&strings->by_id, 1) < 0)
		return 0;
	entry = malloc(sizeof(*entry) + length + 1);
	if (!entry)
		return 0;
	memcpy(entry->bytes, data, length);
	entry->bytes[length] = '\0';
	strings->by_id.items[strings->by_id.count++] = entry;
	entry->text = (struct fx_text){
	    .data = entry->bytes,
	    .length = (uint32_t)length,
	    .id = (uint32_t)strings->by_id.count,
	};
	entry->text.string = (struct fxt_string){
	    .data = entry->bytes,
	    .length = (uint32_t)length,
	    .serial = length > 0 ? entry->text.id : 0,
	};
	HASH_ADD_KEYPTR(hh, strings->by_text, entry->bytes, length, entry);
	return entry->text.id;
}

static uint32_t add_unclean(struct fx_texts *strings, const char *data, size_t length)
{
	char *clean = malloc(FX_UTF8_CLEAN_MAX(length));
	uint32_t id;

	if (!clean)
		return 0;
	id = add_clean(strings, clean, fx_utf8_clean(data, length, clean));
	free(clean);
	return id;
}

uint32_t fx_texts_add(struct fx_texts *strings, const char *data, size_t length)
{
	if (length == 0)
		return add_clean(strings, "", 0);
	if (fx_utf8_is_clean(data, length))
		return add_clean(strings, data, length);
	return add_unclean(strings, data, length);
}

static uint32_t find_clean(const struct fx_texts *strings, const char *data, size_t length)
{
	struct entry *entry;

	HASH_FIND(hh, strings->by_text, data, length, entry);
	return entry ? entry->text.id : 0;
}

uint32_t fx_texts_find(const struct fx_texts *strings, const char *data, size_t length)
{
	char *clean;
	uint32_t id;

	if (length == 0 || fx_utf8_is_clean(data, length))
		return find_clean(strings, data, length);
	clean = malloc(FX_UTF8_CLEAN_MAX(length));
	if (!clean)
		return 0;
	id = find_clean(strings, clean, fx_utf8_clean(data, length, clean));
	free(clean);
	return id;
}

const struct fx_text *fx_texts_get(const struct fx_texts *strings, uint32_t id)
{
	return &strings->by_id.items[id - 1]->text;
}

uint32_t fx_texts_count(const struct fx_texts *strings)
{
	return (uint32_t)strings->by_id.count;
}
