/* SPDX-License-Identifier: MIT */
/* The source files that functions stand in, by the debug information, or by what the compiler plugin has left. */
#ifndef FX_SYMBOLS_SOURCES_H
#define FX_SYMBOLS_SOURCES_H

#include "symbols/table.h"

struct Dwfl_Module;

/* Fills in those of the table's functions that are known. 0, -ENOMEM or -EFBIG. */
int fx_sources_read(struct Dwfl_Module *module, struct fx_symtab *table);

#endif
