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

/* A begin and the end that it was put to, both of which stand in the archive. */
struct fx_async_pair {
	uint64_t id, name;
	uint64_t begin, end; /* ns */
};

/* So many are remembered of a process: those since when something may still come that belongs between. */
#define FX_ASYNC_PAIRS 2048u

/* Of a process. All zero at first. */
struct fx_asyncs {
	struct fx_async *by_id; /* uthash */
	uint32_t open, held;	/* of all ids */
	uint64_t held_words;
	struct fx_async_pair *pairs; /* FX_ASYNC_PAIRS; NULL: none yet, or no memory */
	uint32_t pair_next;	     /* where the next one goes; the oldest stands there */
};

/* NULL: there is no memory. */
struct fx_async *fx_asyncs_get(struct fx_asyncs *asyncs, uint64_t id);

/* Forgets the id if nothing of it is open or held. */
void fx_asyncs_settle(struct fx_asyncs *asyncs, struct fx_async *a);

/* An end was put to a begin. */
void fx_asyncs_pair(struct fx_asyncs *asyncs, struct fx_async_pair pair);

/*
 * An end that nothing was open for, and a later begin, both of an id and name: whether the end could be put to the begin of a pair, whose end is
 * then free for a later one, and so on up to this begin; and then that is so from now on. Of what comes in any order, the order in which it was
 * put together decides nothing.
 */
bool fx_asyncs_part(struct fx_asyncs *asyncs, uint64_t id, uint64_t name, uint64_t end,
		    uint64_t begin);

void fx_asyncs_clear(struct fx_asyncs *asyncs);

#endif
