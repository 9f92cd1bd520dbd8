/* SPDX-License-Identifier: MIT */
/*
 * What providers are told of their functions (engine/recipe.h), if some are left out, or their arguments or results wanted:
 * readers in processes apart make a table of each module's file, once for all processes that have it; it is put into each one's
 * book. For arguments a process waits as it begins, so that its first call has them; functions that are to be left out it
 * records until it knows, and the writer drops them. All of this is the control thread's, which waits for nothing.
 */
#ifndef FX_MANAGER_RECIPES_H
#define FX_MANAGER_RECIPES_H

#include <stdbool.h>
#include <stdint.h>

#include "manager/door/provider.h"
#include "manager/door/recipe-files.h"

/* What a session wants; NULL: there is none. Nothing of an earlier one is kept. */
void fx_recipes_want(struct fx_recipe_maker *maker, const struct fx_session_config *config);

/* The list has these lines besides. Providers were told that it is over (fx_recipes_end()), and hear of it by
 * fx_recipes_change(). */
void fx_recipes_add(struct fx_recipe_maker *maker, const char *lines);

/* The same, if the session has another list, to which the lines of functions that drown the others belong as before. */
void fx_recipes_choose(struct fx_recipe_maker *maker, const struct fx_session_config *config);
void fx_recipes_destroy(struct fx_recipe_maker *maker);

/* A provider begins, with an empty book; with the one of its parent; or another session begins for it. */
void fx_recipes_begin(const struct fx_recipe_maker *maker, struct fx_provider *p);
void fx_recipes_inherit(const struct fx_recipe_maker *maker, struct fx_provider *p);
void fx_recipes_renew(const struct fx_recipe_maker *maker, struct fx_provider *p);
void fx_recipes_end(struct fx_provider *p);

/* The list has changed: its tables are made anew, and those that it has hold until then. */
void fx_recipes_change(struct fx_provider *p);

/* Looks for new modules of a provider, and puts into its book what is ready. True: something is being made for it. */
bool fx_recipes_turn(struct fx_recipe_maker *maker, struct fx_provider *p);

#endif
