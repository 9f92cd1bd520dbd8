/* SPDX-License-Identifier: MIT */
#include "manager/archive/plain-call.h"

#include <string.h>

#include "format/encode.h"
#include "manager/archive/begun.h"
#include "manager/archive/call-shapes.h"
#include "manager/archive/meanings.h"
#include "manager/archive/transfers.h"

/* What must be so in the header: a complete call of the chunk's thread. */
#define CALL_MASK (FXT_PUT(RECORD_TYPE, ~0) | FXT_PUT(EVENT_TYPE, ~0) | FXT_PUT(EVENT_THREAD, ~0))
#define CALL_HEADER                                                                                \
	(FXT_PUT(RECORD_TYPE, FXT_RECORD_EVENT) |                                                  \
	 FXT_PUT(EVENT_TYPE, FXT_EVENT_DURATION_COMPLETE) |                                        \
	 FXT_PUT(EVENT_THREAD, FX_CHUNK_THREAD_INDEX))

/* Header, time, and the time of the end. */
#define WORDS_AROUND 3u

/* The name of that reference, if it stands in the archive already; else NULL. */
static const struct fx_name *name_as_told(const struct fx_names *names, uint64_t ref)
{
	return ref < names->count && names->table[ref].told ? &names->table[ref] : NULL;
}

/* Bytes that are 0, of more than ASCII, or a backslash: their highest bit. A byte behind one of them may be marked falsely. */
static uint64_t bytes_to_escape(uint64_t word)
{
	const uint64_t ones = UINT64_C(0x0101010101010101), highest = ones << 7;
	uint64_t no_backslash = word ^ ones * '\\';

	return (word | (word - ones) | (no_backslash - ones)) & highest;
}

/* Whether the text of an inline string may stand as it is; false also for some that may. */
static bool text_is_plain(const uint64_t *words, size_t length)
{
	for (; length >= FXT_WORD_SIZE; length -= FXT_WORD_SIZE) {
		if (bytes_to_escape(*words++))
			return false;
	}
	/* What pads it is no text: any plain byte in its place. */
	return !length || !bytes_to_escape((*words & ((UINT64_C(1) << 8 * length) - 1)) |
					   (UINT64_C(0x2020202020202020) << 8 * length));
}

/* Whether an argument of `size' words is text that may stand as it is, and holds it. */
static bool string_is_plain(const struct fx_names *names, const uint64_t *arg, size_t size)
{
	uint64_t ref = FXT_GET(arg[0], ARG_STRING_VALUE);

	if (!(ref & FXT_STRING_INLINE))
		return ref == FXT_STRING_EMPTY || name_as_told(names, ref);
	ref &= ~(uint64_t)FXT_STRING_INLINE;
	return ref <= FXT_MAX_STRING_LENGTH && fx_bytes_words(ref) < size &&
	       text_is_plain(arg + 1, ref);
}

/* Whether an argument of `size' words holds what its header announces, and stays as it is. */
static bool value_is_plain(const struct fx_names *names, const uint64_t *arg, size_t size)
{
	switch (FXT_GET(arg[0], ARG_TYPE)) {
	case FXT_ARG_NULL:
	case FXT_ARG_INT32:
	case FXT_ARG_UINT32:
	case FXT_ARG_BOOL:
		return true;
	case FXT_ARG_INT64:
	case FXT_ARG_UINT64:
	case FXT_ARG_DOUBLE:
	case FXT_ARG_POINTER:
		return size >= 2;
	case FXT_ARG_STRING:
		return string_is_plain(names, arg, size);
	default:
		return false;
	}
}

/* Walks over the arguments. False: one of them is not plain, or they are not what the record holds. */
static bool args_are_plain(struct fx_rewriting *w, size_t end, size_t count)
{
	const struct fx_names *names = &w->s->names;
	size_t at = 2;

	while (count--) {
		uint64_t header = w->words[at];
		size_t size = FXT_GET(header, ARG_SIZE);
		const struct fx_name *name = name_as_told(names, FXT_GET(header, ARG_NAME));

		if (!name || size == 0 || size >= end - at ||
		    !value_is_plain(names, &w->words[at], size))
			return false;
		if (w->is_own && name->meaning != FX_MEANING_NONE &&
		    !fx_meanings_note_plain(w, at, (uint32_t)FXT_GET(header, ARG_NAME)))
			return false;
		at += size;
	}
	return at + 1 == end;
}

