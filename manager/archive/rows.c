/* SPDX-License-Identifier: MIT */
#include "manager/archive/rows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "format/validate.h"
#include "manager/archive/begun.h"
#include "manager/archive/escaped.h"
#include "manager/archive/kept.h"
#include "manager/archive/loose-flows.h"
#include "manager/archive/meanings.h"
#include "manager/archive/plain-call.h"
#include "manager/archive/rewrite.h"
#include "manager/archive/scope.h"
#include "manager/archive/suppress.h"

/* What is brief is none of the calls that count where something depends on what calls lie in; but its function may be what
 * matters. */
static struct fx_pattern_verdict verdict_of_call(const struct fx_name *function, bool brief)
{
	struct fx_pattern_verdict verdict = fx_name_verdict(function);

	verdict.out |= brief;
	return verdict;
}

/* Whether it depends on what the call lies in whether it stays. The record is as the archive has it. */
static bool is_scoped(const struct fx_rewriting *w)
{
	return w->s->scope && w->function && w->thread &&
	       FXT_GET(w->words[0], EVENT_TYPE) == FXT_EVENT_DURATION_COMPLETE;
}

static int record_write(struct fx_rewriting *w)
{
	struct fx_output *out = w->s->shared->archive.out;

	if (w->unclean)
		return fx_escaped_write(w);
	memcpy(fx_output_reserve(out, w->size), w->words, w->size * FXT_WORD_SIZE);
	fx_output_commit(out, w->size);
	return 0;
}

static int record_write_scoped(struct fx_rewriting *w)
{
	uint64_t start = w->words[1], end = w->words[w->size - 1];
	const struct fx_scope_call call = {
	    .at = fx_scope_held(w->s->scope),
	    .start = start,
	    .end = end,
	    .verdict =
		verdict_of_call(w->function, fx_stream_is_brief(w->s, w->function, start, end)),
	};
	uint32_t tid = w->thread->tid;
	int r = record_write(w);

	return r < 0 ? r : fx_scope_note(w->s->scope, tid, &call);
}

/* Rewrites the record of w->words, and writes what goes into the archive. 0 or -errno. */
static int record_out(struct fx_rewriting *w)
{
	const struct fx_name *name = NULL;
	int r;

	if (w->size > FXT_MAX_RECORD_WORDS)
		name = fx_names_find(&w->s->names, fx_rewriting_locals(w),
				     (uint32_t)FXT_GET(w->words[1], LARGE_EVENT_NAME));
	r = fx_rewrite_record(w);
	if (r <= 0)
		return r;
	if (w->size > FXT_MAX_RECORD_WORDS)
		return fx_escaped_write_parts(w, name);
	return is_scoped(w) ? record_write_scoped(w) : record_write(w);
}

static bool is_part(uint64_t header)
{
	return FXT_GET(header, RECORD_TYPE) == FXT_RECORD_LARGE &&
	       FXT_GET(header, LARGE_TYPE) == FX_FRAGMENT_TYPE;
}

/* The record itself comes with its last fragment. */
static int take_part(struct fx_rewriting *w, const uint64_t *words, size_t size)
{
	const struct fx_stream_thread *t = fx_rewriting_thread(w);
	int r;

	if (!t)
		return -EPERM;
	r = fx_fragments_take(&w->s->fragments, t->tid, words, size, &w->words, &w->size);
	if (r <= 0)
		return r;
	if (fx_record_check(w->words, w->size) != (int64_t)w->size)
		return -EINVAL;
	return record_out(w);
}

static void record_slow(struct fx_rewriting *w, const uint64_t *words, size_t size)
{
	struct fx_stream_shared *shared = w->s->shared;
	int r = -E2BIG;

	w->unclean = false;
	w->function = NULL;
	if (is_part(words[0])) {
		r = take_part(w, words, size);
	} else if (size <= FXT_MAX_RECORD_WORDS) {
		memcpy(shared->scratch, words, size * FXT_WORD_SIZE);
		w->words = shared->scratch;
		w->size = size;
		r = record_out(w);
	}
	if (r < 0)
		fx_stream_lose(w->s, r);
}

/* --- Complete events without arguments, which most records are ------------------------------- */

/* Everything of the header that must be so for the fast way: type, size, thread, no arguments. */
#define FAST_MASK                                                                                  \
	(FXT_PUT(RECORD_TYPE, ~0) | FXT_PUT(RECORD_SIZE, ~0) | FXT_PUT(EVENT_TYPE, ~0) |           \
	 FXT_PUT(EVENT_NARGS, ~0) | FXT_PUT(EVENT_THREAD, ~0))
#define FAST_HEADER                                                                                \
	(FXT_PUT(RECORD_TYPE, FXT_RECORD_EVENT) | FXT_PUT(RECORD_SIZE, 3) |                        \
	 FXT_PUT(EVENT_TYPE, FXT_EVENT_DURATION_COMPLETE) |                                        \
	 FXT_PUT(EVENT_THREAD, FX_CHUNK_THREAD_INDEX))

