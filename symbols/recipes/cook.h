/* SPDX-License-Identifier: MIT */
/* The recipes of one function. */
#ifndef FX_SYMBOLS_COOK_H
#define FX_SYMBOLS_COOK_H

#include <elfutils/libdw.h>

#include "symbols/recipes/blob.h"
#include "symbols/recipes/flow.h"

struct fx_wanted_function {
	uint64_t address, end; /* link-time */
	unsigned flags;	       /* enum fx_recipe_flags */
	const char *specs;     /* see fx_wish_next(); NULL: by the debug information */
	bool has_die;
	Dwarf_Die die;
};

struct fx_cook {
	const struct fx_image *image;
	struct fx_nodes nodes;
	struct fx_blob blob;
	struct fx_flow_entry entry; /* of the function that is cooked */
	bool has_entry;
};

/* 0 or -ENOMEM. */
int fx_cook_init(struct fx_cook *ret, const struct fx_image *image);
void fx_cook_clear(struct fx_cook *cook);

/* Puts a struct fx_recipe_function into the blob; its offset, or 0: there is no room, or nothing is known of the function. */
uint32_t fx_cook_function(struct fx_cook *cook, struct fx_wanted_function *function);

#endif
