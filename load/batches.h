/* SPDX-License-Identifier: MIT */
/*
 * The rows of one archive, on their way to a server in batches.
 *
 * Rows are made in the same order each time, and batches are cut at the same places. Each row has the number of its batch, so
 * the server can be asked how many rows of which batch it has: a batch that it has is not sent again. A batch is one block of one
 * partition there, which is written whole or not at all.
 *
 *     fx_batches_ask()      what is there
 *     fx_batches_begin()    rows of all tables ... fx_batches_end()
 *     fx_batches_look()     whether now all is there, once
 *     fx_batches_commit()   the archive counts
 */
#ifndef FX_LOAD_BATCHES_H
#define FX_LOAD_BATCHES_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "lists/vector.h"
#include "load/schema.h"

/* What all rows of an archive have. */
struct fx_load_facts {
	uint64_t archive; /* its identity: a hash of its bytes */
	uint16_t day;	  /* since 1970 */
	const char *host, *job;
	int32_t rank; /* -1: not known */
};

typedef struct {
	unsigned char *items;
	size_t count, capacity;
	bool failed; /* there was no memory */
} fx_load_bytes;

struct fx_batches;

/* All is borrowed. NULL: no memory. */
struct fx_batches *fx_batches_new(struct fx_clickhouse *server, const struct fx_load_facts *facts,
				  const char *cluster);
/* NULL is allowed. */
void fx_batches_free(struct fx_batches *batches);

/* Returns 0 or -errno, as the others. The fault is the server's. */
int fx_batches_ask(struct fx_batches *batches);

void fx_batches_begin(struct fx_batches *batches);

/* Where the next row of a table is put; fx_batches_done() ends it. */
fx_load_bytes *fx_batches_row(struct fx_batches *batches, enum fx_load_table table);
void fx_batches_done(struct fx_batches *batches, enum fx_load_table table);

/* The first error: 0 or -errno. */
int fx_batches_error(const struct fx_batches *batches);

/* Sends what is left. Returns 0 or the first error. */
int fx_batches_end(struct fx_batches *batches);

/* Asks what is there now, takes away what does not belong there, and says in *ret_whole whether all is there. */
int fx_batches_look(struct fx_batches *batches, bool *ret_whole);

/* Sends the row of FX_LOAD_ARCHIVES, which says that the others are all there. */
int fx_batches_commit(struct fx_batches *batches);

struct fx_batches_sum {
	uint64_t rows;	/* of all tables */
	uint64_t sent;	/* of them, now */
	uint64_t bytes; /* the same */
};
struct fx_batches_sum fx_batches_sum(const struct fx_batches *batches);
uint64_t fx_batches_rows(const struct fx_batches *batches, enum fx_load_table table);

/* --- Values of RowBinary; no memory is found by fx_batches_done() ------------------------------ */

static inline void fx_load_put(fx_load_bytes *bytes, const void *data, size_t size)
{
	/* An empty text may be nowhere. */
	if (size == 0)
		return;
	if (fx_vector_reserve(bytes, size) < 0) {
		bytes->failed = true;
		return;
	}
	memcpy(bytes->items + bytes->count, data, size);
	bytes->count += size;
}

static inline void fx_load_put_8(fx_load_bytes *bytes, uint8_t value)
{
	fx_load_put(bytes, &value, sizeof(value));
}

static inline void fx_load_put_16(fx_load_bytes *bytes, uint16_t value)
{
	fx_load_put(bytes, &value, sizeof(value));
}

static inline void fx_load_put_32(fx_load_bytes *bytes, uint32_t value)
{
	fx_load_put(bytes, &value, sizeof(value));
}

static inline void fx_load_put_64(fx_load_bytes *bytes, uint64_t value)
{
	fx_load_put(bytes, &value, sizeof(value));
}

static inline void fx_load_put_real(fx_load_bytes *bytes, double value)
{
	fx_load_put(bytes, &value, sizeof(value));
}

static inline void fx_load_put_text(fx_load_bytes *bytes, const char *text, size_t length)
{
	size_t rest = length;

	for (; rest >= 0x80; rest >>= 7)
		fx_load_put_8(bytes, (uint8_t)(rest | 0x80));
	fx_load_put_8(bytes, (uint8_t)rest);
	fx_load_put(bytes, text, length);
}

#endif
