/* SPDX-License-Identifier: MIT */
/* Reads the code symbols of an ELF file by libdwfl: nothing else in the tree knows libdw. */
#ifndef FX_SYMBOLS_ELF_LOAD_H
#define FX_SYMBOLS_ELF_LOAD_H

#include "symbols/jit-map.h"
#include "symbols/symbols.h"
#include "symbols/table.h"

/* What to read. */
struct fx_elf_source {
	int fd;			 /* open for reading, at any offset; stays the caller's */
	const char *path;	 /* for the search for a debug file */
	const uint8_t *build_id; /* that the file must have; NULL: any or none */
	size_t build_id_size;
	const char *debug_path;		 /* as for fx_symbol_cache_create() */
	uint64_t limit;			 /* bytes that its symbols may take */
	bool wants_sources;		 /* the source files of its functions, too */
	bool wants_lines;		 /* the places of its code, too */
	const char *store;		 /* the folder in which tables are kept; NULL: none */
	const struct fx_jit_source *map; /* NULL, or it is no ELF file but such a map */
};

/* What else is asked of a file while it is open: its symbols are there. */
struct Dwfl_Module;
typedef int fx_elf_more(void *opaque, struct Dwfl_Module *module, const struct fx_symtab *table);

/*
 * Fills *ret, which then is the caller's to clear. 0, or an enum fx_symbol_problem_kind plus
 * one; then *ret is untouched. A file without any symbol gives an empty table.
 */
int fx_elf_load(const struct fx_elf_source *source, struct fx_symtab *ret);

/* The same; then `more' is asked, and what it returns is the result, as above. */
int fx_elf_load_and(const struct fx_elf_source *source, struct fx_symtab *ret, fx_elf_more *more,
		    void *opaque);

#endif
