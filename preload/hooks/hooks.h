/* SPDX-License-Identifier: MIT */
/* What functions call at their entry and exit: under -finstrument-functions by name, built with the plugin through
 * __fxtrace_calls. */
#ifndef FX_PRELOAD_HOOKS_H
#define FX_PRELOAD_HOOKS_H

#include <fxtrace/gate.h>

extern const struct fxtrace_calls __fxtrace_calls;

void __cyg_profile_func_enter(void *function, void *site);
void __cyg_profile_func_exit(void *function, void *site);

#endif
