/* SPDX-License-Identifier: MIT */
/*
 * A child that cannot be traced is noticed where it is started: an instant `not traced' in the category
 * process says which program, and why, whatever is recorded. The manager repeats it in its summary
 * (manager/archive/untraced.h).
 */
#ifndef FX_PRELOAD_UNTRACED_H
#define FX_PRELOAD_UNTRACED_H

#include "base/compiler.h"
#include "base/loadable.h"

/* `path` is about to be started, and `verdict` stands in the way. In a child of vfork, which writes
 * nothing, the instant is its parent's to write. Keeps errno. */
fx_cold void fx_untraced_note(const char *path, enum fx_loadable verdict);

/* Writes what a vfork child of this thread has left to be written. */
void fx_untraced_write_pending(void);

#endif
