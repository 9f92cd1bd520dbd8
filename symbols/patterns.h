/* SPDX-License-Identifier: MIT */
/*
 * Which functions are meant, by their names: lists of lines, each a sign and a pattern.
 *
 *	+GLOB\n			record those that match one of these, and no others
 *	-GLOB\n			do not record those that match one of these
 *	(GLOB[@SPECS]\n		record what those are called with
 *	=GLOB[@SPECS]\n		record what those return
 *
 * GLOB is as of fnmatch(3), upon the name as the archive shows it, with or without its parameters: `alloc*', `ns::f',
 * `ns::f(int)'. MODULE:GLOB is for functions of one file: `libz.so*:deflate*'. A double colon separates no module. SPECS say what
 * there is to be had without debug information (symbols/recipes/wish.h).
 */
#ifndef FX_SYMBOLS_PATTERNS_H
#define FX_SYMBOLS_PATTERNS_H

#include <stdbool.h>
#include <stddef.h>

#define FX_PATTERN_MAX 1024u /* bytes of one, with the NUL */

#define FX_PATTERN_SIGNS "+-(="

struct fx_pattern {
	char text[FX_PATTERN_MAX];
	char sign;
	const char *module, *name; /* "" any module */
	const char *specs;	   /* NULL: none */
};

/* Takes the next line; *list is behind it. False: there is none, or it is none. */
bool fx_pattern_next(const char **list, struct fx_pattern *ret);

/* What is wrong with the text behind a sign, a static text; NULL if nothing is. */
const char *fx_pattern_check(char sign, const char *text);

/* Whether a pattern means a function. `module' is its file without folders, NULL if it lies in none. */
bool fx_pattern_matches(const struct fx_pattern *p, const char *module, const char *name);

/* Whether a function is to be recorded, by + and -. `module' as above. */
bool fx_patterns_allow(const char *list, const char *module, const char *name);

/* Whether a list has a line with one of these signs. */
bool fx_patterns_have(const char *list, const char *signs);

#endif
