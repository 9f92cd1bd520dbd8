/* SPDX-License-Identifier: MIT */
/*
 * An archive whose records can be read in order, and again later at any place.
 *
 * A plain file is mapped. What is compressed or comes through a pipe is read once, and those of
 * its records that the caller wants to see again are kept in memory, beyond some in a file without a
 * name. Either way a record is known by its word, an ever growing number, and pages that are mapped
 * are let go of now and then.
 */
#ifndef FX_CONVERT_RECORDS_H
#define FX_CONVERT_RECORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <fxtrace/reader.h>

#include "lists/spill.h"
#include "lists/vector.h"
#include "format/plain.h"

/* Its parts are of no use to others than the functions below. */
struct fx_records {
	struct fxt_reader *reader;
	void *map; /* the file, or what was spilled; NULL: neither */
	size_t map_size;
	bool is_file;	  /* @map is all there is */
	uint8_t *pieces;  /* of each piece of the map: whether it may be mapped in */
	uint64_t touched; /* bytes of those that may be */
	uint64_t touched_limit;
	uint64_t piece; /* that was touched last */
	/* Records that are kept: those that were spilled, and behind them @copy. */
	struct fx_spill spill;
	bool spill_failed;
	size_t copy_limit; /* words */
	FX_VECTOR(uint64_t) copy;
};

/* The descriptor is borrowed. @limit: bytes of records that are kept in memory. Returns 0 or -errno. */
int fx_records_open(int fd, size_t limit, fxt_fault_handler *handler, void *opaque,
		    struct fx_records **ret);

/* NULL is allowed. */
void fx_records_close(struct fx_records *records);

/* As fxt_reader_next(). */
int fx_records_next(struct fx_records *records, const struct fxt_record **ret);

/*
 * Takes plain events, as fx_reader_take_plain() does, and keeps them all; *@ret_word is the word of the first. Returns 0
 * or -ENOMEM.
 */
int fx_records_take_plain(struct fx_records *records, struct fx_plain_run *ret, uint64_t *ret_word);

/* As fxt_reader_progress(). */
void fx_records_progress(const struct fx_records *records, uint64_t *ret_done, uint64_t *ret_total);

/* Keeps the record that fx_records_next() has just yielded. Returns 0 or -ENOMEM. */
int fx_records_keep(struct fx_records *records, const struct fxt_record *record);

/* The word of the record that fx_records_next() has just yielded, kept or not. */
uint64_t fx_records_word(const struct fx_records *records, const struct fxt_record *record);

/* Behind the last record, before any is decoded again. Returns 0 or -ENOMEM. */
int fx_records_seal(struct fx_records *records);

enum { FX_RECORDS_PIECE = 1 << 13 }; /* words of what a page fault brings in */

void fx_records_touch_(struct fx_records *records, uint64_t piece);

/* The words of a record that was kept; *@ret_count may be read from there. */
static inline const uint64_t *fx_records_at(struct fx_records *records, uint64_t word,
					    size_t *ret_count)
{
	uint64_t mapped = records->map_size / FXT_WORD_SIZE;

	if (word < mapped) {
		if (word / FX_RECORDS_PIECE != records->piece)
			fx_records_touch_(records, word / FX_RECORDS_PIECE);
		*ret_count = mapped - word;
		return (const uint64_t *)records->map + word;
	}
	*ret_count = records->copy.count - (word - mapped);
	return records->copy.items + (word - mapped);
}

/* Says that a record that was kept will be looked at soon. */
static inline void fx_records_prefetch(const struct fx_records *records, uint64_t word)
{
	if (word < records->map_size / FXT_WORD_SIZE)
		__builtin_prefetch((const uint64_t *)records->map + word);
}

#endif
