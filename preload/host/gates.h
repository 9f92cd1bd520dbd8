/* SPDX-License-Identifier: MIT */
/* The gates of modules that were built with the compiler plugin (include/fxtrace/gate.h), or have events of their own
 * (include/fxtrace/event.h). */
#ifndef FX_PRELOAD_GATES_H
#define FX_PRELOAD_GATES_H

#include <fxtrace/gate.h>

struct fxtrace_events;

/* What gates lead to: the plugin's, and those of the event macros. */
struct fx_gates {
	const struct fxtrace_calls *calls;
	const struct fxtrace_events *events;
};

/*
 * Opens those of the modules that are loaded: they lead to `gates` from now on. In the constructor, before any other. Modules that
 * are loaded later open their own, by the dynamic linker.
 */
void fx_gates_open(const struct fx_gates *gates);

#endif
