/* SPDX-License-Identifier: MIT */
/*
 * The reader, as the files that it is made of know it.
 */
#ifndef FX_FORMAT_READER_STATE_H
#define FX_FORMAT_READER_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <fxtrace/reader.h>

#include "format/context.h"
#include "lists/hashes-lenient.h"
#include "format/input.h"
#include "format/tables.h"

struct provider {
	struct fxt_provider public;
	struct fx_tables tables;
	char name[FXT_MAX_NAME_LENGTH + 1];
	bool lost; /* not in the hash for lack of memory */
	UT_hash_handle hh;
};

struct fxt_reader {
	struct fx_input *input;
	uint64_t *buffer;
	size_t capacity; /* words */
	size_t begin;	 /* words: the next record */
	size_t filled;	 /* bytes in the buffer */
	uint64_t offset; /* bytes: where the next record stands in the input */
	bool input_ended;
	int input_error; /* what ended it, if not its end */

	/* A record too large to hold, that is passed over: where it begins, its words, those left. */
	uint64_t skip_start, skip_size, skip_left;

	bool bare;
	bool started; /* the first record was looked at */
	bool finished;

	struct provider *providers; /* hash by id */
	struct provider nobody;	    /* records before the first provider */
	struct provider stranger;   /* sections of providers never introduced */
	struct provider *current;
	uint32_t string_serial;
	struct fx_context context;
	uint64_t table_bytes; /* of all providers */
	uint64_t memory_limit;
	struct fx_rows *rows; /* batch.c */

	fxt_fault_handler *handler;
	void *opaque;
	uint64_t fault_count;
	struct fxt_record record;
};

void fx_provider_init(struct provider *provider, uint32_t id);

/* Takes over what a record says about those that follow, and resolves what it refers to. Returns 0 or -ENOMEM. */
int fx_reader_apply(struct fxt_reader *reader, struct fxt_record *record);

/* Tells the fault handler; of the record that is read. */
void fx_reader_report(struct fxt_reader *reader, enum fxt_fault_kind kind, uint64_t word,
		      uint64_t value);
void fx_reader_report_at(struct fxt_reader *reader, enum fxt_fault_kind kind, uint64_t offset,
			 uint64_t word, uint64_t value);

#endif /* FX_FORMAT_READER_STATE_H */
