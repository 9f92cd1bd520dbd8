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

/* Running out of memory in a table is an error to return, not a reason to exit. */
#define HASH_NONFATAL_OOM 1
#define uthash_nonfatal_oom(element)                                                               \
	do {                                                                                       \
		(element)->lost = true;                                                            \
	} while (0)
#include <uthash.h>

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

	bool bare;
	bool started; /* the first record was looked at */
	bool finished;

	struct provider *providers; /* hash by id */
	struct provider nobody;	    /* records before the first provider */
	struct provider stranger;   /* sections of providers never introduced */
	struct provider *current;
	uint32_t string_serial;

	fxt_fault_handler *handler;
	void *opaque;
	uint64_t fault_count;
	struct fxt_record record;
};

#endif /* FX_FORMAT_READER_STATE_H */
