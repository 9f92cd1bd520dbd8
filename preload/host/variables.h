/* SPDX-License-Identifier: MIT */
/* The program's environment, without libc's getenv(): a program may have one of its own, which is not ours to call. */
#ifndef FX_PRELOAD_VARIABLES_H
#define FX_PRELOAD_VARIABLES_H

#include <stdbool.h>

#include "preload/types.h"

/* Where this library is initialised before libc, `environ` is not there yet, and it is what the constructor was given. */
fx_strings fx_environ_now(void);
void fx_environ_begin(fx_strings given);
bool fx_environ_is_first(fx_strings environment);

/* The value of a variable, or NULL. */
const char *fx_environ_value(const char *name);

#endif
