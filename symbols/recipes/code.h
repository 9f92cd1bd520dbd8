/* SPDX-License-Identifier: MIT */
/* An expression as code for the hooks (engine/recipe.h). */
#ifndef FX_SYMBOLS_CODE_H
#define FX_SYMBOLS_CODE_H

#include <stddef.h>

#include "engine/recipe.h"
#include "symbols/recipes/state.h"

struct fx_code {
	uint8_t bytes[FX_RECIPE_CODE_MAX];
	size_t size;
	unsigned depth; /* of its stack, behind it */
};

/*
 * Appends what makes the lower `size' bytes of `want' out of what the hook finds in the state. False: it cannot be had, and the
 * code is as before. What is above these bytes may be anything.
 */
bool fx_code_make(const struct fx_state *s, fx_node want, unsigned size, struct fx_code *code);

/* Appends a load of `size' bytes at the address on top, which may be a bad one; or, fx_code_load(), of this stack. */
bool fx_code_follow(struct fx_code *code, unsigned size);
bool fx_code_load(struct fx_code *code, unsigned size);

/* Appends the sum of what is on top and a constant. */
bool fx_code_add(struct fx_code *code, int64_t value);

/* Appends a shift of what is on top; `op': which. */
bool fx_code_shift(struct fx_code *code, enum fx_recipe_op op, unsigned count);

/* Appends code that leaves one value more. */
bool fx_code_append(struct fx_code *code, const struct fx_code *more);

#endif