static bool name_is_told(const struct fx_names *names, uint64_t ref)
{
	return ref < names->count && names->table[ref].told;
}

/* Whether it is known what is to become of its calls; as another text it may stand there before. */
static bool name_is_judged(const struct fx_names *names, uint64_t ref)
{
	const struct fx_name *name = &names->table[ref];

	return !names->functions || !names->functions->text || name->kind != FX_NAME_ADDRESS ||
	       (name->judged == names->functions->version && !name->unwanted);
}

/* A call of a function that is known to be of no use. */
static bool record_unwanted(struct fx_stream *s, const uint64_t *words)
{
	uint64_t ref = FXT_GET(words[0], EVENT_NAME);
	const struct fx_name *name = ref < s->names.count ? &s->names.table[ref] : NULL;

	if (!name || !name->unwanted || name->judged != s->names.functions->version)
		return false;
	s->counts.unwanted++;
	if (name->suppressed)
		fx_suppress_count(s, (uint32_t)ref, words, 3);
	return true;
}

/* The record that was written just now. */
static void call_note_fast(struct fx_rewriting *w, uint64_t ref, uint64_t start, uint64_t end)
{
	const struct fx_name *function = &w->s->names.table[ref];
	const struct fx_scope_call call = {
	    .at = fx_scope_held(w->s->scope) - 3,
	    .start = start,
	    .end = end,
	    .verdict = verdict_of_call(function, fx_stream_is_brief(w->s, function, start, end)),
	};

	if (function->kind == FX_NAME_ADDRESS &&
	    fx_scope_note(w->s->scope, w->chunk->thread->tid, &call) < 0)
		fx_stream_lose(w->s, -ENOMEM);
}

/* Whether it is too short for its function; if what calls lie in matters, that is decided with the rest. */
static bool call_is_out(struct fx_stream *s, uint64_t ref, uint64_t start, uint64_t end)
{
	const struct fx_name *function = &s->names.table[ref];

	if (s->scope || function->kind != FX_NAME_ADDRESS ||
	    !fx_stream_is_brief(s, function, start, end))
		return false;
	s->counts.brief++;
	return true;
}

/* Takes the record if both its names stand in the archive, or if it is left out. */
static bool record_fast(struct fx_rewriting *w, const uint64_t *words, uint64_t thread_bits)
{
	struct fx_stream *s = w->s;
	uint64_t start, end, *to;

	if (!name_is_told(&s->names, FXT_GET(words[0], EVENT_CATEGORY)) ||
	    !name_is_told(&s->names, FXT_GET(words[0], EVENT_NAME)) ||
	    !name_is_judged(&s->names, FXT_GET(words[0], EVENT_NAME)))
		return record_unwanted(s, words);
	start = fx_timebase_ns(&s->shared->timebase, words[1]);
	end = fx_timebase_ns(&s->shared->timebase, words[2]);
	if (end < start || end > INT64_MAX || start <= w->chunk->thread->stop.ns || end < s->floor)
		return false;
	if (s->shared->has_min && call_is_out(s, FXT_GET(words[0], EVENT_NAME), start, end))
		return true;
	if (!fx_stream_nests(s, w->chunk->thread, &start, end))
		return true;
	fx_begun_end_within(s, w->chunk->thread, start, end);
	to = fx_output_reserve(s->shared->archive.out, 3);
	to[0] = (words[0] & ~FXT_PUT(EVENT_THREAD, ~0)) | thread_bits;
	to[1] = start;
	to[2] = end;
	fx_output_commit(s->shared->archive.out, 3);
	if (s->shared->crowd.share &&
	    s->names.table[FXT_GET(words[0], EVENT_NAME)].kind == FX_NAME_ADDRESS)
		fx_suppress_note(s, w->chunk->thread, (uint32_t)FXT_GET(words[0], EVENT_NAME),
				 start, end);
	if (s->scope)
		call_note_fast(w, FXT_GET(words[0], EVENT_NAME), start, end);
	fx_stream_counts_event(s);
	if (end < s->first_end)
		s->first_end = end;
	if (end > w->chunk->thread->last_end)
		w->chunk->thread->last_end = end;
	return true;
}

/* Bits of the archive's index of the chunk's thread, 0 while it has none. */
static uint64_t thread_bits_of(const struct fx_rewriting *w)
{
	if (!w->chunk || !w->chunk->thread)
		return 0;
	return FXT_PUT(EVENT_THREAD, w->chunk->thread->index);
}

/* --- Rows of records ------------------------------------------------------------------------- */

/* The newest complete calls of a row. */
struct recents {
	const uint64_t *at[FX_RECENT];
	uint32_t count;
};

static void recents_note(struct recents *r, const uint64_t *words)
{
	if (FXT_GET(words[0], RECORD_TYPE) == FXT_RECORD_EVENT &&
	    FXT_GET(words[0], EVENT_TYPE) == FXT_EVENT_DURATION_COMPLETE)
		r->at[r->count++ % FX_RECENT] = words;
}

