/* SPDX-License-Identifier: MIT */
/*
 * A record under way from a provider's buffer into the archive. Its words are a scratch copy, in which references,
 * times and process ids are replaced one after another (rewrite.h).
 */
#ifndef FX_MANAGER_REWRITING_H
#define FX_MANAGER_REWRITING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "manager/archive/stream.h"
#include "manager/archive/transfer-args.h"
#include "manager/archive/wording.h"

struct fx_rewriting {
	struct fx_stream *s;
	struct fx_stream_chunk *chunk; /* NULL in the durable area */
	uint64_t *words;
	size_t size;
	size_t at;			 /* the word that comes next */
	bool unclean;			 /* text in it has to be escaped */
	struct fx_stream_thread *thread; /* whose event it is; NULL: of none */
	bool is_virtual;  /* it is of a virtual thread, and its time the program's choice */
	uint64_t vthread; /* its id then */
	uint64_t ticks;	  /* the event's time, as the provider wrote it */
	bool is_own;	  /* an event of the tracer's own: see wording.h */
	bool is_waking;
	const struct fx_name
	    *function; /* whose call it is, where the session chooses of them; NULL: of none */
	struct fx_transfer_args transfer;
	unsigned meant_count;
	struct fx_meant meant[FX_MEANT_MAX];
};

/* Strings that the chunk defines for itself; NULL in the durable area. */
static inline struct fx_locals *fx_rewriting_locals(const struct fx_rewriting *w)
{
	return w->chunk ? &w->chunk->locals : NULL;
}

/* The thread that writes the chunk; NULL in the durable area, and before the chunk has said which it is. */
static inline struct fx_stream_thread *fx_rewriting_thread(const struct fx_rewriting *w)
{
	return w->chunk ? w->chunk->thread : NULL;
}

/* Whether a reference, as the provider wrote it, is to this text. */
static inline bool fx_rewriting_is_name(const struct fx_rewriting *w, uint32_t ref,
					const char *text)
{
	const struct fx_name *name = fx_names_find(&w->s->names, fx_rewriting_locals(w), ref);

	return name && name->kind == FX_NAME_TEXT && strcmp(name->text, text) == 0;
}

#endif
