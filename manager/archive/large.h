/* SPDX-License-Identifier: MIT */
/*
 * Records that come in fragments, put together; and records that are too large for the viewers of archives,
 * taken apart again.
 *
 * Viewers read twelve bits of a record's size. A large blob beyond that goes into the archive as several
 * in a row, with the same category, thread and time, called NAME#1/N to NAME#N/N; the first has the
 * arguments. Their payloads, one behind the other, are the blob's.
 */
#ifndef FX_MANAGER_LARGE_H
#define FX_MANAGER_LARGE_H

#include <stddef.h>
#include <stdint.h>

#include <fxtrace/reader.h>

#include "manager/archive/archive.h"

struct fx_fragment_entry;

/* The records of one provider that are not complete yet. Zeroes are a valid beginning. */
struct fx_fragments {
	struct fx_fragment_entry *entries; /* uthash, oldest first */
	struct fx_fragment_entry *done;	   /* the newest complete one */
};

/*
 * Takes a fragment that a thread has written, `size` words. 1: the record is complete, `*ret_size` words
 * that stay until the next call and may be changed; 0: more is to come, or its beginning is not there;
 * -EINVAL: it is no fragment, or not the one that had to come; -ENOMEM.
 */
int fx_fragments_take(struct fx_fragments *fragments, uint32_t tid, const uint64_t *fragment,
		      size_t size, uint64_t **ret, size_t *ret_size);
void fx_fragments_destroy(struct fx_fragments *fragments);

/*
 * Writes a large blob that is beyond what viewers can read, as several. `record` has the references and
 * times of the archive, and the text of its name, which is escaped here (base/escape.h). 0, or -E2BIG: what is not payload is too large.
 */
int fx_large_write(struct fx_archive *archive, struct fxt_record *record);

#endif
