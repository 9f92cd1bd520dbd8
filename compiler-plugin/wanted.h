/* SPDX-License-Identifier: MIT */
/*
 * Which functions get the plugin's code.
 *
 *	attribute fxtrace_never, no_instrument_function		never
 *	attribute fxtrace_always				always
 *	made by the compiler for itself (constructors' callers and the like)	never
 *	others		as the arguments choose (choice.h)
 */
#ifndef FX_PLUGIN_WANTED_H
#define FX_PLUGIN_WANTED_H

#include "compiler-plugin/choice.h"

/* Whether the function is one that may have the code, by what it is. */
bool fx_wanted_at_all(tree function);

/* The same, by what it does. */
bool fx_wanted_body(tree function, const struct fx_body *body);

/* The attributes, for the compiler to know. */
void fx_wanted_register_attributes();

#endif
