/* SPDX-License-Identifier: MIT */
/*
 * The large tables of waits and of threads that have ended. They are no part of the library's own memory: limits of the
 * address space and of data hold for all that a library brings, used or not, and in /etc/ld.so.preload every program
 * loads this one. They lie in what a fork wipes, where a process is traced; without them waits have no arrows.
 */
#ifndef FX_PRELOAD_TABLES_H
#define FX_PRELOAD_TABLES_H

#include <stddef.h>

/* Room for each, in bytes. */
#define FX_WAITS_ROOM	     ((size_t)24 << 18)
#define FX_TOKEN_BLOCKS_ROOM ((size_t)6 << 18)
#define FX_HANDOFF_ROOM	     ((size_t)3 << 18)
#define FX_TABLES_ROOM	     (FX_WAITS_ROOM + FX_TOKEN_BLOCKS_ROOM + FX_HANDOFF_ROOM)

/* Before the first wait, on the only thread. */
void fx_tables_make(void);

/* Each takes its room, which is zeroes. */
void fx_waits_place(void *room);
void fx_token_blocks_place(void *room);
void fx_handoff_place(void *room);

#endif
