/* SPDX-License-Identifier: MIT */
/*
 * In which part of an archive that is split a record is to be. Places are asked for in the order of the archive, for a
 * begin decides where its end is. Memory grows with what is open at a time, and with threads.
 */
#ifndef FX_ARCHIVES_PLACES_H
#define FX_ARCHIVES_PLACES_H

#include <stdbool.h>
#include <stdint.h>

#include "archives/belongings.h"

/* What makes a part: a span of time, a size, or a process. */
enum fx_split_by { FX_SPLIT_BY_TIME, FX_SPLIT_BY_SIZE, FX_SPLIT_BY_PROCESS };

struct fx_places {
	enum fx_split_by by;
	uint64_t every, first_ns;
	const struct fx_belongings *belongings; /* borrowed */
	uint64_t newest;			/* key of the newest record that has one */
	uint64_t crossing;			/* what goes on beyond the end of its part */
	struct places_thread *threads;
	struct places_async *asyncs;
};

/* The key of the part of a record that is no belonging; its kind is one that a copy takes. 0 or -ENOMEM. */
int fx_places_find(struct fx_places *places, const struct fxt_record *record, uint64_t *ret_key);

/* Forgets what is open: from here on another reading begins. */
void fx_places_clear(struct fx_places *places);

#endif
