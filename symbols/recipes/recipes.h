/* SPDX-License-Identifier: MIT */
/*
 * The table of one file (engine/recipe.h): its functions that are left out, and recipes for each that is chosen.
 *
 *	recipes.c	which functions, and where the debug information has them
 *	cook.c		the recipes of one function
 *	shown.c	what is shown of a type, with code for it (code.c); types.c knows types
 *	spot.c		where the debug information says that an argument is; order.c checks that
 *	flow.c		how values move from there to the call of a hook; step.c's x86.c knows instructions
 *	node.c, state.c	expressions, and what registers and memory hold
 *	image.c, blob.c	the code that is read, the table that is written
 */
#ifndef FX_SYMBOLS_RECIPES_H
#define FX_SYMBOLS_RECIPES_H

#include "symbols/elf-load.h"

/* What was found. */
struct fx_recipes {
	uint8_t *table; /* a struct fx_recipe_table; NULL: there is none */
	uint32_t size;
	uint32_t matched;  /* functions whose values are wanted, if the file has hooks at all */
	uint32_t left_out; /* functions that are not to be recorded, the same */
	uint32_t
	    unknown; /* those of them of which nothing is known: there is no debug information */
	bool is_cut; /* not all have found room */
};

/* `patterns': as in symbols/patterns.h. 0, or an enum fx_symbol_problem_kind plus one. */
int fx_recipes_read(const struct fx_elf_source *source, const char *patterns,
		    struct fx_recipes *ret);

void fx_recipes_clear(struct fx_recipes *recipes);

#endif
