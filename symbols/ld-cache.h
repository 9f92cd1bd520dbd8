/* SPDX-License-Identifier: MIT */
/* glibc's cache of libraries (ldconfig(8)): where the dynamic linker finds a library by its name. */
#ifndef FX_SYMBOLS_LD_CACHE_H
#define FX_SYMBOLS_LD_CACHE_H

#include <stddef.h>

#define FX_LD_CACHE "/etc/ld.so.cache"

/* All zero: an empty one. */
struct fx_ld_cache {
	char *bytes; /* of the file */
	size_t size;
};

/* One that is missing, or of another form, is empty. */
void fx_ld_cache_read(struct fx_ld_cache *cache, const char *path);
void fx_ld_cache_clear(struct fx_ld_cache *cache);

/* Shows each place of a library of this name, also of other machines'. */
void fx_ld_cache_find(const struct fx_ld_cache *cache, const char *name,
		      void (*take)(void *opaque, const char *path), void *opaque);

#endif
