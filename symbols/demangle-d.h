/* SPDX-License-Identifier: MIT */
#ifndef FX_SYMBOLS_DEMANGLE_D_H
#define FX_SYMBOLS_DEMANGLE_D_H

#include <stddef.h>

/*
 * The name that a symbol of the language D stands for, as `app.Shape.area(ref app.Point, out int)': without what it returns. `size' bytes
 * of it at most are written, without a NUL, and what is more is left out. Returns how many; 0: it is no symbol of D's.
 */
size_t fx_demangle_d(const char *symbol, char *buffer, size_t size);

#endif
