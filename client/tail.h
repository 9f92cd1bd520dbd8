/* SPDX-License-Identifier: MIT */
/* A growing archive as a pipe, which ends when its manager has closed the archive. */
#ifndef FX_CLIENT_TAIL_H
#define FX_CLIENT_TAIL_H

#include <stdbool.h>

/*
 * Begins to pass the file (borrowed, to stay open until the process ends) through a pipe, on a thread of its own.
 * Returns the end to read from, or -errno. A manager holds a lock on its archive: without one, what is there is all.
 */
int fx_tail_start(int fd);

/* Whether a manager still writes the file. */
bool fx_tail_is_held(int fd);

#endif
