/* SPDX-License-Identifier: MIT */
/*
 * uthash's tables, for what is to go on without memory: an element that could not be added has its member `lost' set, and
 * is still its maker's. (Where the program may end instead, there is lists/hashes.h; a source that sees both has the kind
 * of the first.)
 */
#ifndef FX_LISTS_HASHES_LENIENT_H
#define FX_LISTS_HASHES_LENIENT_H

#ifndef UTHASH_H
#define HASH_NONFATAL_OOM 1
#define uthash_nonfatal_oom(element)                                                               \
	do {                                                                                       \
		(element)->lost = true;                                                            \
	} while (0)
#endif

#include <uthash.h>

#endif
