/* SPDX-License-Identifier: MIT */
/*
 * Functions and which calls which, from paths, for formats that know no paths. The cost of a call is what passes inside
 * it, but for what is the caller's own there: so that a function's own cost and that of its calls are what passed while
 * it was open, once, also where it calls itself.
 */
#ifndef FX_CONVERT_PICTURES_FUNCTIONS_H
#define FX_CONVERT_PICTURES_FUNCTIONS_H

#include "convert/pictures/picture.h"

struct fx_functions {
	/* Functions are the children of the root, and the functions that they call are theirs: here every number is a path. */
	struct fx_paths paths;
	FX_VECTOR(uint64_t)
	costs; /* of a function what is its own, of those that it calls what passed inside */
	FX_VECTOR(uint64_t) calls;
};

/* Makes them of what was weighed; @totals is fx_picture_totals(). Returns 0 or -ENOMEM; destroy it either way. */
int fx_functions_make(const struct fx_picture *picture, const uint64_t *totals,
		      struct fx_functions *ret);
/* The function that a caller's child stands for. */
uint32_t fx_functions_callee(struct fx_functions *functions, uint32_t edge);

void fx_functions_destroy(struct fx_functions *functions);

#endif
