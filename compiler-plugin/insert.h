/* SPDX-License-Identifier: MIT */
/* The code that the plugin puts into functions, and when: include/fxtrace/gate.h says what it does. */
#ifndef FX_PLUGIN_INSERT_H
#define FX_PLUGIN_INSERT_H

/*
 * LATE   when all that is optimised has been: what was inlined has no code of its own; what leaves by an exception is seen
 *        by libfxtrace, as after longjmp
 * EARLY  before anything is: each function of the source, and exits by exceptions have the code as well
 */
enum fx_when { FX_WHEN_LATE, FX_WHEN_EARLY };

/* fx_site_promise() for each function that has its code before the others' optimisation begins. */
void fx_insert_promise();

void fx_insert_register(const char *plugin, enum fx_when when);

#endif
