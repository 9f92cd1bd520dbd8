/* SPDX-License-Identifier: MIT */
/*
 * The blocks of a heap that are in use, by address: 24 bytes each, and up to as much again for room. All zeros is an
 * empty one.
 */
#ifndef FX_CONVERT_BLOCKS_H
#define FX_CONVERT_BLOCKS_H

#include <stddef.h>
#include <stdint.h>

struct fx_block {
	uint64_t address; /* 0: the slot is free */
	uint64_t size;
	uint32_t place;	 /* of the call that allocated it */
	uint32_t thread; /* number */
};

struct fx_blocks {
	struct fx_block *slots;
	size_t slot_count; /* a power of two, or 0 */
	size_t count;
};

/* NULL: there is none. Valid until the next change. */
struct fx_block *fx_blocks_find(const struct fx_blocks *blocks, uint64_t address);

/* Adds a block whose address is not 0, and not there yet. Returns 0 or -ENOMEM. */
int fx_blocks_add(struct fx_blocks *blocks, struct fx_block block);

/* Of fx_blocks_find(). */
void fx_blocks_remove(struct fx_blocks *blocks, struct fx_block *block);

void fx_blocks_free(struct fx_blocks *blocks);

#endif
