/* SPDX-License-Identifier: MIT */
/* The functions that had the compiler plugin's code before the linker made its own of them, without the plugin (include/fxtrace/gate.h). */
#ifndef FX_SYMBOLS_EARLY_SITES_H
#define FX_SYMBOLS_EARLY_SITES_H

#include <libelf.h>

#include "symbols/listing.h"

/*
 * Calls `take' for each that the linker has left, as the symbols say; for each, with the address 0, where there are none. Until it
 * returns something else than 0, which is returned. 0: all were shown, or there are none; -ENOMEM.
 */
int fx_early_sites_read(Elf *elf, fx_site_take *take, void *opaque);

#endif
