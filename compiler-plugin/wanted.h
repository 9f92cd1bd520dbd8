/* SPDX-License-Identifier: MIT */
/*
 * Which functions get the plugin's code.
 *
 *	attribute fxtrace_never, no_instrument_function		never
 *	attribute fxtrace_always				always
 *	made by the compiler for itself (constructors' callers and the like)	never
 *	functions=, files=, given	if one of them matches
 *	no-functions=, no-files=	unless one of them matches
 *	min-size=, need=		unless it is smaller, or has no loop or call
 */
#ifndef FX_PLUGIN_WANTED_H
#define FX_PLUGIN_WANTED_H

/* What is known of a function's body. */
struct fx_body {
	unsigned size; /* GCC's estimate, in instructions */
	bool has_loop;
	bool has_call;
};

/*
 * Takes an argument of the plugin: functions, no-functions, files, no-files (comma lists of globs, or @FILE with one a line),
 * min-size, need. False: it is none of them. `*ret_wrong`: what is wrong with its value; NULL: nothing.
 */
bool fx_wanted_argument(const char *key, const char *value, const char **ret_wrong);

/* Whether need=loop was given, which is not known before a function has a graph. */
bool fx_wanted_needs_loop();

/* Whether the function is one that may have the code, by what it is. */
bool fx_wanted_at_all(tree function);

/* The same, by what it does. */
bool fx_wanted_body(tree function, const struct fx_body *body);

/* The attributes, for the compiler to know. */
void fx_wanted_register_attributes();

#endif
