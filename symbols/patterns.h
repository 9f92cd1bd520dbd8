/* SPDX-License-Identifier: MIT */
/*
 * Which functions are meant, by their names: lists of lines, each a sign and a pattern.
 *
 *	+GLOB\n			record those that match one of these, and no others
 *	+GLOB+depth=N\n		with these, record what they call, N levels in all
 *	-GLOB\n			do not record those that match one of these
 *	>GLOB[+depth=N]\n	record nothing outside of calls of those that match one of these
 *	~GLOB=NS\n		do not record calls of those that match that are shorter than this, in nanoseconds; the last counts
 *	#BYTES\n		do not record functions that are smaller
 *	(GLOB[@SPECS]\n		record what those are called with
 *	=GLOB[@SPECS]\n		record what those return
 *	!N\n			leave out what turns out to drown the others: N thousandths of all calls, and short
 *	^MODULE/NAME\n		do not record this function, which did so; both as they are, no GLOB
 *
 * GLOB is as of fnmatch(3), upon the name as the archive shows it, with or without its parameters: `alloc*', `ns::f',
 * `ns::f(int)'. MODULE:GLOB is for functions of one file: `libz.so*:deflate*'. A double colon separates no module. But for ( and
 * =, @GLOB is for functions by the source file that they stand in, by its name, or, if GLOB has a slash, by its path or
 * the end of that behind any folder: `@sock*.c', `@net/sock.c'.
 * SPECS say what there is to be had without debug information (symbols/recipes/wish.h).
 */
#ifndef FX_SYMBOLS_PATTERNS_H
#define FX_SYMBOLS_PATTERNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FX_PATTERN_MAX 1024u /* bytes of one, with the NUL */

#define FX_PATTERN_SIGNS "+->~#(=!^"

/* Those of them that say which calls are recorded. */
#define FX_PATTERN_CHOICES "+->~#!^"

/* As many levels as there are; the most that +depth=N can ask for. */
#define FX_LEVELS_ALL UINT16_MAX
#define FX_LEVELS_MAX 503u

struct fx_pattern {
	char text[FX_PATTERN_MAX];
	char sign;
	const char *module, *name; /* "" any module */
	const char *specs;	   /* NULL: none */
	const char *source;	   /* NULL: it means names */
	uint16_t levels;	   /* + and >: 0: it says nothing of them */
	uint64_t number;	   /* ~, # and ! */
};

/* A function, as far as it is known. */
struct fx_pattern_subject {
	const char *module; /* its file without folders; NULL: it lies in none */
	const char *name;
	const char *source; /* NULL: not known */
	uint64_t size;	    /* bytes; 0: not known */
};

/* What a list says of a function: of its own calls, and of what is called from there. */
struct fx_pattern_verdict {
	bool out;    /* -: its calls are not recorded */
	bool chosen; /* +: they are, wherever they are; or the list has no such line */
	uint16_t
	    inside; /* >: so many levels lie inside it, itself the first; 0: it is none of these */
	uint16_t kept;	     /* +depth=N: the same of what is recorded with it */
	bool spare;	     /* its calls are of no use, wherever they are */
	uint16_t suppressed; /* ^: the how manieth line of these it is, from 1 on; 0: none */
	bool has_min;	     /* ~: those that are shorter than this are not recorded */
	uint64_t min_ns;
};

/* Takes the next line; *list is behind it. False: there is none, or it is none. */
bool fx_pattern_next(const char **list, struct fx_pattern *ret);

/* What is wrong with the text behind a sign, a static text; NULL if nothing is. */
const char *fx_pattern_check(char sign, const char *text);

/* Whether a pattern means a function. */
bool fx_pattern_matches(const struct fx_pattern *p, const struct fx_pattern_subject *function);

struct fx_pattern_verdict fx_patterns_judge(const char *list,
					    const struct fx_pattern_subject *function);

/* Whether source files are asked for. */
bool fx_patterns_need_sources(const char *list);

/* Whether it depends on what a call lies in whether it is recorded. */
bool fx_patterns_nest(const char *list);

/* Whether it is enough for that to know which functions lie in no call of those that a line > means. */
bool fx_patterns_scope(const char *list);

/* Whether a list has a line with one of these signs. */
bool fx_patterns_have(const char *list, const char *signs);

#endif
