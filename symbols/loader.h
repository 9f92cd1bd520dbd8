/* SPDX-License-Identifier: MIT */
/*
 * Reads symbols in processes apart, one for each file. A program that names a file may have made it: reading it may take any
 * time and memory, or never end. So each reader has a limit for all of these, and the rights of the process that named the
 * file; it answers with a table, which is checked and copied.
 *
 *	caller --job--> starter, forked early --fork--> watcher --fork--> reader
 *	       <-----------------how it ended------------------|             |
 *	       <-----------------------the table (memfd)---------------------'
 */
#ifndef FX_SYMBOLS_LOADER_H
#define FX_SYMBOLS_LOADER_H

#include <stdint.h>

#include "symbols/elf-load.h"
#include "symbols/recipes/recipes.h"
#include "symbols/view.h"

struct fx_loader {
	int socket; /* to the starter */
};

struct fx_load;

/* Forks the starter. 0 or -errno. */
int fx_loader_start(struct fx_loader **ret);

/* NULL is allowed. */
void fx_loader_stop(struct fx_loader *loader);

/*
 * Begins to read a file: the one that is open, or, with source->fd -1, the one that stands at its path in the view.
 * source->debug_path is the starter's own. 0 or -errno.
 */
int fx_load_begin(struct fx_loader *loader, const struct fx_elf_source *source,
		  const struct fx_view *view, struct fx_load **ret);

/* The same for the recipes of the functions that `patterns' mean (symbols/patterns.h). */
int fx_load_begin_recipes(struct fx_loader *loader, const struct fx_elf_source *source,
			  const struct fx_view *view, const char *patterns, struct fx_load **ret);

/* The same; *ret_failed and *ret are as of fx_recipes_read(). */
bool fx_load_end_recipes(struct fx_load *load, int *ret_failed, struct fx_recipes *ret);

/* False: it is not over. Else *ret_failed and *ret are as of fx_elf_load(), and the load is gone. */
bool fx_load_end(struct fx_load *load, int *ret_failed, struct fx_symtab *ret);

/* Ends a load that goes on. NULL is allowed. */
void fx_load_forget(struct fx_load *load);

#endif
