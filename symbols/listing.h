/* SPDX-License-Identifier: MIT */
/* The functions of a program or library that were built with the compiler plugin (include/fxtrace/gate.h). */
#ifndef FX_SYMBOLS_LISTING_H
#define FX_SYMBOLS_LISTING_H

#include <stdint.h>

struct fx_site_seen {
	uint64_t address; /* link-time; 0: not known */
	const char *name,
	    *file; /* as the compiler knows them; good during the call; "" if damaged */
	uint32_t line, size, flags; /* as in struct fxtrace_site */
};

/* What is done with each: something else than 0 ends the reading, and is its result. */
typedef int fx_site_take(void *opaque, const struct fx_site_seen *site);

/*
 * Shows each function of the file at `path', in its order; then those whose code was optimised at link time without the plugin,
 * without their addresses where the symbols were stripped: the linker may have left any of these out. 0, what `take' returned,
 * or -errno; -EINVAL: it is no ELF file.
 */
int fx_sites_of_file(const char *path, fx_site_take *take, void *opaque);

#endif
