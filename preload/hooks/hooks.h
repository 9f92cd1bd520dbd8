/* SPDX-License-Identifier: MIT */
/* What the compiler calls at entry and exit of each function under -finstrument-functions. */
#ifndef FX_PRELOAD_HOOKS_H
#define FX_PRELOAD_HOOKS_H

void __cyg_profile_func_enter(void *function, void *site);
void __cyg_profile_func_exit(void *function, void *site);

#endif
