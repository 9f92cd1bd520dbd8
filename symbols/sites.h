/* SPDX-License-Identifier: MIT */
/* The functions that a file itself names, whose symbols are gone: built with the compiler plugin (include/fxtrace/gate.h). */
#ifndef FX_SYMBOLS_SITES_H
#define FX_SYMBOLS_SITES_H

#include <libelf.h>

#include "symbols/listing.h"

/*
 * Calls `take` for each, in the order of the file, until it returns something else than 0, which is returned. 0: all were
 * shown, or there are none. What leads nowhere in a damaged file is passed over.
 */
int fx_sites_read(Elf *elf, fx_site_take *take, void *opaque);

#endif
