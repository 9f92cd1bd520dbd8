/* SPDX-License-Identifier: MIT */
/* Where this library itself was loaded from, and which names mean it. */
#ifndef FX_PRELOAD_SELF_H
#define FX_PRELOAD_SELF_H

#include <stdbool.h>
#include <stddef.h>

/* The path as the dynamic linker has it, relative if LD_PRELOAD's was; NULL: not known. The first call in the
 * constructor: it takes the dynamic linker's lock. */
const char *fx_self_path(void);

/* Whether it came into a process that ran already (base/late.h). As above. */
bool fx_self_is_late(void);

/* Whether a list as LD_PRELOAD has it names this library, by whatever path. */
bool fx_self_is_in(const char *list);

/* Whether an element of such a list does. */
bool fx_self_is(const char *element, size_t length);

/* The next element of a list; NULL at its end. */
const char *fx_self_next(const char *list, size_t *ret_length);

#endif
