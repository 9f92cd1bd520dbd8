/* SPDX-License-Identifier: MIT */
/* A recipe followed: the values of a call, as arguments of a record. */
#ifndef FX_PRELOAD_FOLLOW_H
#define FX_PRELOAD_FOLLOW_H

#include "engine/provider/engine.h"
#include "preload/hooks/kept.h"
#include "preload/hooks/recipes.h"

/* Where they are written to. */
struct fx_followed {
	uint64_t *words;
	unsigned size, room;  /* words */
	unsigned count, most; /* arguments */
};

/* Arguments that a record has; and those of them for what the call was called with. */
#define FX_FOLLOW_ALL  15u
#define FX_FOLLOW_ARGS 13u

/* Appends the values of a recipe. What finds no room is left out, and how many are is said. */
void fx_follow(const struct fx_thread *t, const struct fx_recipes_of *of,
	       const struct fx_recipe *recipe, const struct fx_kept *kept, struct fx_followed *to);

#endif
