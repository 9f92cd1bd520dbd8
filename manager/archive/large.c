/* SPDX-License-Identifier: MIT */
#include "manager/archive/large.h"

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

/* Bytes of a blob's name that those keep which it goes into the archive as. */
#define NAME_MAX_KEPT 200u

/* Payload of one of these: so many words are left for all else. */
#define HEAD_WORDS_MAX 2048u
#define BLOB_PAYLOAD   ((uint64_t)(FXT_MAX_RECORD_WORDS - HEAD_WORDS_MAX) * FXT_WORD_SIZE)

struct fx_fragment_entry {
	UT_hash_handle hh;
	bool lost;    /* not in the hash for lack of memory */
	uint64_t key; /* tid << 32 | number of the record */
	uint32_t words;
	uint32_t filled;
	uint64_t data[];
};

static void entry_drop(struct fx_fragments *fragments, struct fx_fragment_entry *e)
{
	HASH_DEL(fragments->entries, e);
	free(e);
}

void fx_fragments_destroy(struct fx_fragments *fragments)
{
	struct fx_fragment_entry *e, *next;

	HASH_ITER (hh, fragments->entries, e, next)
		entry_drop(fragments, e);
	free(fragments->done);
	fragments->done = NULL;
}

static int entry_make(struct fx_fragments *fragments, uint64_t key, uint32_t words,
		      struct fx_fragment_entry **ret)
{
	struct fx_fragment_entry *e;

	if (words == 0 || words > FX_LARGEST_RECORD / FXT_WORD_SIZE)
		return -EINVAL;
	if (HASH_COUNT(fragments->entries) >= ENTRIES_MAX)
		entry_drop(fragments, fragments->entries);
	e = malloc(sizeof(*e) + (size_t)words * FXT_WORD_SIZE);
	if (!e)
		return -ENOMEM;
	e->key = key;
	e->words = words;
	e->filled = 0;
	e->lost = false;
	HASH_ADD(hh, fragments->entries, key, sizeof(e->key), e);
	if (e->lost) {
		free(e);
		return -ENOMEM;
	}
	*ret = e;
	return 0;
}

/* The record that the fragment belongs to; one of a number that was used before begins anew. NULL: its
 * beginning was overwritten in a circular buffer, or belongs to a session before. */
static int entry_for(struct fx_fragments *fragments, uint32_t tid, const uint64_t *fragment,
		     struct fx_fragment_entry **ret)
{
	uint64_t key = (uint64_t)tid << 32 | (uint32_t)fragment[1];
	uint32_t words = (uint32_t)(fragment[1] >> 32);
	struct fx_fragment_entry *e;

	HASH_FIND(hh, fragments->entries, &key, sizeof(key), e);
	if (fragment[2] == 0) {
		if (e)
			entry_drop(fragments, e);
		return entry_make(fragments, key, words, ret);
	}
	if (fragment[2] >= words)
		return -EINVAL;
	*ret = e;
	if (!e || (e->words == words && e->filled == fragment[2]))
		return 0;
	entry_drop(fragments, e);
	return -EINVAL;
}

int fx_fragments_take(struct fx_fragments *fragments, uint32_t tid, const uint64_t *fragment,
		      size_t size, uint64_t **ret, size_t *ret_size)
{
	struct fx_fragment_entry *e;
	size_t count;
	int r;

	if (size <= FX_FRAGMENT_HEAD)
		return -EINVAL;
	count = size - FX_FRAGMENT_HEAD;
	r = entry_for(fragments, tid, fragment, &e);
	if (r < 0 || !e)
		return r;
	if (count > e->words - e->filled) {
		entry_drop(fragments, e);
		return -EINVAL;
	}
	memcpy(e->data + e->filled, fragment + FX_FRAGMENT_HEAD, count * FXT_WORD_SIZE);
	e->filled += (uint32_t)count;
	if (e->filled < e->words)
		return 0;
	HASH_DEL(fragments->entries, e);
	free(fragments->done);
	fragments->done = e;
	*ret = e->data;
	*ret_size = e->words;
	return 1;
}

int fx_large_write(struct fx_archive *archive, struct fxt_record *record)
{
	struct fxt_large_blob *b = &record->large_blob;
	const struct fxt_bytes whole = b->payload;
	const struct fxt_string name = b->name;
	uint64_t count = (whole.size + BLOB_PAYLOAD - 1) / BLOB_PAYLOAD;
	char kept[NAME_MAX_KEPT], text[NAME_MAX_KEPT + 32];
	int kept_length =
	    (int)(name.length ? fx_escape(kept, sizeof(kept), name.data, name.length, 0) : 0);

	if (record->size - fx_bytes_words(whole.size) > HEAD_WORDS_MAX - sizeof(text) / 8)
		return -E2BIG;
	for (uint64_t i = 0; i < count; i++) {
		uint64_t at = i * BLOB_PAYLOAD, left = whole.size - at;
		int length = snprintf(text, sizeof(text), "%.*s#%u/%u", kept_length, kept,
				      (unsigned)i + 1, (unsigned)count);

		b->name = fx_string_inline(text, (size_t)length);
		b->payload.data = (const char *)whole.data + at;
		b->payload.size = left < BLOB_PAYLOAD ? left : BLOB_PAYLOAD;
		fx_archive_record(archive, record);
		record->nargs = 0;
	}
	return 0;
}