/* Whether the call itself is one that nothing else depends on: no function, of which some may be left out or named by
 * what they lie in. */
static bool names_are_plain(const struct fx_stream *s, uint64_t header)
{
	const struct fx_name *category = name_as_told(&s->names, FXT_GET(header, EVENT_CATEGORY)),
			     *name = name_as_told(&s->names, FXT_GET(header, EVENT_NAME));

	return category && category->is_category && name && name->kind == FX_NAME_TEXT;
}

/* Looks only at what the shape leaves open. False: the record has another one, or text that may not stand as it is. */
static bool shape_take(struct fx_rewriting *w, const struct fx_call_shape *shape)
{
	w->meant_count = 0;
	w->is_own = shape->is_own;
	w->is_waking = shape->is_waking;
	w->ticks = w->words[1];
	if (shape->transfer.way)
		w->transfer = shape->transfer;
	else
		w->transfer.way = 0;
	for (const struct fx_shape_arg *arg = shape->args, *end = arg + shape->nargs; arg < end;
	     arg++) {
		const uint64_t *words = &w->words[arg->at];
		uint32_t ref = (uint32_t)FXT_GET(words[0], ARG_STRING_VALUE);

		if ((uint32_t)words[0] != arg->low)
			return false;
		if (!arg->is_text)
			continue;
		if (!string_is_plain(&w->s->names, words, FXT_GET(words[0], ARG_SIZE)))
			return false;
		if (arg->place)
			memcpy((char *)&w->transfer + arg->place, &ref, sizeof(ref));
	}
	return true;
}

/* The same of a record whose shape is not known, which is known then. */
static bool words_take(struct fx_rewriting *w, size_t nargs)
{
	fx_meanings_begin(w);
	if (!args_are_plain(w, w->size, nargs))
		return false;
	fx_call_shape_learn(w);
	return true;
}

bool fx_plain_call_take(struct fx_rewriting *w, const uint64_t *words, size_t count,
			uint64_t thread_bits)
{
	struct fx_stream *s = w->s;
	struct fx_stream_thread *t = fx_rewriting_thread(w);
	size_t size = FXT_GET(words[0], RECORD_SIZE), nargs = FXT_GET(words[0], EVENT_NARGS);
	const struct fx_call_shape *shape = fx_call_shape_find(s, words[0]);
	uint64_t begin, start, end;
	bool whole;

	if ((words[0] & CALL_MASK) != CALL_HEADER || !t || !thread_bits || s->is_kernel ||
	    s->floor || size > count || size < WORDS_AROUND + nargs ||
	    (!shape && !names_are_plain(s, words[0])))
		return false;
	begin = start = fx_timebase_ns(&s->shared->timebase, words[1]);
	end = fx_timebase_ns(&s->shared->timebase, words[size - 1]);
	if (end < start || end > INT64_MAX || start <= t->stop.ns || fx_begun_is_since(t, start))
		return false;
	w->words = fx_output_reserve(s->shared->archive.out, size);
	w->size = size;
	memcpy(w->words, words, size * FXT_WORD_SIZE);
	if (!(shape && shape_take(w, shape)) && !words_take(w, nargs))
		return false;
	whole = fx_stream_nests(s, t, &start, end);
	w->thread = t;
	w->is_virtual = false;
	if (w->transfer.way)
		fx_transfers_take(w, begin, end, whole && start == begin);
	if (!whole)
		return true;
	w->words[0] = (words[0] & ~FXT_PUT(EVENT_THREAD, ~0)) | thread_bits;
	w->words[1] = start;
	w->words[size - 1] = end;
	fx_output_commit(s->shared->archive.out, size);
	fx_stream_counts_event(s);
	if (end < s->first_end)
		s->first_end = end;
	if (end > t->last_end)
		t->last_end = end;
	return true;
}
