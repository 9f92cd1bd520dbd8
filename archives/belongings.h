/* SPDX-License-Identifier: MIT */
/*
 * What an archive says once and for all of a provider: names of processes and threads, modules; and the clock and host records.
 * Kept as records that refer to no table, to be written wherever the provider is introduced.
 */
#ifndef FX_ARCHIVES_BELONGINGS_H
#define FX_ARCHIVES_BELONGINGS_H

#include <stdbool.h>
#include <stdint.h>

#include <fxtrace/reader.h>

#include "lists/hashes.h"
#include "lists/vector.h"

typedef FX_VECTOR(uint64_t) fx_words;

struct fx_belonging {
	uint32_t provider;
	uint64_t pid; /* of its first process; 0: not known */
	fx_words words;
	UT_hash_handle hh;
};

/* All zeros: none. */
struct fx_belongings {
	struct fx_belonging *providers;
	fx_words clocks;
};

/* Whether a record is one of these. */
bool fx_belongings_is(const struct fxt_record *record);

/* Takes a record that is. 0 or -ENOMEM. */
int fx_belongings_add(struct fx_belongings *belongings, const struct fxt_record *record);

/* NULL: nothing is known of it. */
const struct fx_belonging *fx_belongings_find(const struct fx_belongings *belongings,
					      uint32_t provider);

void fx_belongings_free(struct fx_belongings *belongings);

#endif
