/* SPDX-License-Identifier: MIT */
/* Who finds this library, and for how long: one that came with a library which was loaded by dlopen() is found by that alone, and goes
 * with it. */
#ifndef FX_PROVIDER_SCOPE_H
#define FX_PROVIDER_SCOPE_H

/* It stays, for other modules' macros lead to it. Modules that are loaded from now on find it too; but where it is part of
 * a program, that is the linker's to do, and of what it is part of nothing else is made known. */
void fx_scope_widen(void);

#endif
