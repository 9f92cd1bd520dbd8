/* SPDX-License-Identifier: MIT */
/*
 * In which registers a function gets its arguments, by the machine's convention. It proves what code shows that may be something
 * else: code that stores a register into an argument's place has stored the argument only if it is the right register.
 */
#ifndef FX_SYMBOLS_ORDER_H
#define FX_SYMBOLS_ORDER_H

#include "symbols/recipes/spot.h"
#include "symbols/recipes/types.h"

struct fx_order {
	unsigned general, vectors; /* registers that are given away */
	bool is_unsure;
};

/* Before the first argument of a function. */
void fx_order_begin(Dwarf_Die *function, enum fx_convention convention, struct fx_order *ret);

/* Where one argument is handed on. */
struct fx_order_place {
	enum fx_class classes[2];
	int numbers[2]; /* of registers */
	unsigned size;	/* bytes of the argument */
	bool is_known;
};

/* Goes over one argument. */
void fx_order_next(struct fx_order *order, const struct fx_type *type,
		   enum fx_convention convention, struct fx_order_place *ret);

/* Whether `spot', by the state, has just what is handed on there. */
bool fx_order_is(const struct fx_order_place *place, const struct fx_spot *spot,
		 const struct fx_state *state);

#endif
