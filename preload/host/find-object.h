/* SPDX-License-Identifier: MIT */
/* _dl_find_object(): which module an address lies in, lock-free. glibc has it since 2.35; where it is not, its address is
 * NULL. */
#ifndef FX_PRELOAD_FIND_OBJECT_H
#define FX_PRELOAD_FIND_OBJECT_H

#include <dlfcn.h>

#if !defined(DLFO_EH_SEGMENT_TYPE)
struct dl_find_object {
	unsigned long long dlfo_flags;
	void *dlfo_map_start, *dlfo_map_end;
	struct link_map *dlfo_link_map;
	void *dlfo_eh_frame;
	unsigned long long reserved[7];
};
#endif

extern int _dl_find_object(void *address, struct dl_find_object *result) __attribute__((weak));

#endif
