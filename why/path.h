/* SPDX-License-Identifier: MIT */
/*
 * The way back from the end. It goes over each moment of the range once: always on one thread, which either does something
 * itself or waits. So all pieces of time together are the range, and those that belong to a thread's own doing come the
 * latest first.
 *
 *     a wait [s, e] that U ended at r:   (r, e]  after that, until its thread went on
 *                                        (s, r]  what U did, in the same way
 *     before a thread's begin b,         (c, b]  until it began
 *     which M had made at c:             before  what M did
 *
 * A thread that waits cannot be what is waited for: where the way comes back to a thread whose wait it is explaining, it ends there.
 */
#ifndef FX_WHY_PATH_H
#define FX_WHY_PATH_H

#include "why/past.h"
#include "why/ready.h"
#include "why/tree.h"

/* What a thread did itself, in the order of time of each thread. */
struct fx_why_piece {
	uint64_t begin, end;
	uint32_t node; /* of the thread */
	uint32_t next; /* piece of the same thread: number + 1; 0: none */
};

struct fx_why_path {
	struct fx_why_tree tree;
	FX_VECTOR(struct fx_why_piece) pieces;
	uint32_t *first;	/* piece of each thread, by number: number + 1; 0: none */
	uint64_t unknown_begin; /* time before anything is known of a thread, ns */
	uint64_t no_arrow;	/* waits on it that nothing is known to have ended, */
	uint64_t no_arrow_ns;	/* and their time */
	uint64_t perhaps; /* those that are followed to who alone is known to have the other end, */
	uint64_t perhaps_ns; /* and their time */
	bool is_too_deep;    /* some waits were not followed: there are so many around them */
	bool is_too_long;    /* the same: there were so many before */
};

/* Of a thread (its number) and a range. Returns 0 or -ENOMEM; to be freed either way. */
int fx_why_path_find(struct fx_why_path *path, struct fx_why_past *past,
		     const struct fx_why_ready *ready, uint32_t thread, uint64_t from, uint64_t to);

void fx_why_path_free(struct fx_why_path *path);

#endif
