/* SPDX-License-Identifier: MIT */
/* The gates of modules that were built with the compiler plugin (include/fxtrace/gate.h). */
#ifndef FX_PRELOAD_GATES_H
#define FX_PRELOAD_GATES_H

#include <fxtrace/gate.h>

/*
 * Opens those of the modules that are loaded with the program: they call `calls` from now on. Once, in the constructor, before
 * any other. Modules that are loaded later open their own, by the dynamic linker.
 */
void fx_gates_open(const struct fxtrace_calls *calls);

#endif
