/* SPDX-License-Identifier: MIT */
/* Memory that becomes a table of recipes (engine/recipe.h), whose parts know one another by their offsets. */
#ifndef FX_SYMBOLS_BLOB_H
#define FX_SYMBOLS_BLOB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fx_blob_text;
struct fx_blob_memo;

struct fx_blob {
	uint8_t *bytes;
	size_t size, room;
	size_t limit;
	struct fx_blob_text *texts; /* uthash */
	struct fx_blob_memo *memos; /* the same */
	bool is_full;		    /* what was put last, or some time before, is not in it */
};

void fx_blob_init(struct fx_blob *ret, size_t limit);
void fx_blob_clear(struct fx_blob *blob);

/* Puts `size' bytes at its end, aligned to 8; zeroes if `data' is NULL. Their offset; 0: there is no room. */
uint32_t fx_blob_put(struct fx_blob *blob, const void *data, size_t size);

/* The same of a text with its NUL; equal ones stand there once. */
uint32_t fx_blob_text(struct fx_blob *blob, const char *text);

/* A word for what was put once for `key'; 0 at first. NULL: there is no memory. */
uint32_t *fx_blob_memo(struct fx_blob *blob, uint64_t key);

/* What stands at an offset; good until something is put. */
static inline void *fx_blob_at(const struct fx_blob *blob, uint32_t offset)
{
	return blob->bytes + offset;
}

#endif
