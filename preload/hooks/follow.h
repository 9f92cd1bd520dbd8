/* SPDX-License-Identifier: MIT */
/* A recipe followed: the values of a call, as arguments of a record. */
#ifndef FX_PRELOAD_FOLLOW_H
#define FX_PRELOAD_FOLLOW_H

#include "engine/provider/engine.h"
#include "preload/hooks/kept.h"
#include "preload/hooks/recipes.h"

/* Types of arguments of the trace format. */
enum fx_follow_type {
	FX_ARG_INT32 = 1,
	FX_ARG_UINT32,
	FX_ARG_INT64,
	FX_ARG_UINT64,
	FX_ARG_DOUBLE,
	FX_ARG_STRING,
	FX_ARG_POINTER,
	FX_ARG_BOOL = 9
};

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

/* The index of a value's name, and of what is said of one without code, by its shape. 0: there is none. */
uint32_t fx_follow_name(const struct fx_thread *t, const struct fx_recipes_of *of, uint32_t offset);
uint32_t fx_follow_words(const struct fx_thread *t, unsigned shape);

#endif
