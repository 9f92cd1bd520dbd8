/* SPDX-License-Identifier: MIT */
/*
 * uthash, as the reader and the writer use it: running out of memory is an error to return, not a
 * reason to exit. An element that could not be added has its member `lost' set.
 */
#ifndef FX_FORMAT_HASH_H
#define FX_FORMAT_HASH_H

#define HASH_NONFATAL_OOM 1
#define uthash_nonfatal_oom(element)                                                               \
	do {                                                                                       \
		(element)->lost = true;                                                            \
	} while (0)
#include <uthash.h>

#endif /* FX_FORMAT_HASH_H */
