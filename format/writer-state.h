/* SPDX-License-Identifier: MIT */
/* The writer, as the files that it is made of know it. */
#ifndef FX_FORMAT_WRITER_STATE_H
#define FX_FORMAT_WRITER_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <fxtrace/writer.h>

#include "format/encode.h"
#include "lists/hashes-lenient.h"
#include "format/outlet.h"
#include "lists/vector.h"

struct writer_text {
	uint64_t record; /* the newest one that needs it */
	uint16_t index;
	bool lost;
	uint32_t length;
	UT_hash_handle hh;
	char bytes[];
};

struct writer_thread_key {
	uint64_t pid, tid;
};

struct writer_thread {
	struct writer_thread_key key;
	uint64_t record; /* as above */
	uint8_t index;
	bool lost;
	UT_hash_handle hh;
};

struct writer_provider {
	uint32_t id;
	uint64_t ticks_per_second;
	bool lost;
	bool rate_written;
	struct writer_text *texts;		  /* hash */
	unsigned next_text;			  /* the index that a new one gets */
	FX_VECTOR(struct writer_text *) by_index; /* NULL: not defined */
	struct writer_thread *known_threads;	  /* hash */
	unsigned next_thread;
	struct writer_thread *threads[FXT_MAX_THREAD_INDEX + 1];
	UT_hash_handle hh;
};

struct fxt_writer {
	struct fx_outlet *outlet;
	bool begun; /* the magic number is written */
	int error;  /* the outlet's */
	struct writer_provider *providers;
	struct writer_provider *current;
	FX_VECTOR(uint64_t) words; /* what a record needs, and itself */
	struct fxt_record record;  /* as it is encoded */
	uint64_t record_number;
};

/* Encodes a record of at most @room words behind those that stand in the writer's words. 0 or -errno. */
int fx_writer_encode(struct fxt_writer *writer, const struct fxt_record *record, size_t room);

/*
 * Gives the strings and threads of a record the references that the current provider has for them, and encodes the
 * records that define those which are new. 0 or -errno.
 */
int fx_writer_references(struct fxt_writer *writer, struct fxt_record *record);

/* Definitions that were encoded are not written: none of the tables' is known any more. */
void fx_writer_forget_tables(struct writer_provider *provider);

void fx_writer_provider_free(struct writer_provider *provider);

#endif /* FX_FORMAT_WRITER_STATE_H */
