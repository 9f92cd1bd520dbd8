/* SPDX-License-Identifier: MIT */
/* What modules say in notes of theirs (include/fxtrace/gate.h): each where a word or a struct of the module's lies. */
#ifndef FX_PRELOAD_NOTES_H
#define FX_PRELOAD_NOTES_H

#include <stddef.h>
#include <stdint.h>

/* A note of `type`, and what it leads to, which lies in memory of its module's that is written: `room` bytes from there on. */
typedef void (*fx_note_seen)(void *opaque, uint32_t type, void *target, size_t room);

/* Goes through all modules that are loaded. Takes the dynamic linker's lock. */
void fx_notes_walk(fx_note_seen seen, void *opaque);

#endif
