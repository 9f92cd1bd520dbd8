/* SPDX-License-Identifier: MIT */
/*
 * What had the time: a tree. Below a thread stands what it did itself and what it waited for; below a wait, the thread that ended
 * it, or why nobody is known. Each moment is the own time of one node, so that all own times together are the whole.
 */
#ifndef FX_WHY_TREE_H
#define FX_WHY_TREE_H

#include "lists/vector.h"
#include "report/keys.h"
#include "report/waiting.h"

/* X(NAME, "for people") */
#define FX_WHY_KINDS(X)                                                                            \
	X(THREAD, "")		    /* a thread */                                                 \
	X(COMPUTING, "computing")   /* in a call, or in none that is recorded */                   \
	X(FILE, "a file")	    /* in a call about one */                                      \
	X(SYSTEM, "the system")	    /* in another system call */                                   \
	X(PROCESSOR, "a processor") /* ready, while others had it */                               \
	X(GOING_ON, "to go on")	    /* after the wait was ended */                                 \
	X(STARTING, "to start")	    /* after it was made */                                        \
	X(ENDING, "to end")	    /* after all that it did: until its end was told */            \
	X(CIRCLE, "itself")	    /* it, in the very call that waits for the other */            \
	X(UNKNOWN, "unknown")                                                                      \
	X(SMALLER, "several") /* shown in the place of some */

#define FX_ENUM_WHY_KIND_(name, text) FX_WHY_##name,
enum fx_why_kind {
	FX_WHY_KINDS(FX_ENUM_WHY_KIND_) FX_WHY_WAIT, /* + enum fx_wait_kind */
};

/* What a node is; siblings differ in it. */
struct fx_why_what {
	uint8_t kind;	 /* enum fx_why_kind */
	bool is_perhaps; /* a thread that may have been waited for */
	uint32_t thread; /* number */
	/* Numbers of texts, 0: none. */
	uint32_t name;	 /* of a call */
	uint32_t object; /* that it is about */
	uint32_t caller; /* the function that made it */
};

struct fx_why_node {
	struct fx_why_what what;
	uint32_t parent; /* of the root: itself, 0 */
	uint32_t count;	 /* times, 0: not counted */
	uint64_t self, total;
	uint64_t longest, longest_at;
};

struct fx_why_tree {
	struct fx_keys keys;
	FX_VECTOR(struct fx_why_node) nodes; /* the root first, each behind its parent */
	bool is_cut;			     /* there were more than are kept apart */
};

enum { FX_WHY_ROOT = 0 };

/* Of this thread. Returns 0 or -ENOMEM; to be freed either way. */
int fx_why_tree_begin(struct fx_why_tree *tree, uint32_t thread);
void fx_why_tree_free(struct fx_why_tree *tree);

/* The child of this kind, made if it is new; where there is no room for more, or no memory, its parent. */
uint32_t fx_why_tree_child(struct fx_why_tree *tree, uint32_t parent,
			   const struct fx_why_what *what);

/* Time of a node's own. */
void fx_why_tree_add(struct fx_why_tree *tree, uint32_t node, uint64_t ns);

/* It was so once more, from then on. */
void fx_why_tree_count(struct fx_why_tree *tree, uint32_t node, uint64_t ts, uint64_t ns);

/* Makes the totals of own times. */
void fx_why_tree_sum(struct fx_why_tree *tree);

#endif
