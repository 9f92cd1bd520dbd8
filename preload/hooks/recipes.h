/* SPDX-License-Identifier: MIT */
/*
 * What the manager tells of functions (engine/recipe.h), in the control page's memory: which are left out, and recipes for those
 * whose arguments or results are wanted. It may come at any time; every thread learns of it as it adopts the state.
 */
#ifndef FX_PRELOAD_RECIPES_H
#define FX_PRELOAD_RECIPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/compiler.h"
#include "engine/recipe.h"

/* A function's, in the table of its module. All that it names is looked at by fx_recipe_at(). */
struct fx_recipes_of {
	const struct fx_recipe_function *function; /* NULL: nothing is wanted of it */
	const uint8_t *table;
	uint32_t size; /* bytes of the table */
	uint64_t bias;
};

/* Looks for what the manager has put there. Whether something has changed. */
bool fx_recipes_look(void);

/* What is known of a function: whether it is left out; and then, whether by one in many it is recorded all the same; or whether it is where
 * it lies in no call of one that is not so. */
enum fx_recipes_choice { FX_RECIPES_IN, FX_RECIPES_OUT, FX_RECIPES_COUNTED, FX_RECIPES_SCOPED };

enum fx_recipes_choice fx_recipes_choose(uint64_t function);
bool fx_recipes_leave_out(uint64_t function); /* wherever it is */

/* Whether there are any. */
extern bool fx_recipes_some __attribute__((visibility("hidden")));

fx_cold void fx_recipes_find_slow(uint64_t function, struct fx_recipes_of *ret);

fx_hot void fx_recipes_find(uint64_t function, struct fx_recipes_of *ret)
{
	if (fx_likely(!fx_recipes_some))
		ret->function = NULL;
	else
		fx_recipes_find_slow(function, ret);
}

/* The recipe for a place, the hook's return address, of FX_RECIPE_ARGS or FX_RECIPE_RESULT; NULL: there is none. */
const struct fx_recipe *fx_recipe_for(const struct fx_recipes_of *of, uint64_t place,
				      uint32_t kind);

/* `size' bytes of the table at an offset; NULL: they are not there. */
const void *fx_recipe_at(const struct fx_recipes_of *of, uint32_t offset, uint64_t size);

/* For fx_function_key: the address of a function, or, if something is wanted of it, that of its recipes. */
uint64_t fx_recipes_key(uint64_t function);

#endif
