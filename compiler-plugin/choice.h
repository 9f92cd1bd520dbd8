/* SPDX-License-Identifier: MIT */
/*
 * The plugins' arguments, and what they choose: the same for every compiler.
 *
 *	functions=, files=, given	if one of them matches
 *	no-functions=, no-files=	unless one of them matches
 *	min-size=, need=		unless it is smaller, or has no loop or call
 */
#ifndef FX_PLUGIN_CHOICE_H
#define FX_PLUGIN_CHOICE_H

#include <string>
#include <vector>

/* What a function is called and where it is defined. */
struct fx_named {
	std::vector<std::string> names; /* each that it is known by */
	std::string file;		/* path as the compiler was given it; "": not known */
};

/* What is known of a function's body. */
struct fx_body {
	unsigned size; /* the compiler's estimate, in instructions */
	bool has_loop;
	bool has_call;
};

/*
 * Takes an argument: functions, no-functions, files, no-files (comma lists of globs, or @FILE with one a line), min-size, need.
 * False: it is none of them. `*ret_wrong`: what is wrong with its value; NULL: nothing.
 */
bool fx_choice_argument(const char *key, const char *value, const char **ret_wrong);

/* Whether names and files matter. */
bool fx_choice_has_lists();

/* Whether need=loop was given. */
bool fx_choice_needs_loop();

/* Whether functions and files that were given leave it in. */
bool fx_choice_named(const struct fx_named *named);

/* Whether min-size= and need= do. */
bool fx_choice_body(const struct fx_body *body);

/* A name as traces show it: with its scopes and parameters. "": it is none of C++'s. */
std::string fx_choice_demangled(const char *assembler);

#endif