static void recents_keep(const struct fx_rewriting *w, const struct recents *r)
{
	struct fx_stream_thread *t = fx_rewriting_thread(w);
	uint32_t n = r->count < FX_RECENT ? r->count : FX_RECENT;

	if (!t)
		return;
	for (uint32_t i = r->count - n; i != r->count; i++) {
		const uint64_t *words = r->at[i % FX_RECENT];
		const struct fx_name *name =
		    fx_names_find(&w->s->names, &w->chunk->locals, FXT_GET(words[0], EVENT_NAME));

		t->recent[t->recent_next++ % FX_RECENT] = (struct fx_recent){
		    .start = words[1],
		    .header = words[0],
		    .address = name && name->kind == FX_NAME_ADDRESS ? name->address : 0,
		};
	}
}

/* The size of a record that is malformed, 0 if not even that can be known. */
static size_t bad_size(const uint64_t *words, size_t available)
{
	uint64_t size = FXT_GET(words[0], RECORD_TYPE) == FXT_RECORD_LARGE
			    ? FXT_GET(words[0], LARGE_SIZE)
			    : FXT_GET(words[0], RECORD_SIZE);

	return size <= available ? size : 0;
}

/* Takes records until there are no more, or one, here or in a piece before, has told of a function whose name is still
 * being read: what comes next may use it. Returns how many words are left. */
static size_t rewrite_row(struct fx_rewriting *w, const uint64_t *words, size_t count)
{
	struct recents recents = {.count = 0};
	uint64_t thread_bits = thread_bits_of(w);

	while (count && !w->s->modules.waiting) {
		int64_t size;

		if (w->s->loose_is_due)
			fx_loose_settle(w->s);
		if (count >= 3 && (words[0] & FAST_MASK) == FAST_HEADER && thread_bits &&
		    record_fast(w, words, thread_bits)) {
			recents.at[recents.count++ % FX_RECENT] = words;
			words += 3;
			count -= 3;
			continue;
		}
		if (fx_plain_call_take(w, words, count, thread_bits)) {
			recents.at[recents.count++ % FX_RECENT] = words;
			size = (int64_t)FXT_GET(words[0], RECORD_SIZE);
			words += size;
			count -= (size_t)size;
			continue;
		}
		size = fx_record_check(words, count);
		if (size > 0) {
			if (fx_meanings_wait(w, words))
				break;
			recents_note(&recents, words);
			record_slow(w, words, (size_t)size);
			thread_bits = thread_bits_of(w);
		} else {
			w->s->counts.lost[FX_CAUSE_INVALID]++;
			size = (int64_t)bad_size(words, count);
			if (size == 0)
				size = (int64_t)count;
		}
		words += size;
		count -= (size_t)size;
	}
	if (w->s->loose_is_due)
		fx_loose_settle(w->s);
	recents_keep(w, &recents);
	return count;
}

size_t fx_rows_durable(struct fx_stream *s, const uint64_t *words, size_t count)
{
	struct fx_rewriting w = {.s = s};

	return count - rewrite_row(&w, words, count);
}

/* --- Chunks ---------------------------------------------------------------------------------- */

static struct fx_stream_chunk *chunk_find(struct fx_stream *s, const struct fx_piece *piece)
{
	struct fx_stream_chunk *c;
	uint32_t number = piece->index;

	HASH_FIND(hh, s->chunks, &number, sizeof(number), c);
	if (!c) {
		c = calloc(1, sizeof(*c));
		if (!c)
			return NULL;
		c->number = number;
		HASH_ADD(hh, s->chunks, number, sizeof(c->number), c);
		if (c->lost) {
			free(c);
			return NULL;
		}
	}
	return c;
}

/* Another owner: nothing of what the chunk held before counts. */
static void chunk_reset(struct fx_stream *s, struct fx_stream_chunk *c, uint64_t serial)
{
	c->serial = serial;
	fx_stream_chunk_own(s, c, NULL);
	fx_locals_clear(&s->names, &c->locals);
}

size_t fx_rows_chunk(struct fx_stream *s, const struct fx_piece *piece, const uint64_t *words,
		     size_t done)
{
	const uint32_t in_one = FX_PIECE_FIRST | FX_PIECE_LAST;
	bool whole = (piece->flags & in_one) == in_one;
	struct fx_stream_chunk *c = whole ? &s->whole : chunk_find(s, piece);
	struct fx_rewriting w = {.s = s, .chunk = c};
	size_t count = piece->bytes / FXT_WORD_SIZE, left;

	if (!c) {
		fx_stream_lose(s, -ENOMEM);
		return count;
	}
	if (done == 0 && (piece->flags & FX_PIECE_FIRST))
		chunk_reset(s, c, piece->serial);
	left = rewrite_row(&w, words + done, count - done);
	if (whole)
		fx_kept_note(s, c, words, count);
	if (left || whole || !(piece->flags & FX_PIECE_LAST))
		return count - left;
	HASH_DEL(s->chunks, c);
	fx_stream_chunk_own(s, c, NULL);
	fx_locals_destroy(&s->names, &c->locals);
	free(c);
	return count;
}
