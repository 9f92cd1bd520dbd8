/* SPDX-License-Identifier: MIT */
/* The arrows of the locks of one file: see file-locks.h. */
#ifndef FX_MANAGER_FILE_LOCK_DRAW_H
#define FX_MANAGER_FILE_LOCK_DRAW_H

#include "manager/archive/file-lock.h"

/* Counts what is drawn, and what is not. 0 or -ENOMEM. */
int fx_file_draw(struct fx_file_locks *locks, struct fx_file *file);

#endif
