/* SPDX-License-Identifier: MIT */
/*
 * Which functions a session records, and of which it records what they are called with and what they return: a list of
 * patterns (symbols/patterns.h).
 */
#ifndef FX_MANAGER_FUNCTIONS_H
#define FX_MANAGER_FUNCTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "symbols/patterns.h"

/* A list that may change while it is used. */
struct fx_function_list {
	char *text;	  /* NULL: none; for malloc()'s free() */
	uint16_t version; /* another one whenever the text is, never 0 */
};

/* What is wrong with the pattern behind a sign, a static text; NULL if nothing is. */
const char *fx_functions_check_glob(char sign, const char *glob);

/* Whether every line of a list is a pattern. */
bool fx_functions_are_sound(const char *list);

/* Whether some calls of functions are not to be recorded. NULL is allowed, as below. */
bool fx_functions_choose(const char *list);

/* Whether there may be functions whose calls are of no use, wherever they are. */
bool fx_functions_spare(const char *list);

/* The options that such a list is of, in words: "--filter or --no-trace". */
void fx_functions_options(const char *list, char *ret, size_t size);

/* Whether arguments or results are wanted of some. */
bool fx_functions_have_values(const char *list);

/* Whether nothing is recorded outside of calls of some. */
bool fx_functions_have_when(const char *list);

/* Whether it depends on what a call lies in whether it is recorded. */
bool fx_functions_nest(const char *list);

/* Whether programs may leave out what lies in no call that --when means, by themselves. */
bool fx_functions_scope(const char *list);

/* Whether a function may be recorded, wherever it is called. */
bool fx_functions_wanted(const char *list, const struct fx_pattern_subject *function);

/* What the list says of a function. */
struct fx_pattern_verdict fx_functions_judge(const char *list,
					     const struct fx_pattern_subject *function);

/* Whether calls of some have a shortest duration of their own; and the shortest of all, if that of the others is `others'. */
bool fx_functions_have_min(const char *list);
uint64_t fx_functions_min(const char *list, uint64_t others);

/* Whether all lines of a list have one of these signs. */
bool fx_functions_have_only(const char *list, const char *signs);

/* A list, and behind it the lines of another one, NULL none, that have one of these signs, for malloc()'s free(); NULL: without memory. */
char *fx_functions_with(const char *list, const char *other, const char *signs);

/* Functions that have at least so many thousandths of all calls may drown the others; 0: nobody looks for them. */
uint32_t fx_functions_crowd_share(const char *list);

/* Whether a list has anything to say of functions before such are found. */
bool fx_functions_know_some(const char *list);

/* Whether the source files of functions are asked for. */
bool fx_functions_need_sources(const char *list);

/* --- Where a call lies ------------------------------------------------------------------------- */

/* How many levels more are recorded in a call: inside of what --when means, and with what --filter GLOB+depth=N means.
 * FX_LEVELS_ALL: any. Calls that other patterns leave out are no levels. */
struct fx_function_scope {
	uint16_t inside, kept;
};

/* Outside of all calls. */
struct fx_function_scope fx_functions_outside(const char *list);

/* Whether a call is recorded that lies in *scope, which is what lies in the call then. `max_levels': of what is inside,
 * where the pattern itself does not say; 0: all. */
bool fx_functions_enter(const struct fx_pattern_verdict *verdict, uint32_t max_levels,
			struct fx_function_scope *scope);

#endif
