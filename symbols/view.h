/* SPDX-License-Identifier: MIT */
/*
 * As which user and from which root the files of a process are read: what it names is in its own file system, and it gets no
 * names out of files that its user may not read. A view that is all zero but for `root` is the reader's own.
 */
#ifndef FX_SYMBOLS_VIEW_H
#define FX_SYMBOLS_VIEW_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define FX_VIEW_GROUPS 32

/* What tells views apart. */
struct fx_view_key {
	uint64_t device, inode, mounts; /* of its root, and its mount namespace; 0: the reader's */
	uint64_t user;			/* and one more; 0: the reader's */
};

struct fx_view {
	int root;   /* a descriptor of its root directory, -1: the reader's own */
	int mounts; /* one that keeps its mounts together after its end; -1 none */
	bool drop;  /* reads as `user`: the reader is root */
	bool check; /* reads only what `user` may read: the reader cannot become that one */
	uid_t user;
	gid_t group;
	int group_count;
	gid_t groups[FX_VIEW_GROUPS];
	struct fx_view_key key;
};

/* NULL is the reader's own. */
static inline bool fx_view_is_own(const struct fx_view *view)
{
	return !view || (view->root < 0 && !view->drop && !view->check);
}

#endif
