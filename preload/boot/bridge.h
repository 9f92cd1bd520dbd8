/* SPDX-License-Identifier: MIT */
/* Pages that a call or jump of five bytes reaches from any place in a module's code, with jumps to the ways (hooks/entries.h,
 * hooks/sleds.h), which may lie further off. */
#ifndef FX_PRELOAD_BRIDGE_H
#define FX_PRELOAD_BRIDGE_H

#include <stdint.h>

/* Code of a module: the addresses that it has. */
struct fx_code {
	uint64_t start, end;
};

/* To which way. */
enum fx_bridge_way {
	FX_BRIDGE_ENTRY, /* as __fentry__ */
	FX_BRIDGE_SLED_ENTER,
	FX_BRIDGE_SLED_LEAVE,
	FX_BRIDGE_SLED_TAIL,
	FX_BRIDGE_WAYS,
};

/* A bridge for this code, below it; 0: there is no room near it. */
uint64_t fx_bridge_find(const struct fx_code *code);

/* How far it is from behind an instruction, at `behind', to where the bridge goes on to a way. */
int32_t fx_bridge_distance(uint64_t bridge, enum fx_bridge_way way, uint64_t behind);

/* What r10 has of a function at the bridge to a way of sleds. */
uint32_t fx_bridge_offset(uint64_t bridge, uint64_t function);

#endif
