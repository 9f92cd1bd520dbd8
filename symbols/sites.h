/* SPDX-License-Identifier: MIT */
/* The functions that a file itself names, whose symbols are gone: built with the compiler plugin (include/fxtrace/gate.h). */
#ifndef FX_SYMBOLS_SITES_H
#define FX_SYMBOLS_SITES_H

#include <libelf.h>
#include <stddef.h>
#include <stdint.h>

struct fx_site_seen {
	uint64_t address; /* link-time */
	const char *name,
	    *file; /* as the compiler knows them; good as long as the Elf; "" if damaged */
	uint32_t line, size, flags; /* as in struct fxtrace_site */
};

/*
 * Calls `take` for each, in the order of the file, until it returns something else than 0, which is returned. 0: all were
 * shown, or there are none. What leads nowhere in a damaged file is passed over.
 */
int fx_sites_read(Elf *elf, int (*take)(void *opaque, const struct fx_site_seen *site),
		  void *opaque);

#endif
