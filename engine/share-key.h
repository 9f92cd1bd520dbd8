/* SPDX-License-Identifier: MIT */
/* Which lock in memory of several processes: the file that is mapped, and the place in it. */
#ifndef FX_ENGINE_SHARE_KEY_H
#define FX_ENGINE_SHARE_KEY_H

#include <stdint.h>

#include "base/compiler.h"

fx_hot uint64_t fx_share_key_mix(uint64_t key, uint64_t word)
{
	key = (key ^ word) * 0x9e3779b97f4a7c15ull;
	key = (key ^ key >> 29) * 0xbf58476d1ce4e5b9ull;
	return key ^ key >> 32;
}

fx_hot uint64_t fx_share_key(uint64_t major, uint64_t minor, uint64_t inode, uint64_t place)
{
	return fx_share_key_mix(fx_share_key_mix(major << 32 | minor, inode), place);
}

#endif
