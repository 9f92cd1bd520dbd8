/* SPDX-License-Identifier: MIT */
/* From a symbol as the linker knows it to a name as its author wrote it. */
#ifndef FX_SYMBOLS_DEMANGLE_H
#define FX_SYMBOLS_DEMANGLE_H

#include <stddef.h>

/*
 * Longer symbols are shown as they are: the demangler takes stack in proportion to their length,
 * for this one less than FX_SYMBOL_STACK.
 */
#define FX_DEMANGLE_MAX 4096

/*
 * Writes the name of symbol, ended by a NUL, into buffer, which has room for FX_SYMBOL_NAME_MAX + 1
 * bytes. Returns its length. The rules stand in symbols.h.
 */
size_t fx_demangle(const char *symbol, char *buffer);

#endif
