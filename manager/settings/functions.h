/* SPDX-License-Identifier: MIT */
/*
 * Which functions a session records: lines, each of a pattern.
 *
 *	+GLOB\n		record those that match one of these, and no others
 *	-GLOB\n		do not record those that match one of these
 *
 * GLOB is as of fnmatch(3), upon the name as the archive shows it, with or without its parameters: `alloc*', `ns::f',
 * `ns::f(int)'. MODULE:GLOB is for functions of one file: `libz.so*:deflate*'. A double colon separates no module.
 */
#ifndef FX_MANAGER_FUNCTIONS_H
#define FX_MANAGER_FUNCTIONS_H

#include <stdbool.h>

/* What is wrong with one GLOB, a static text; NULL if nothing is. */
const char *fx_functions_check_glob(const char *glob);

/* Whether every line of a list is as above. */
bool fx_functions_are_sound(const char *list);

/* Whether a function is to be recorded. `module' is its file without folders, NULL if it lies in none. */
bool fx_functions_wanted(const char *list, const char *module, const char *name);

#endif
