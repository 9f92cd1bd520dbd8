/* SPDX-License-Identifier: MIT */
/*
 * How values flow through a function's code: from where it begins to where it calls the hook of its entry, and from where the hook
 * of its exit returns to where the function does. All ways are gone; what differs between them is not known. The code tells
 * what the debug information does not: where an argument is that the compiler has moved before it called the hook, and what
 * will be returned that is still to be computed.
 */
#ifndef FX_SYMBOLS_FLOW_H
#define FX_SYMBOLS_FLOW_H

#include "symbols/recipes/image.h"
#include "symbols/recipes/state.h"

/* At the call of an entry's hook: registers and memory in terms of those with which the function began. */
struct fx_flow_entry {
	uint64_t place; /* where the hook returns to; 0: nobody knows */
	struct fx_state state;
	struct fx_state after; /* somewhat behind the call, where the code goes straight on */
};

/* What is returned, in terms of registers and memory when the exit's hook returns. */
struct fx_flow_exit {
	uint64_t place;
	bool by_exception; /* the function is left by an exception: it returns nothing */
	bool has_stored;   /* something is stored before it returns */
	fx_node results[2], vectors[2];
	struct fx_state state; /* with which it began */
};

/* A state in which every register has what it has. */
void fx_flow_begin(struct fx_state *ret, const struct fx_image *image, struct fx_nodes *nodes,
		   enum fx_memory memory);

/* False: it cannot be told. */
bool fx_flow_enter(const struct fx_image *image, struct fx_nodes *nodes, uint64_t function,
		   struct fx_flow_entry *ret);

/* From `place' on. False: it cannot be told. */
bool fx_flow_leave(const struct fx_image *image, struct fx_nodes *nodes, uint64_t place,
		   struct fx_flow_exit *ret);

/*
 * Shows each place in [start, end) where a call may be that of an exit's hook: where it returns to. Some are none.
 */
void fx_flow_exits(const struct fx_image *image, uint64_t start, uint64_t end,
		   void (*each)(void *opaque, uint64_t place), void *opaque);

#endif
