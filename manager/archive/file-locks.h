/* SPDX-License-Identifier: MIT */
/*
 * Arrows of locks of files (flock(), record locks of processes and of open files): from who gave one back to who had asked for it and got
 * it. Each process tells what it does (enum fx_file_lock_kind), and when all is told, each file is gone through by time
 * (file-lock-draw.h). A lock that two cannot have at once was given back before the second has it:
 *
 *	A	|wants has|========|frees|
 *	B	       |wants................has|=====
 *	C				|wants...............(nothing is known of it yet)
 *
 * The last of those that had to be given back has let B go on, if it was asked for before that, and if none of them went in a way that
 * nobody told: then, and where two overlap in time, nothing is drawn. The end of a process gives back its record locks, and so does each
 * close() of a descriptor of their file.
 */
#ifndef FX_MANAGER_FILE_LOCKS_H
#define FX_MANAGER_FILE_LOCKS_H

#include <stdbool.h>

#include "manager/archive/file-lock.h"

void fx_file_locks_destroy(struct fx_file_locks *locks);

void fx_file_locks_take(struct fx_file_locks *locks, const struct fx_file_told *told);

/* Nothing more comes of the process. */
void fx_file_locks_end(struct fx_file_locks *locks, const struct fx_file_end *end, bool is_lossy);

/* Draws what is certain. `is_doubtful': processes are missing. */
void fx_file_locks_finish(struct fx_file_locks *locks, bool is_doubtful);

#endif
