/* SPDX-License-Identifier: MIT */
/*
 * Records of events that go into the archive later than they come: what they say by references that may be another's by
 * then stands in them.
 */
#ifndef FX_MANAGER_HELD_RECORD_H
#define FX_MANAGER_HELD_RECORD_H

#include <stddef.h>
#include <stdint.h>

#include "manager/archive/held.h"
#include "manager/archive/rewriting.h"

/* A text of a record; the length 0: there is none to be had. */
struct fx_event_text {
	const char *text;
	size_t length;
};

struct fx_event_names {
	struct fx_event_text category, name;
};

/* Of the event in w->words, rewritten; `header` is what the provider wrote. */
struct fx_event_names fx_event_names_of(const struct fx_rewriting *w, uint64_t header);

/* Encodes it as it can be written later into `to`, of FXT_MAX_RECORD_WORDS. Its size in words, or -errno. */
int fx_held_record_encode(struct fx_rewriting *w, const struct fx_event_names *names, uint64_t *to);

/* 0 or -errno. Its words stay the caller's. */
int fx_held_record_write(struct fx_stream *s, const struct fx_held_record *held);

#endif
