/* SPDX-License-Identifier: MIT */
/*
 * How the files of a cache are read. Without a loader, when the first address asks for a name. With one, in processes
 * apart: a caller that wants names says so beforehand, goes on with something else, and looks whether they are there.
 */
#ifndef FX_SYMBOLS_READING_H
#define FX_SYMBOLS_READING_H

#include "symbols/file.h"

/* How many files of one user are read at a time. */
#define FX_LOADS_PER_USER 4u

/* Names of the file are wanted: it is waited for from here on, unless it was for too long. */
void fx_file_want(struct fx_symbol_cache *cache, const struct fx_view *view,
		  struct fx_symbol_file *file);

/* Whether it need not be waited for: it was read, it cannot be, or it takes too long. */
bool fx_file_is_settled(struct fx_symbol_cache *cache, const struct fx_view *view,
			struct fx_symbol_file *file);

/* The symbol that contains a link-time address: all but its kind and module. False if there is none, or not yet. */
bool fx_file_find(struct fx_symbol_cache *cache, const struct fx_view *view,
		  struct fx_symbol_file *file, uint64_t address, struct fx_symbol *ret);

/* As fx_symspace_places_at(), of a link-time address; 0 as well if the file has not been read. */
unsigned fx_file_places(struct fx_symbol_cache *cache, struct fx_symbol_file *file,
			uint64_t address, struct fx_symbol_place ret[FX_SYMBOL_PLACES_MAX]);

#endif
