/* SPDX-License-Identifier: MIT */
/*
 * What is wanted of a function without debug information, as uftrace spells it: a comma list of
 *
 *	argN[/FORMAT]		an argument that goes into a general register or takes a word of the stack
 *	fpargN[/SIZE]		one that goes into a vector register
 *	retval[/FORMAT]		what is returned
 *
 *	FORMAT		a letter (i u x p s c f S d), then bits: 8, 16, 32 or 64; of `f', 32 or 64
 *	i, d		a number with a sign; without a format, one of 64 bits
 *	u, x, p		a number without one; a pointer
 *	s, S		a text that ends with a NUL; a std::string
 *	c		a character
 *	f		a number with a point
 */
#ifndef FX_SYMBOLS_WISH_H
#define FX_SYMBOLS_WISH_H

#include <stdbool.h>

#include "engine/recipe.h"

enum fx_wish_kind { FX_WISH_ARG, FX_WISH_VECTOR, FX_WISH_RESULT };

struct fx_wish {
	enum fx_wish_kind kind;
	unsigned index; /* from 0 */
	enum fx_recipe_shape shape;
	bool is_string; /* FX_SHAPE_BYTES: of a std::string, whose address it is */
	unsigned size;	/* bytes */
};

/* Takes the next one; *at is behind it, and behind the comma. False: it is none. */
bool fx_wish_next(const char **at, struct fx_wish *ret);

/* Whether a text is such a list. */
bool fx_wishes_are_sound(const char *text);

#endif
