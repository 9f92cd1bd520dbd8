/* SPDX-License-Identifier: MIT */
/*
 * The sleds of a module (preload/hooks/sleds.h), as clang has listed them in its section xray_instr_map, and calls in their places. A
 * sled is made for being changed while threads run: nobody executes it beyond its first two bytes, which lie where one store
 * exchanges both.
 *
 *	enter	jmp over the rest		movl $offset, %r10d;  call bridge
 *	leave	ret;  a no-op of ten bytes	movl $offset, %r10d;  jmp bridge
 *	tail	jmp over the rest		movl $offset, %r10d;  call bridge
 */
#ifndef FX_PRELOAD_SLED_MAP_H
#define FX_PRELOAD_SLED_MAP_H

#include <link.h>
#include <stdbool.h>

#include "preload/boot/bridge.h"

/* The list, in memory. */
struct fx_sled_map {
	const uint8_t *sleds;
	uint64_t count;
};

/* Finds it, by the section headers in the module's file; nothing else tells where it is. Each of its rows is believed only if a sled lies
 * there. False: there is none, or it has not the ends of functions. */
bool fx_sled_map_find(const struct dl_phdr_info *info, const struct fx_code *code,
		      struct fx_sled_map *ret);

/* Writes the calls into code that may be written, ends first: so whoever's call has begun finds its end. False, with nothing changed but what is not
 * executed: other threads run, and cannot be told of it. */
bool fx_sled_map_patch(const struct fx_sled_map *map, const struct fx_code *code, uint64_t bridge,
		       bool alone);

#endif
