/* SPDX-License-Identifier: MIT */
/*
 * Begins and ends: slices of the program's own, and function calls where records come in pairs. An end is put to the
 * begin that it names.
 */
#ifndef FX_MANAGER_BEGUN_H
#define FX_MANAGER_BEGUN_H

#include <stdbool.h>
#include <stdint.h>

#include "manager/archive/rewriting.h"

/* `header` is the record's as the provider wrote it. */

/* The function whose begin or end the record is in pairs mode; 0: the program's own slice. */
uint64_t fx_begun_function(const struct fx_rewriting *w, uint64_t header);

/* In pairs mode: the end of a call that found no room when it ended. Which call's, the provider does not know any more. */
bool fx_begun_is_owed(const struct fx_rewriting *w, uint64_t header);

/* The end of a slice whose begin is not there. */
bool fx_begun_is_end_alone(const struct fx_rewriting *w);

/* Remembers what has begun, so that it can be ended by its name. */
void fx_begun_push(struct fx_stream_thread *t, struct fx_begun begun);

/* Gives the end at `ns` the name of what it ends, and ends what lies inside. False: it ends nothing. */
bool fx_begun_end(struct fx_rewriting *w, struct fx_stream_thread *t, uint64_t header, uint64_t ns);

/* Whether something has begun since `start' and goes on. */
static inline bool fx_begun_is_since(const struct fx_stream_thread *t, uint64_t start)
{
	uint32_t known = t->depth < t->begun_room ? t->depth : t->begun_room;

	return known && t->begun[known - 1].ns > start;
}

void fx_begun_end_since(struct fx_stream *s, struct fx_stream_thread *t, uint64_t start,
			uint64_t end);

/* Ends what has begun in a call, or in a duration of a block, that is over: it would cross it. */
static inline void fx_begun_end_within(struct fx_stream *s, struct fx_stream_thread *t,
				       uint64_t start, uint64_t end)
{
	if (fx_begun_is_since(t, start))
		fx_begun_end_since(s, t, start, end);
}

#endif
