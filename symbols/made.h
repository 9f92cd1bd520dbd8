/* SPDX-License-Identifier: MIT */
/*
 * The code that a process made while it ran, by the map that its compiler wrote (symbols/jit-map.h). The map is looked at as
 * late as can be, when an address in no module is wanted, and again when another comes that it does not know: each look is
 * a file of the cache, of the lines that were added since the one before, and the newest that knows an address is right.
 */
#ifndef FX_SYMBOLS_MADE_H
#define FX_SYMBOLS_MADE_H

#include <stdbool.h>

#include "symbols/file.h"

/* After so many looks all is read anew, into one. */
#define FX_MADE_LOOKS 16u

/* Code may have made room for other code since the last look, if that was so long ago. */
#define FX_MADE_FRESH_NS UINT64_C(10000000)

/* After so many looks in vain there is one in so long a time. */
#define FX_MADE_VAIN	 16u
#define FX_MADE_PAUSE_NS UINT64_C(1000000000)

struct fx_made {
	struct fx_symbol_cache *cache; /* borrowed */
	const struct fx_view *view;    /* borrowed; NULL: the reader's own */
	char path[FX_MAP_PATH_MAX];    /* "": there is no map */
	struct fx_jit_source source;   /* for the next look */
	struct fx_symbol_file
	    *looks[FX_MADE_LOOKS + 1]; /* oldest first; the last may not be over */
	size_t count;
	bool is_looking; /* what came of the newest has not been taken */
	uint64_t looked; /* ns; when it began */
	unsigned vain;	 /* looks that brought nothing, since one that did */
	bool is_over;	 /* the map is more than is borne */
};

void fx_made_clear(struct fx_made *made);

/* The name of an address is wanted: looks, if that may be of use. */
void fx_made_want(struct fx_made *made, uint64_t address);

/* Whether there is nothing to wait for. */
bool fx_made_is_settled(struct fx_made *made);

/* As fx_file_find(), of a run-time address. The module is told as well. Strings are valid until the next call. */
bool fx_made_find(struct fx_made *made, uint64_t address, struct fx_symbol *ret);

#endif
