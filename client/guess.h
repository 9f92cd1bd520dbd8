/* SPDX-License-Identifier: MIT */
/* What a user may have meant by a word that is none of a list. */
#ifndef FX_CLIENT_GUESS_H
#define FX_CLIENT_GUESS_H

#include <stddef.h>

struct fx_guess {
	const char *word;
	size_t length;
	const char *best; /* NULL: nothing is near */
	size_t distance;  /* of the best, or more than is near */
};

struct fx_guess fx_guess_begin(const char *word, size_t length);

/* A name of the list; of several that are as near the first counts. */
void fx_guess_try(struct fx_guess *guess, const char *name);

#endif
