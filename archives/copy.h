/* SPDX-License-Identifier: MIT */
/*
 * Writing records of other archives into one, with what they refer to: a provider is introduced, and a string or a
 * thread defined, where a record that is written needs it first. References keep their numbers, since each provider
 * of the new archive has tables of its own.
 */
#ifndef FX_ARCHIVES_COPY_H
#define FX_ARCHIVES_COPY_H

#include <stdbool.h>
#include <stdint.h>

#include <fxtrace/reader.h>

#include "manager/archive/output.h"

struct fx_copy;

/* Writes the magic number. The output has been begun, and outlives the copy. NULL: no memory. */
struct fx_copy *fx_copy_new(struct fx_output *out);

/* Leaves the output open. NULL is allowed. */
void fx_copy_free(struct fx_copy *copy);

/* Where a record comes from, and where it goes. */
struct fx_copy_way {
	unsigned source;   /* which reader has it: two may feed one provider */
	uint32_t provider; /* what its provider is called in the new archive */
	bool changed;	   /* the record is another than its words: it is encoded anew */
};

/* Whether a record says something itself. The others are of a kind that nobody knows, or tell of tables and sections. */
bool fx_copy_is_content(const struct fxt_record *record);

/*
 * Writes a record with all that it needs. What tells of tables and sections alone is not to be written: it follows from
 * the others. Returns 1; 0 if it was left out, because it is too large, or of a kind that nobody knows, or tells of a
 * provider that is not there; or -ENOMEM, or the output's error.
 */
int fx_copy_record(struct fx_copy *copy, const struct fxt_record *record,
		   const struct fx_copy_way *way);

/*
 * Writes records that need nothing but their provider, which is introduced as `as`. They are taken as they are. 0 or
 * -errno, as above.
 */
int fx_copy_words(struct fx_copy *copy, const struct fxt_provider *as,
		  const struct fx_copy_way *way, const uint64_t *words, size_t count);

/* Whether no provider stands in it. */
bool fx_copy_is_empty(const struct fx_copy *copy);

/* Whether the provider stands in the new archive. */
bool fx_copy_has(const struct fx_copy *copy, uint32_t provider);

#endif
