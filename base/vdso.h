/* SPDX-License-Identifier: MIT */
/*
 * The kernel's own shared object, which is mapped into every process: what it has of use takes no system call,
 * and nobody can stand in front of it as a program or a preloaded library can before a function of libc.
 */
#ifndef FX_BASE_VDSO_H
#define FX_BASE_VDSO_H

#include <stdbool.h>
#include <stddef.h>

/* A value of the auxiliary vector, as the kernel tells it now; false, with 0: it has none. By raw system calls
 * alone; a descriptor may be open meanwhile. */
bool fx_auxv_value(unsigned long type, unsigned long *ret);

/* The same in a vector that lies in memory, up to AT_NULL. */
bool fx_auxv_find(const unsigned long *auxv, unsigned long type, unsigned long *ret);

/* A function of the ELF image at `image` (AT_SYSINFO_EHDR), or NULL: it has none of this name, or is none that is
 * understood. */
void *fx_vdso_find(const void *image, const char *name);

#endif
