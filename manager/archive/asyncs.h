/* SPDX-License-Identifier: MIT */
/*
 * What is remembered of a process's async events (async-take.h), by their ids: begins that are open, and ends that are held.
 */
#ifndef FX_MANAGER_ASYNCS_H
#define FX_MANAGER_ASYNCS_H

#include <stdbool.h>
#include <stdint.h>

#include "lists/hashes-lenient.h"
#include "lists/vector.h"
#include "manager/archive/held.h"

struct fx_async_begin {
	uint64_t ns;
	uint64_t name; /* a hash of category and name */
};

struct fx_async_held {
	uint64_t ns;
	uint64_t name;
	struct fx_held_record record;
};

/* What has an id, while something of it is open or held. */
struct fx_async {
	UT_hash_handle hh;
	bool lost; /* not in the hash for lack of memory */
	uint64_t id;
	FX_VECTOR(struct fx_async_begin) open; /* by their times, */
	FX_VECTOR(struct fx_async_held) held;  /* as these are */
	uint64_t deep; /* begins that were left out as too deep, and have not ended */
};

/* Of a process. All zero at first. */
struct fx_asyncs {
	struct fx_async *by_id; /* uthash */
	uint32_t open, held;	/* of all ids */
	uint64_t held_words;
};

/* NULL: there is no memory. */
struct fx_async *fx_asyncs_get(struct fx_asyncs *asyncs, uint64_t id);

/* Forgets the id if nothing of it is open or held. */
void fx_asyncs_settle(struct fx_asyncs *asyncs, struct fx_async *a);

void fx_asyncs_clear(struct fx_asyncs *asyncs);

#endif
