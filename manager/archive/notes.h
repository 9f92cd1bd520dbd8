/* SPDX-License-Identifier: MIT */
/*
 * What was seen of a process's threads by looking at it from outside (manager/session/look.h): instants of the manager's on these
 * threads, with a text each.
 */
#ifndef FX_MANAGER_NOTES_H
#define FX_MANAGER_NOTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "manager/archive/queue.h"

/* Longer texts end in a mark (base/escape.h). */
#define FX_NOTE_MAX 12000u

/* Appends one to a block FX_BLOCK_NOTES; `name` is a literal. False: it is full. */
bool fx_notes_add(struct fx_block *block, uint32_t tid, const char *name, const char *text);

/* Puts those of a block into the archive. */
void fx_notes_write(struct fx_stream *s, const struct fx_block *block);

#endif
