/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "preload/call/tables.h"
#include "preload/call/waits-internal.h"

#define BLOCKS 2048u

static struct fx_token_block *blocks; /* of cells, which are there only where these are */

/* Of the blocks that were given back: 1 + number of the first, below a count of changes. Others were never used. */
static uint64_t blocks_free;
static uint64_t blocks_used;

#define FREE_MASK 0xffffffffull
#define FREE_ONE  (1ull << 32)

_Static_assert(BLOCKS * sizeof(*blocks) <= FX_TOKEN_BLOCKS_ROOM, "blocks have room");

void fx_token_blocks_place(void *room)
{
	blocks = room;
}

struct fx_token_block *fx_token_block(uint64_t number)
{
	return &blocks[number - 1];
}

void fx_token_block_free(uint64_t number)
{
	uint64_t top = fx_load_relaxed(&blocks_free);
	struct fx_token_block *b = &blocks[number - 1];

	memset(b->tokens, 0, sizeof(b->tokens));
	do
		fx_store_relaxed(&b->next, top & FREE_MASK);
	while (!fx_cas_acq_rel(&blocks_free, &top, (top & ~FREE_MASK) + FREE_ONE + number));
}

uint64_t fx_token_block_new(void)
{
	uint64_t top = fx_load_acquire(&blocks_free), number;

	while (top & FREE_MASK) {
		struct fx_token_block *b = &blocks[(top & FREE_MASK) - 1];
		uint64_t rest = (top & ~FREE_MASK) + FREE_ONE + fx_load_relaxed(&b->next);

		if (fx_cas_acq_rel(&blocks_free, &top, rest)) {
			fx_store_relaxed(&b->next, 0);
			return (top & FREE_MASK);
		}
	}
	if (fx_load_relaxed(&blocks_used) >= BLOCKS)
		return 0;
	number = fx_add_relaxed(&blocks_used, 1) + 1;
	return number <= BLOCKS ? number : 0;
}

void fx_token_blocks_reset(void)
{
	for (uint64_t i = 0; i < blocks_used && i < BLOCKS; i++)
		memset(&blocks[i], 0, sizeof(blocks[i]));
	blocks_free = blocks_used = 0;
}
