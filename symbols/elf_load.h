/* SPDX-License-Identifier: MIT */
/* Reads the code symbols of an ELF file by libdwfl: nothing else in the tree knows libdw. */
#ifndef FX_SYMBOLS_ELF_LOAD_H
#define FX_SYMBOLS_ELF_LOAD_H

#include "symbols/symbols.h"
#include "symbols/table.h"

/* What to read. */
struct fx_elf_source {
	int fd;			 /* open for reading, at any offset; stays the caller's */
	const char *path;	 /* for the search for a debug file */
	const uint8_t *build_id; /* that the file must have; NULL: any or none */
	size_t build_id_size;
	const char *debug_path; /* as for fx_symbol_cache_create() */
	uint64_t limit;		/* bytes that its symbols may take */
};

/*
 * Fills *ret, which then is the caller's to clear. 0, or an enum fx_symbol_problem_kind plus
 * one; then *ret is untouched. A file without any symbol gives an empty table.
 */
int fx_elf_load(const struct fx_elf_source *source, struct fx_symtab *ret);

#endif
