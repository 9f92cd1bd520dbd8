/* SPDX-License-Identifier: MIT */
/* Who finds this library: one that came with a library which was loaded by dlopen() is found by that alone. */
#ifndef FX_PROVIDER_SCOPE_H
#define FX_PROVIDER_SCOPE_H

/* Modules that are loaded from now on find it too, and it stays; where it is part of a program that is the linker's to do. */
void fx_scope_widen(void);

#endif
