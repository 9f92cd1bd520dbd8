/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <errno.h>
#include <stdlib.h>

#include "convert/blocks.h"

enum { FIRST_SLOTS = 64 };

static size_t blocks_home(const struct fx_blocks *blocks, uint64_t address)
{
	uint64_t hash = (address >> 3) * UINT64_C(0x9e3779b97f4a7c15);

	return (size_t)(hash ^ hash >> 32) & (blocks->slot_count - 1);
}

/* The slot of an address, or the free one where it belongs. */
static struct fx_block *blocks_slot(const struct fx_blocks *blocks, uint64_t address)
{
	size_t at = blocks_home(blocks, address);

	while (blocks->slots[at].address && blocks->slots[at].address != address)
		at = (at + 1) & (blocks->slot_count - 1);
	return &blocks->slots[at];
}

struct fx_block *fx_blocks_find(const struct fx_blocks *blocks, uint64_t address)
{
	struct fx_block *slot;

	if (blocks->count == 0)
		return NULL;
	slot = blocks_slot(blocks, address);
	return slot->address ? slot : NULL;
}

static int blocks_grow(struct fx_blocks *blocks)
{
	struct fx_blocks grown = {
	    .slot_count = blocks->slot_count ? 2 * blocks->slot_count : FIRST_SLOTS,
	    .count = blocks->count,
	};

	grown.slots = calloc(grown.slot_count, sizeof(struct fx_block));
	if (!grown.slots)
		return -ENOMEM;
	for (size_t i = 0; i < blocks->slot_count; i++) {
		if (blocks->slots[i].address)
			*blocks_slot(&grown, blocks->slots[i].address) = blocks->slots[i];
	}
	free(blocks->slots);
	*blocks = grown;
	return 0;
}

int fx_blocks_add(struct fx_blocks *blocks, struct fx_block block)
{
	/* An eighth stays free, so that looking for what is not there ends. */
	if (blocks->count >= blocks->slot_count / 8 * 7 && blocks_grow(blocks) < 0)
		return -ENOMEM;
	*blocks_slot(blocks, block.address) = block;
	blocks->count++;
	return 0;
}

/* What stands behind it moves up, unless its home lies between the two. */
void fx_blocks_remove(struct fx_blocks *blocks, struct fx_block *block)
{
	size_t mask = blocks->slot_count - 1, hole = (size_t)(block - blocks->slots);

	for (size_t at = (hole + 1) & mask; blocks->slots[at].address; at = (at + 1) & mask) {
		size_t home = blocks_home(blocks, blocks->slots[at].address);

		if (((at - home) & mask) < ((at - hole) & mask))
			continue;
		blocks->slots[hole] = blocks->slots[at];
		hole = at;
	}
	blocks->slots[hole].address = 0;
	blocks->count--;
}

void fx_blocks_free(struct fx_blocks *blocks)
{
	free(blocks->slots);
	*blocks = (struct fx_blocks){0};
}
