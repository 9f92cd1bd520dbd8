/* SPDX-License-Identifier: MIT */
/*
 * Names of addresses in files that are looked for by build-id: in folders of debug files, in a tree that is as the machine
 * was where they ran, and, if asked for, from the servers that debuginfod-find asks.
 */
#ifndef FX_ARCHIVES_FINDER_H
#define FX_ARCHIVES_FINDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "symbols/symbols.h"

/* Folders are borrowed. */
struct fx_finder_places {
	const char *const *sysroots; /* trees; none: the machine's own */
	size_t sysroot_count;
	const char *const
	    *debug_folders; /* that have a folder .build-id, before those of the trees */
	size_t debug_folder_count;
	bool ask_servers;
};

struct fx_finder;

/* NULL: no memory. */
struct fx_finder *fx_finder_new(const struct fx_finder_places *places);

/* NULL is allowed. */
void fx_finder_free(struct fx_finder *finder);

/* A file as it was recorded. */
struct fx_finder_file {
	const char *path;
	const uint8_t *build_id;
	size_t build_id_size;
};

/* Writes the name of the function at a link-time address, ended by a NUL. False: there is none. */
bool fx_finder_name(struct fx_finder *finder, const struct fx_finder_file *file, uint64_t address,
		    char ret[FX_SYMBOL_TEXT_MAX]);

#endif
