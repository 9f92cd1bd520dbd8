/* SPDX-License-Identifier: MIT */
/*
 * What registers and memory hold at some point of a function's code, as far as it is known. Registers have DWARF's numbers.
 *
 * Of memory, what was stored on the way is remembered. What was there before is known to be still there unless something may
 * have been stored over it.
 */
#ifndef FX_SYMBOLS_STATE_H
#define FX_SYMBOLS_STATE_H

#include "symbols/recipes/node.h"

struct fx_image;

#define FX_STATE_REGISTERS 33u /* general ones, and the lower halves of vectors */
#define FX_STATE_CELLS	   96u

/* A register's value: its lower `size' bytes. */
struct fx_held {
	fx_node node;
	uint32_t size;
};

/* Bytes in memory, at most 8. */
struct fx_stored {
	fx_node base;
	int64_t offset;
	uint32_t size;
	fx_node value;
};

/* What may be said of memory before anything was stored. */
enum fx_memory {
	FX_MEMORY_ABOVE, /* what the caller has put on the stack */
	FX_MEMORY_ALL,
};

struct fx_state {
	struct fx_nodes *nodes;	      /* borrowed */
	const struct fx_image *image; /* the same */
	struct fx_held registers[FX_STATE_REGISTERS];
	struct fx_stored cells[FX_STATE_CELLS];
	uint32_t count;
	enum fx_memory memory;
	fx_node stack;	/* the stack pointer as it was at first */
	int64_t above;	/* from there on it is the caller's */
	fx_node stored; /* the base of all stores; FX_NODE_UNKNOWN: there was none */
	bool is_wild;	/* something was stored nobody knows where */
	/* What the function has not copied may be anything: its compiler has callers leave out what it does not use. */
	bool has_copies_alone;
};

/* The lower `size' bytes of a register, zero-extended. */
fx_node fx_state_get(const struct fx_state *s, unsigned number, unsigned size);

/* Sets them; what is behind them is not known. */
void fx_state_set(struct fx_state *s, unsigned number, fx_node value, unsigned size);

/* `size' bytes at an address, zero-extended. */
fx_node fx_state_load(const struct fx_state *s, fx_node address, unsigned size);
void fx_state_store(struct fx_state *s, fx_node address, unsigned size, fx_node value);

/* Whether all of these bytes were stored on the way, whatever it was. */
bool fx_state_has_stored(const struct fx_state *s, fx_node address, unsigned size);

#endif
