/* SPDX-License-Identifier: MIT */
#include <criterion/criterion.h>

#include <stdbool.h>
#include <string.h>

#include "convert/blocks.h"

enum { ADDRESSES = 5000, STEPS = 200000 };

static uint32_t random_state = 1;

static uint32_t next_random(void)
{
	random_state = random_state * 1664525 + 1013904223;
	return random_state >> 8;
}

/* Against an array that says what is there. Addresses stand close together, so that their slots do. */
Test(blocks, as_an_array_says)
{
	static uint64_t sizes[ADDRESSES];
	struct fx_blocks blocks = {0};
	size_t count = 0;

	for (uint32_t i = 0; i < STEPS; i++) {
		/* Few are there at first, and then almost all. */
		uint32_t n = next_random() % (i < STEPS / 2 ? ADDRESSES / 50 : ADDRESSES);
		uint64_t address = 0x10000 + 16 * (uint64_t)n;
		struct fx_block *block = fx_blocks_find(&blocks, address);

		cr_assert_eq(block != NULL, sizes[n] != 0, "step %u", i);
		if (block)
			cr_assert_eq(block->size, sizes[n]);
		if (block && next_random() % 3 == 0) {
			fx_blocks_remove(&blocks, block);
			sizes[n] = 0;
			count--;
		} else if (!block) {
			sizes[n] = i + 1;
			cr_assert_eq(fx_blocks_add(&blocks, (struct fx_block){.address = address,
									      .size = i + 1}),
				     0);
			count++;
		}
		cr_assert_eq(blocks.count, count);
	}
	for (uint32_t n = 0; n < ADDRESSES; n++)
		cr_assert_eq(fx_blocks_find(&blocks, 0x10000 + 16 * (uint64_t)n) != NULL,
			     sizes[n] != 0);
	cr_assert_gt(count, ADDRESSES / 2);
	fx_blocks_free(&blocks);
	cr_assert_null(fx_blocks_find(&blocks, 0x10000));
}
