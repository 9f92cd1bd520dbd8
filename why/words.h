/* SPDX-License-Identifier: MIT */
/* What stands in the nodes of the tree, in words. */
#ifndef FX_WHY_WORDS_H
#define FX_WHY_WORDS_H

#include "convert/export.h"
#include "report/show.h"
#include "why/past.h"
#include "why/tree.h"

enum { FX_WHY_TEXT_MAX = 4 * FX_SHOW_MAX };

/* "a lock" */
const char *fx_why_words_kind(uint8_t kind);

/* What the node of a wait is. */
struct fx_why_what fx_why_words_wait(struct fx_timeline *timeline, const struct fx_why_wait *wait);

/* Whether a wait for a child is for any of them. */
bool fx_why_words_is_any_child(struct fx_timeline *timeline, const struct fx_why_wait *wait);

/*
 * What a wait is at, whatever ends it: the call, and the lock or condition, the set of an epoll, or the descriptors and what of
 * them. object 0: that is not known.
 */
struct fx_why_what fx_why_words_set(struct fx_timeline *timeline, const struct fx_why_wait *wait);

/* The thread at the other end of the pipe that a wait is at, if one alone is known to be there; FX_WHY_NOBODY. */
uint32_t fx_why_words_other_end(struct fx_why_past *past, const struct fx_why_wait *wait,
				uint32_t thread);

/* As fx_why_takes_last(), of a wait for a condition. */
const struct fx_why_take *fx_why_words_last_take(const struct fx_why_past *past,
						 const struct fx_why_wait *wait, uint32_t thread,
						 uint64_t from, uint64_t to);

/* The file that a call is about, the number of a text; 0: it is about none. */
uint32_t fx_why_words_file(struct fx_timeline *timeline, const struct fx_event *event);

/* A line that says what a node is, its parent's thread being known. As UTF-8. */
void fx_why_words_node(const struct fx_timeline *timeline, const struct fx_why_tree *tree,
		       uint32_t node, char text[FX_WHY_TEXT_MAX]);

#endif
