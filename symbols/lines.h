/* SPDX-License-Identifier: MIT */
/* The source lines of a file's code, and its inlined functions, by the debug information. */
#ifndef FX_SYMBOLS_LINES_H
#define FX_SYMBOLS_LINES_H

#include <stdint.h>

#include "symbols/table.h"

struct Dwfl_Module;

/*
 * Fills in the table's places, which then take no more than `limit` bytes with the names: what is beyond that, or beyond
 * the time that this may take, has no lines. 0 or -ENOMEM.
 */
int fx_lines_read(struct Dwfl_Module *module, uint64_t limit, struct fx_symtab *table);

#endif
