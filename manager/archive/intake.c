/* SPDX-License-Identifier: MIT */
#include "manager/archive/intake.h"

#include <string.h>

#include "manager/archive/async-take.h"
#include "manager/archive/file-locks.h"
#include "manager/archive/kept.h"
#include "manager/archive/loose-flows.h"
#include "manager/archive/marks.h"
#include "manager/archive/open-calls.h"
#include "manager/archive/rows.h"
#include "manager/archive/scope.h"
#include "manager/archive/stashed.h"
#include "manager/archive/shares.h"
#include "manager/archive/ties.h"
#include "manager/archive/transfers.h"
#include "manager/archive/vthread-flows.h"
#include "manager/process/title.h"

/* The pointer is the reader's of the buffer, and nothing that stands in one. */
static void take_builtin(struct fx_stream *s, const void *data)
{
	const struct fx_builtin *strings;
	int r;

	memcpy(&strings, data, sizeof(strings));
	r = fx_builtin_names_read(&s->shared->builtin, strings);
	if (r == 0)
		r = fx_names_take_builtin(&s->names, &s->shared->builtin);
	if (r < 0)
		fx_stream_lose(s, r);
}

static void take_title(struct fx_stream *s)
{
	char title[FX_ABOUT_MAX + 1];
	struct fx_abouts abouts;

	if (!s->origin || !fx_title_take(s->origin, &s->title_seen, title))
		return;
	abouts = s->origin->abouts;
	abouts.texts[FX_ABOUT_TITLE] = title;
	fx_archive_process(&s->shared->archive, s->pid, s->name, &abouts);
}

size_t fx_intake_piece(struct fx_stream *s, const struct fx_piece *piece, const void *data,
		       size_t done, uint64_t end_ticks)
{
	const uint64_t *words = data;
	size_t at = done / FXT_WORD_SIZE, count = piece->bytes / FXT_WORD_SIZE;

	fx_archive_select(&s->shared->archive, s->id);
	take_title(s);
	fx_kept_begin(s, end_ticks);
	switch (piece->kind) {
	case FX_PIECE_CHUNK:
		at = fx_rows_chunk(s, piece, words, at);
		return at < count ? at * FXT_WORD_SIZE : piece->bytes;
	case FX_PIECE_DURABLE:
		at += fx_rows_durable(s, words + at, count - at);
		return at < count ? at * FXT_WORD_SIZE : piece->bytes;
	case FX_PIECE_BUILTIN:
		take_builtin(s, data);
		break;
	case FX_PIECE_THREAD:
		fx_marks_thread(s, piece->index, data);
		break;
	case FX_PIECE_STASH:
		fx_stashed_keep(s, data, count);
		break;
	case FX_PIECE_FRAMES:
		if (!fx_open_calls_are_named(s, piece, data))
			return 0;
		fx_open_calls_write(s, piece, data, end_ticks);
		fx_stashed_forget(s);
		break;
	}
	return piece->bytes;
}

size_t fx_intake_look(struct fx_stream *s, const struct fx_piece *piece, const void *data)
{
	if (!s->scope || piece->kind != FX_PIECE_FRAMES)
		return piece->bytes;
	if (!fx_open_calls_are_named(s, piece, data))
		return 0;
	fx_open_calls_look(s, piece, data);
	return piece->bytes;
}

void fx_intake_looked(struct fx_stream *s, uint64_t ticks)
{
	if (s->scope)
		fx_stream_settle(s, fx_timebase_ns(&s->shared->timebase, ticks));
}

/* Of threads that were there to the end nothing is open any more. Others' ends have found no room. */
static void threads_end(struct fx_stream *s)
{
	struct fx_stream_thread *t, *next;

	HASH_ITER (hh, s->threads, t, next) {
		fx_stream_end_begun(s, t, 0, t->last_end);
		fx_stream_leave_loose(s, t);
	}
	fx_loose_settle(s);
	fx_vthread_flows_end(s);
}

/* Nothing more comes that is held. */
static void scope_end(struct fx_stream *s)
{
	if (fx_output_error(fx_scope_output(s->scope)))
		fx_stream_lose(s, -ENOMEM);
	fx_stream_settle(s, UINT64_MAX);
	fx_archive_rejoin(&s->shared->archive, s->id);
	fx_scope_destroy(s->scope);
	s->scope = NULL;
}

static void file_locks_end(struct fx_stream *s, const struct fx_stream_end *end)
{
	struct fx_file_end ended = {.provider = s->id,
				    .pid = s->pid,
				    .is_death = end->ending.is_death,
				    .heard = fx_stream_ns(s, end->ticks)};
	struct fx_stream_thread *t, *next;

	HASH_ITER (hh, s->threads, t, next) {
		if (t->last_end > ended.alive && t->last_end < ended.heard)
			ended.alive = t->last_end;
	}
	fx_file_locks_end(s->shared->file_locks, &ended, fx_stream_is_lossy(s, end));
}

void fx_intake_finish(struct fx_stream *s, const struct fx_stream_end *end)
{
	fx_archive_select(&s->shared->archive, s->id);
	take_title(s);
	threads_end(s);
	fx_async_end(s);
	fx_marks_last(s, end);
	s->counts.lost[FX_CAUSE_NUMBERED] = s->names.numbered;
	fx_ties_end(s->shared->ties, s, end);
	fx_transfers_end(s, end);
	if (s->shared->shares)
		fx_shares_end(s->shared->shares, s, end);
	if (s->shared->file_locks)
		file_locks_end(s, end);
	if (s->scope)
		scope_end(s);
	fx_stream_clear(s);
}
