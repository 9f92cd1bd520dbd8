/* SPDX-License-Identifier: MIT */
/* The values of a recipe: what is shown of a type, and the code for each part of it. */
#ifndef FX_SYMBOLS_SHOWN_H
#define FX_SYMBOLS_SHOWN_H

#include "engine/recipe.h"
#include "symbols/recipes/blob.h"
#include "symbols/recipes/code.h"
#include "symbols/recipes/spot.h"
#include "symbols/recipes/types.h"

struct fx_shown {
	struct fx_blob *blob;
	struct fx_recipe_value list[FX_RECIPE_VALUES];
	unsigned limit; /* of `count' */
	unsigned count;
	unsigned more; /* beyond those */
};

/* Where the bytes of a value are. */
struct fx_whence {
	const struct fx_spot *spot;	/* NULL: it is lost */
	const struct fx_state *seen;	/* the state that the spot is of */
	const struct fx_state *at_hook; /* what there is, in the same terms */
};

/* Appends the value, or, of a struct, its members, as `NAME.MEMBER'. */
void fx_shown_add(struct fx_shown *values, const char *name, const struct fx_type *type,
		  const struct fx_whence *source);

/* Appends one that is told without debug information. */
void fx_shown_add_plain(struct fx_shown *values, const char *name, enum fx_recipe_shape shape,
			unsigned size, const struct fx_code *code);

/* Whether code can be made for `size' bytes from `offset' on. */
bool fx_whence_code(const struct fx_whence *source, unsigned offset, unsigned size,
		    struct fx_code *code);

/* The recipe of the values; 0: there is no room. */
uint32_t fx_shown_put(const struct fx_shown *values);

#endif
