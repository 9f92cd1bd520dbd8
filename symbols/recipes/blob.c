/* SPDX-License-Identifier: MIT */
#include "symbols/recipes/blob.h"

#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"
#include "lists/hashes-lenient.h"

struct fx_blob_text {
	UT_hash_handle hh;
	bool lost; /* not in the hash for lack of memory */
	uint32_t offset;
	char text[];
};

struct fx_blob_memo {
	UT_hash_handle hh;
	bool lost; /* not in the hash for lack of memory */
	uint64_t key;
	uint32_t offset;
};

void fx_blob_init(struct fx_blob *ret, size_t limit)
{
	*ret = (struct fx_blob){.limit = limit};
}

void fx_blob_clear(struct fx_blob *blob)
{
	struct fx_blob_memo *memo, *next_memo;
	struct fx_blob_text *text, *next;

	HASH_ITER (hh, blob->memos, memo, next_memo) {
		HASH_DEL(blob->memos, memo);
		free(memo);
	}
	HASH_ITER (hh, blob->texts, text, next) {
		HASH_DEL(blob->texts, text);
		free(text);
	}
	free(blob->bytes);
	memset(blob, 0, sizeof(*blob));
}

static bool blob_grow(struct fx_blob *blob, size_t size)
{
	size_t room = blob->room ? blob->room : 4096;
	uint8_t *bytes;

	if (size > blob->limit)
		return false;
	while (room < size)
		room *= 2;
	if (room == blob->room)
		return true;
	bytes = realloc(blob->bytes, room);
	if (!bytes)
		return false;
	memset(bytes + blob->room, 0, room - blob->room);
	blob->bytes = bytes;
	blob->room = room;
	return true;
}

uint32_t fx_blob_put(struct fx_blob *blob, const void *data, size_t size)
{
	size_t at = FX_ALIGN_UP(blob->size, 8u);

	if (blob->is_full || size > blob->limit || !blob_grow(blob, at + size)) {
		blob->is_full = true;
		return 0;
	}
	if (data && size)
		memcpy(blob->bytes + at, data, size);
	blob->size = at + size;
	return (uint32_t)at;
}

uint32_t fx_blob_text(struct fx_blob *blob, const char *text)
{
	size_t length = strlen(text);
	struct fx_blob_text *found;
	uint32_t offset;

	HASH_FIND(hh, blob->texts, text, length, found);
	if (found)
		return found->offset;
	found = calloc(1, sizeof(*found) + length + 1);
	if (!found)
		return 0;
	memcpy(found->text, text, length);
	found->offset = offset = fx_blob_put(blob, text, length + 1);
	HASH_ADD_KEYPTR(hh, blob->texts, found->text, length, found);
	if (found->lost)
		free(found);
	return offset;
}

uint32_t *fx_blob_memo(struct fx_blob *blob, uint64_t key)
{
	struct fx_blob_memo *found;

	HASH_FIND(hh, blob->memos, &key, sizeof(key), found);
	if (found)
		return &found->offset;
	found = calloc(1, sizeof(*found));
	if (!found)
		return NULL;
	found->key = key;
	HASH_ADD(hh, blob->memos, key, sizeof(found->key), found);
	if (found->lost) {
		free(found);
		return NULL;
	}
	return &found->offset;
}
