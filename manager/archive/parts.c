/* SPDX-License-Identifier: MIT */
#include "manager/archive/parts.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <fxtrace/format.h>

#include "base/escape.h"
#include "lists/hashes-lenient.h"
#include "engine/layout.h"
#include "format/encode.h"

/* Records under way in one process: more than a few threads at a time have none. What exceeds it is
 * a provider's that never finishes. */
#define ENTRIES_MAX 64u

/* Bytes of a blob's name that its parts keep. */
#define NAME_MAX_KEPT 200u

/* Payload of a part: so many words are left for all else. */
#define HEAD_WORDS_MAX 2048u
#define PART_PAYLOAD   ((uint64_t)(FXT_MAX_RECORD_WORDS - HEAD_WORDS_MAX) * FXT_WORD_SIZE)

struct fx_part_entry {
	UT_hash_handle hh;
	bool lost;    /* not in the hash for lack of memory */
	uint64_t key; /* tid << 32 | number of the record */
	uint32_t words;
	uint32_t filled;
	uint64_t data[];
};

static void entry_drop(struct fx_parts *parts, struct fx_part_entry *e)
{
	HASH_DEL(parts->entries, e);
	free(e);
}

void fx_parts_destroy(struct fx_parts *parts)
{
	struct fx_part_entry *e, *next;

	HASH_ITER (hh, parts->entries, e, next)
		entry_drop(parts, e);
	free(parts->done);
	parts->done = NULL;
}

static int entry_make(struct fx_parts *parts, uint64_t key, uint32_t words,
		      struct fx_part_entry **ret)
{
	struct fx_part_entry *e;

	if (words == 0 || words > FX_PARTED_MAX / FXT_WORD_SIZE)
		return -EINVAL;
	if (HASH_COUNT(parts->entries) >= ENTRIES_MAX)
		entry_drop(parts, parts->entries);
	e = malloc(sizeof(*e) + (size_t)words * FXT_WORD_SIZE);
	if (!e)
		return -ENOMEM;
	e->key = key;
	e->words = words;
	e->filled = 0;
	e->lost = false;
	HASH_ADD(hh, parts->entries, key, sizeof(e->key), e);
	if (e->lost) {
		free(e);
		return -ENOMEM;
	}
	*ret = e;
	return 0;
}

/* The record that the part belongs to; one of a number that was used before begins anew. NULL: its
 * beginning was overwritten in a circular buffer, or belongs to a session before. */
static int entry_for(struct fx_parts *parts, uint32_t tid, const uint64_t *part,
		     struct fx_part_entry **ret)
{
	uint64_t key = (uint64_t)tid << 32 | (uint32_t)part[1];
	uint32_t words = (uint32_t)(part[1] >> 32);
	struct fx_part_entry *e;

	HASH_FIND(hh, parts->entries, &key, sizeof(key), e);
	if (part[2] == 0) {
		if (e)
			entry_drop(parts, e);
		return entry_make(parts, key, words, ret);
	}
	if (part[2] >= words)
		return -EINVAL;
	*ret = e;
	if (!e || (e->words == words && e->filled == part[2]))
		return 0;
	entry_drop(parts, e);
	return -EINVAL;
}

int fx_parts_take(struct fx_parts *parts, uint32_t tid, const uint64_t *part, size_t size,
		  uint64_t **ret, size_t *ret_size)
{
	struct fx_part_entry *e;
	size_t count;
	int r;

	if (size <= FX_PART_HEAD)
		return -EINVAL;
	count = size - FX_PART_HEAD;
	r = entry_for(parts, tid, part, &e);
	if (r < 0 || !e)
		return r;
	if (count > e->words - e->filled) {
		entry_drop(parts, e);
		return -EINVAL;
	}
	memcpy(e->data + e->filled, part + FX_PART_HEAD, count * FXT_WORD_SIZE);
	e->filled += (uint32_t)count;
	if (e->filled < e->words)
		return 0;
	HASH_DEL(parts->entries, e);
	free(parts->done);
	parts->done = e;
	*ret = e->data;
	*ret_size = e->words;
	return 1;
}

int fx_parts_write(struct fx_archive *archive, struct fxt_record *record)
{
	struct fxt_large_blob *b = &record->large_blob;
	const struct fxt_bytes whole = b->payload;
	const struct fxt_string name = b->name;
	uint64_t count = (whole.size + PART_PAYLOAD - 1) / PART_PAYLOAD;
	char kept[NAME_MAX_KEPT], text[NAME_MAX_KEPT + 32];
	int kept_length =
	    (int)(name.length ? fx_escape(kept, sizeof(kept), name.data, name.length, 0) : 0);

	if (record->size - fx_bytes_words(whole.size) > HEAD_WORDS_MAX - sizeof(text) / 8)
		return -E2BIG;
	for (uint64_t i = 0; i < count; i++) {
		uint64_t at = i * PART_PAYLOAD, left = whole.size - at;
		int length = snprintf(text, sizeof(text), "%.*s#%u/%u", kept_length, kept,
				      (unsigned)i + 1, (unsigned)count);

		b->name = fx_string_inline(text, (size_t)length);
		b->payload.data = (const char *)whole.data + at;
		b->payload.size = left < PART_PAYLOAD ? left : PART_PAYLOAD;
		fx_archive_record(archive, record);
		record->nargs = 0;
	}
	return 0;
}
