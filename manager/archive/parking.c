/* SPDX-License-Identifier: MIT */
#include "manager/archive/parking.h"

#include <stdlib.h>

#include "base/atomic.h"

/* What a block takes beside its pieces: of its room only the pages that were written to are there. */
#define BLOCK_COST 4096u

void fx_parking_init(struct fx_parking *parking, uint64_t limit)
{
	*parking = (struct fx_parking){.limit = limit};
	parking->last = &parking->first;
}

void fx_parking_destroy(struct fx_parking *parking)
{
	while (parking->first) {
		struct fx_block *block = parking->first;

		parking->first = block->next;
		free(block);
	}
}

/* relaxed: another thread that looks has only to see it soon */
static void bytes_change(uint64_t *bytes, uint64_t by)
{
	fx_store_relaxed(bytes, *bytes + by);
}

void fx_parking_add(struct fx_parking *parking, struct fx_parked *parked, struct fx_block *block)
{
	block->next = NULL;
	*parking->last = block;
	parking->last = &block->next;
	if (!parked)
		return;
	parked->blocks++;
	bytes_change(&parked->bytes, block->pieces.used + BLOCK_COST);
	bytes_change(&parking->bytes, block->pieces.used + BLOCK_COST);
}

void fx_parking_remove(struct fx_parking *parking, struct fx_parked *parked, struct fx_block **at)
{
	struct fx_block *block = *at;

	*at = block->next;
	if (parking->last == &block->next)
		parking->last = at;
	block->next = NULL;
	if (!parked)
		return;
	parked->blocks--;
	bytes_change(&parked->bytes, -(block->pieces.used + BLOCK_COST));
	bytes_change(&parking->bytes, -(block->pieces.used + BLOCK_COST));
}

bool fx_parking_is_full(const struct fx_parking *parking, const struct fx_parked *parked)
{
	/* relaxed: a hint that pairs with nothing */
	uint64_t all = fx_load_relaxed(&parking->bytes), own = fx_load_relaxed(&parked->bytes);

	return own && (all >= parking->limit || own >= parking->limit - all);
}
