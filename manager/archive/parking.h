/* SPDX-License-Identifier: MIT */
/*
 * Blocks of processes whose names are still being read (symbols/symbols.h). They stand aside, in the order in which they
 * came, while the writer goes on with those of others. What a process may have there is bounded: beyond that its buffer is
 * left to fill, and it alone feels it.
 *
 * Belongs to the writer thread, but for fx_parking_is_full().
 */
#ifndef FX_MANAGER_PARKING_H
#define FX_MANAGER_PARKING_H

#include <stdbool.h>
#include <stdint.h>

#include "manager/archive/queue.h"

/* What may stand aside, in bytes: of one process as much as is left to all. */
#define FX_PARKING_LIMIT (UINT64_C(256) << 20)

/* What one process has there. */
struct fx_parked {
	uint64_t blocks;
	uint64_t bytes; /* read by other threads, for which it is a hint */
	uint64_t look;	/* the newest look at all blocks that found it waiting */
};

struct fx_parking {
	struct fx_block *first, **last;
	uint64_t bytes; /* as above */
	uint64_t limit;
	uint64_t look; /* how often all blocks were looked at */
};

void fx_parking_init(struct fx_parking *parking, uint64_t limit);

/* Frees what is left. */
void fx_parking_destroy(struct fx_parking *parking);

/* Puts a block behind the others; `parked` is its inlet's, NULL if it has none. */
void fx_parking_add(struct fx_parking *parking, struct fx_parked *parked, struct fx_block *block);

/* Takes one out that stands there; *at points to it. */
void fx_parking_remove(struct fx_parking *parking, struct fx_parked *parked, struct fx_block **at);

/* Whether a process has as much there as it may: from any thread. */
bool fx_parking_is_full(const struct fx_parking *parking, const struct fx_parked *parked);

#endif
