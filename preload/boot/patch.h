/* SPDX-License-Identifier: MIT */
/*
 * Functions that begin with room for a call (nops.h) get one, to what __fentry__ does, if that was asked for: --patch. Which these
 * are the unwind tables tell, in stripped programs too. The code is written while the process has one thread: of the
 * modules that are there from the start, and of those that are loaded while that is so.
 */
#ifndef FX_PRELOAD_PATCH_H
#define FX_PRELOAD_PATCH_H

#include <stdbool.h>

/* In the constructor, when the process is attached. */
void fx_patch_begin(void);

/* Whether what is loaded from now on is to be looked at. */
bool fx_patch_is_wanted(void);

/* Something may have been loaded. Takes the dynamic linker's lock. */
void fx_patch_loaded(void);

#endif
