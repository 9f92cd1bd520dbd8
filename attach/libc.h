/* SPDX-License-Identifier: MIT */
/* The C library of a process that is to get libfxtrace.so: what it exports, and what of its code is needed. */
#ifndef FX_ATTACH_LIBC_H
#define FX_ATTACH_LIBC_H

#include <stdint.h>

#include "attach/target.h"

/* Fills in what of a target is the C library's. 0, or -errno with *why, of FX_TARGET_WHY bytes, filled. */
int fx_target_read_libc(struct fx_target *target, char *why);

/* The function of libc that the address lies in, as far as libc exports it; NULL: none. */
const char *fx_target_function_at(const struct fx_target *target, uint64_t address);

/* Where the module that begins at `module` has a function; 0: it has not. */
uint64_t fx_target_function_of(const struct fx_target *target, uint64_t module, const char *name);

#endif
