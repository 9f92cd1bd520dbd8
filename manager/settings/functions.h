/* SPDX-License-Identifier: MIT */
/*
 * Which functions a session records, and of which it records what they are called with and what they return: a list of
 * patterns (symbols/patterns.h).
 */
#ifndef FX_MANAGER_FUNCTIONS_H
#define FX_MANAGER_FUNCTIONS_H

#include <stdbool.h>

/* What is wrong with the pattern behind a sign, a static text; NULL if nothing is. */
const char *fx_functions_check_glob(char sign, const char *glob);

/* Whether every line of a list is a pattern. */
bool fx_functions_are_sound(const char *list);

/* Whether some functions are not to be recorded. NULL is allowed, as below. */
bool fx_functions_choose(const char *list);

/* Whether arguments or results are wanted of some. */
bool fx_functions_have_values(const char *list);

/* Whether a function is to be recorded. `module' is its file without folders, NULL if it lies in none. */
bool fx_functions_wanted(const char *list, const char *module, const char *name);

#endif
