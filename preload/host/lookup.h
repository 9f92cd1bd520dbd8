/* SPDX-License-Identifier: MIT */
/*
 * What dlsym(RTLD_NEXT) would find, without the dynamic linker: no lock, no allocation, no system call, so
 * that a function can be looked up when it is called first, wherever that is. Most programs call few of
 * those that have a wrapper.
 */
#ifndef FX_PRELOAD_LOOKUP_H
#define FX_PRELOAD_LOOKUP_H

#include <stdbool.h>
#include <stdint.h>

/* Remembers the modules from this library to libc, which were loaded with the program and are never
 * unloaded; where this library came later, all up to libc. False: one is of a kind that is not understood here, and the dynamic linker has to be asked. */
bool fx_lookup_init(void);

/*
 * The function `name` of the first module that has it: of version `version`, else (or if that is empty) of
 * its default version, else of any. NULL: not found, or not a plain function; the dynamic linker may know
 * better.
 */
void *fx_lookup(const char *name, const char *version);

/* Where libc is mapped, with its headers; 0: that is not known. */
uint64_t fx_lookup_libc(void);

/* The function of this name that this library exports, where it came into a process that ran already; NULL: none. */
void *fx_lookup_own(const char *name);

#endif
