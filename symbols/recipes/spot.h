/* SPDX-License-Identifier: MIT */
/* Where an argument is, as the debug information has it: in terms of what a state holds. */
#ifndef FX_SYMBOLS_SPOT_H
#define FX_SYMBOLS_SPOT_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stdint.h>

#include "symbols/recipes/state.h"

#define FX_SPOT_PIECES 4u

struct fx_spot_piece {
	bool is_memory; /* `node' is its address, else its value */
	fx_node node;
	unsigned size; /* bytes; 0: all there is */
};

struct fx_spot {
	struct fx_spot_piece pieces[FX_SPOT_PIECES];
	unsigned count;	    /* 0: it is not there */
	bool is_everywhere; /* at all places of the function; else as of one */
};

/* Where `die' (a parameter of `function') is at the address `pc', of which `state' is. */
void fx_spot_find(Dwarf_Die *die, Dwarf_Die *function, uint64_t pc, const struct fx_state *state,
		  struct fx_spot *ret);

/*
 * The node of `size' bytes from `offset' on of what is there, by the state; FX_NODE_UNKNOWN: it is not known. If they
 * lie in memory that the state knows nothing of, *ret_address is where; else that is FX_NODE_UNKNOWN.
 */
fx_node fx_spot_get(const struct fx_spot *spot, const struct fx_state *state, unsigned offset,
		    unsigned size, fx_node *ret_address);

#endif
