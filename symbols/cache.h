/* SPDX-License-Identifier: MIT */
/* Which module has which file. */
#ifndef FX_SYMBOLS_CACHE_H
#define FX_SYMBOLS_CACHE_H

#include "symbols/file.h"

/* The file of a module, made if need be, with one user more. 0 or -ENOMEM. */
int fx_file_use(struct fx_symbol_cache *cache, const struct fx_view *view,
		const struct fx_symbol_module *module, struct fx_symbol_file **ret);

void fx_file_unuse(struct fx_symbol_cache *cache, struct fx_symbol_file *file);

#endif
