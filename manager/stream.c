/* SPDX-License-Identifier: MIT */
#include "manager/stream.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* For words that ask for categories of single providers. */
static void provider_note(struct fx_stream *s)
{
	char name[FX_CATEGORY_NAME_MAX + 1];
	int n = snprintf(name, sizeof(name), "%.99s/", s->name);

	fx_known_add(&s->shared->known, &s->names.made, name, (size_t)n);
}

int fx_stream_create(struct fx_stream_shared *shared, uint32_t id, uint32_t pid, const char *name,
		     struct fx_stream **ret)
{
	struct fx_stream *s = calloc(1, sizeof(*s));

	if (!s)
		return -ENOMEM;
	s->shared = shared;
	s->id = id;
	s->pid = pid;
	s->next_index = 1;
	s->first_end = UINT64_MAX;
	memcpy(s->name, name, strnlen(name, sizeof(s->name) - 1));
	fx_modules_init(&s->modules, shared->symbols);
	fx_names_init(&s->names, &shared->archive, &s->modules, &shared->known,
		      shared->max_strings);
	provider_note(s);
	fx_archive_introduce(&shared->archive, id, pid, s->name);
	*ret = s;
	return 0;
}

/* Everything but the counts and the name. */
static void tables_destroy(struct fx_stream *s)
{
	struct fx_stream_thread *t, *next_thread;
	struct fx_stream_chunk *c, *next_chunk;

	HASH_ITER (hh, s->threads, t, next_thread) {
		HASH_DEL(s->threads, t);
		free(t->begun);
		free(t);
	}
	HASH_ITER (hh, s->chunks, c, next_chunk) {
		HASH_DEL(s->chunks, c);
		fx_locals_destroy(&s->names, &c->locals);
		free(c);
	}
	fx_locals_destroy(&s->names, &s->whole.locals);
	fx_names_destroy(&s->names);
	fx_modules_destroy(&s->modules);
	fx_parts_destroy(&s->parts);
	free(s->slots);
	free(s->exec);
	s->slots = NULL;
	s->exec = NULL;
	s->slot_count = 0;
}

void fx_stream_destroy(struct fx_stream *s)
{
	if (!s)
		return;
	tables_destroy(s);
	free(s);
}

void fx_stream_finish(struct fx_stream *s, const struct fx_stream_end *end)
{
	fx_archive_select(&s->shared->archive, s->id);
	fx_stream_last_marks(s, end);
	s->counts.numbered = s->names.numbered;
	fx_ties_end(&s->shared->ties, s);
	tables_destroy(s);
}

/* --- Threads --------------------------------------------------------------------------------- */

/* Steps of one search for a thread to forget. Fewer than threads, so that those just used are safe. */
#define EVICT_STEPS 64u

static void thread_forget(struct fx_stream *s, struct fx_stream_thread *t)
{
	HASH_DEL(s->threads, t);
	if (t->index)
		s->by_index[t->index] = NULL;
	free(t->begun);
	free(t);
}

/* The table is in the order of insertion: whoever was used meanwhile, or is needed, goes to its end. */
static bool thread_evict(struct fx_stream *s)
{
	for (unsigned i = 0; i < EVICT_STEPS; i++) {
		struct fx_stream_thread *t = s->threads;

		if (!t->touched && !t->chunks && !t->depth) {
			thread_forget(s, t);
			return true;
		}
		t->touched = false;
		HASH_DEL(s->threads, t);
		HASH_ADD(hh, s->threads, tid, sizeof(t->tid), t);
	}
	return false;
}

struct fx_stream_thread *fx_stream_thread(struct fx_stream *s, uint64_t tid)
{
	uint32_t key = (uint32_t)tid;
	struct fx_stream_thread *t;

	if (tid == 0 || tid > INT32_MAX)
		return NULL;
	HASH_FIND(hh, s->threads, &key, sizeof(key), t);
	if (t) {
		t->touched = true;
		return t;
	}
	if (HASH_COUNT(s->threads) >= FX_STREAM_THREADS_MAX && !thread_evict(s))
		return NULL;
	t = calloc(1, sizeof(*t));
	if (!t)
		return NULL;
	t->tid = key;
	HASH_ADD(hh, s->threads, tid, sizeof(t->tid), t);
	return t;
}

void fx_stream_chunk_own(struct fx_stream_chunk *c, struct fx_stream_thread *t)
{
	if (c->thread)
		c->thread->chunks--;
	c->thread = t;
	if (!t)
		return;
	c->stops = t->stop.count;
	t->chunks++;
}

static void thread_introduce(struct fx_stream *s, struct fx_stream_thread *t)
{
	fx_archive_thread_name(&s->shared->archive, s->pid, t->tid, t->name[0] ? t->name : s->name);
	t->introduced = true;
}

void fx_stream_thread_rename(struct fx_stream *s, struct fx_stream_thread *t, const char *name,
			     size_t length)
{
	char fresh[sizeof(t->name)] = {0};

	memcpy(fresh, name, strnlen(name, length < sizeof(fresh) - 1 ? length : sizeof(fresh) - 1));
	if (fresh[0] == 0 || memcmp(fresh, t->name, sizeof(fresh)) == 0)
		return;
	memcpy(t->name, fresh, sizeof(fresh));
	if (t->introduced)
		thread_introduce(s, t);
}

unsigned fx_stream_thread_index(struct fx_stream *s, struct fx_stream_thread *t)
{
	struct fx_stream_thread *before;

	if (t->index)
		return t->index;
	if (!t->introduced)
		thread_introduce(s, t);
	before = s->by_index[s->next_index];
	if (before)
		before->index = 0;
	t->index = s->next_index;
	s->by_index[t->index] = t;
	s->next_index = s->next_index % FXT_MAX_THREAD_INDEX + 1;
	fx_archive_thread(&s->shared->archive, t->index, s->pid, t->tid);
	return t->index;
}

/* --- Pieces ---------------------------------------------------------------------------------- */

void fx_stream_piece(struct fx_stream *s, const struct fx_piece *piece, const void *data,
		     uint64_t end_ticks)
{
	fx_archive_select(&s->shared->archive, s->id);
	switch (piece->kind) {
	case FX_PIECE_CHUNK:
		fx_stream_chunk_piece(s, piece, data);
		break;
	case FX_PIECE_DURABLE:
		fx_stream_durable_piece(s, data, piece->bytes / FXT_WORD_SIZE);
		break;
	case FX_PIECE_THREAD:
		fx_stream_thread_piece(s, piece->index, data);
		break;
	case FX_PIECE_FRAMES:
		fx_stream_frames_piece(s, piece->serial, data,
				       piece->bytes / sizeof(struct fx_frame), end_ticks);
		break;
	}
}
