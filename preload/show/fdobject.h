/* SPDX-License-Identifier: MIT */
/*
 * What a descriptor leads to, as a kernel object of the trace format:
 *
 *	koid of what has an inode of its own	|62: 1|61: 0|59  device  48|47  inode  0|
 *	of what shares one (anon_inode)		|62: 1|61: 1|53   pid    32|31   fd    0|
 *
 * So it is the same in every process that has the object, as far as the kernel says which is which, and never a pid or a tid.
 */
#ifndef FX_PRELOAD_FDOBJECT_H
#define FX_PRELOAD_FDOBJECT_H

#include <stdint.h>

#include "preload/show/fdname.h"

struct fx_fd_object {
	uint64_t koid;
	unsigned type; /* enum fxt_object_type; 0: none of them */
	unsigned length;
	char name[FX_FD_NAME_MAX]; /* fdname.h */
};

/* Some system calls, as fx_fd_name(). 0, or -EBADF: there is no such descriptor. */
int fx_fd_object_get(int fd, struct fx_fd_object *ret);

#endif
