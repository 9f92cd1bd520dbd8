/* SPDX-License-Identifier: MIT */
/*
 * What the three files of waits share.
 *
 *	blocks.c   blocks of tokens, for cells at which many wait
 *	tokens.c   tokens in a cell and its blocks: left by releases, taken by waits
 *	waits.c    cells, and the waits that take part in them
 */
#ifndef FX_PRELOAD_WAITS_INTERNAL_H
#define FX_PRELOAD_WAITS_INTERNAL_H

#include "preload/call/waits.h"

/* Others are in the way so often at most, in what is tried again until it succeeds. */
#define FX_WAIT_PATIENCE 10000

/* The thread in a note. */
#define FX_WAIT_TID_MASK (FX_TID_END - 1)

/* --- Blocks ------------------------------------------------------------------------------------ */

#define FX_TOKEN_BLOCK_TOKENS 15u

struct fx_token_block {
	struct fx_token tokens[FX_TOKEN_BLOCK_TOKENS];
	uint64_t next; /* 1 + number; 0: none */
};

/* The block of this 1 + number. */
struct fx_token_block *fx_token_block(uint64_t number);

/* 1 + number of a block that has nothing in it; 0: there is none. */
uint64_t fx_token_block_new(void);

/* Any thread may do so, once; what stands in it is forgotten. */
void fx_token_block_free(uint64_t number);

/* A forked child begins with none in use. */
void fx_token_blocks_reset(void);

/* --- Cells ------------------------------------------------------------------------------------- */

/* How many threads take part in the cell, about. */
uint32_t fx_cell_parts(struct fx_wait_cell *c);

#endif
