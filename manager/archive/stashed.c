/* SPDX-License-Identifier: MIT */
#include "manager/archive/stashed.h"

#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "format/encode.h"

void fx_stashed_keep(struct fx_stream *s, const uint64_t *words, size_t count)
{
	if (!s->stash)
		s->stash = malloc(FX_STASH_SIZE);
	if (!s->stash || count > FX_STASH_SIZE / FXT_WORD_SIZE)
		count = 0;
	if (count)
		memcpy(s->stash, words, count * FXT_WORD_SIZE);
	s->stash_words = (uint32_t)count;
}

void fx_stashed_forget(struct fx_stream *s)
{
	s->stash_words = 0;
}

/* The entry of a frame, and its arguments' words. NULL: there is none. */
static const uint64_t *stashed_find(const struct fx_stream *s, size_t index, uint64_t start,
				    uint32_t *ret_words)
{
	uint32_t at = 0;

	while (at + FX_STASH_HEAD <= s->stash_words) {
		struct fx_stash_entry entry;

		memcpy(&entry, s->stash + at, sizeof(entry));
		at += FX_STASH_HEAD;
		if (entry.words > s->stash_words - at)
			return NULL;
		if (entry.start == start && entry.frame == index) {
			*ret_words = entry.words;
			return s->stash + at;
		}
		at += entry.words;
	}
	return NULL;
}

/* A string of the provider's as one of the archive's. `text' is that of an inline one, of which `words' are there. */
static bool stashed_string(struct fx_stream *s, uint32_t ref, const uint64_t *text, size_t words,
			   struct fx_stashed_room *room, struct fxt_string *ret)
{
	size_t length = ref & ~FXT_STRING_INLINE & 0xffff, written;
	int to;

	if (!(ref & FXT_STRING_INLINE) || ref == FXT_STRING_EMPTY) {
		to = fx_names_ref(&s->names, NULL, ref);
		*ret = fx_string_indexed((unsigned)to);
		return to >= 0;
	}
	if (fx_bytes_words(length) > words ||
	    FX_ESCAPE_WIDTH * length > sizeof(room->text) - room->used)
		return false;
	written = fx_escape(room->text + room->used, sizeof(room->text) - room->used,
			    (const char *)text, length, 0);
	*ret = fx_string_inline(room->text + room->used, written);
	room->used += written;
	return true;
}

static size_t stashed_inline_words(uint32_t ref)
{
	return ref & FXT_STRING_INLINE ? fx_bytes_words(ref & ~FXT_STRING_INLINE & 0xffff) : 0;
}

/* One argument, of which all `words' are there. */
static bool stashed_arg(struct fx_stream *s, const uint64_t *words, size_t count,
			struct fx_stashed_room *room, struct fxt_arg *ret)
{
	uint64_t header = words[0];
	uint32_t name = (uint32_t)FXT_GET(header, ARG_NAME), value;
	size_t at = 1 + stashed_inline_words(name);

	*ret = (struct fxt_arg){.type = (uint8_t)FXT_GET(header, ARG_TYPE)};
	if (at > count || !stashed_string(s, name, words + 1, at - 1, room, &ret->name))
		return false;
	switch (ret->type) {
	case FXT_ARG_INT32:
	case FXT_ARG_UINT32:
		ret->uint32 = (uint32_t)(header >> 32);
		return true;
	case FXT_ARG_BOOL:
		ret->boolean = header >> 32 & 1;
		return true;
	case FXT_ARG_STRING:
		value = (uint32_t)FXT_GET(header, ARG_STRING_VALUE);
		return stashed_string(s, value, words + at, count - at, room, &ret->string);
	case FXT_ARG_INT64:
	case FXT_ARG_UINT64:
	case FXT_ARG_DOUBLE:
	case FXT_ARG_POINTER:
		if (at >= count)
			return false;
		memcpy(&ret->uint64, words + at, sizeof(ret->uint64));
		return true;
	default:
		return false;
	}
}

void fx_stashed_add(struct fx_stream *s, size_t index, const struct fx_frame *frame,
		    struct fx_stashed_room *room, struct fxt_record *record)
{
	uint32_t left = 0;
	const uint64_t *words = stashed_find(s, index, frame->start, &left);

	room->used = 0;
	/* One more says that the call has not ended. */
	while (words && left && record->nargs + 1 < FXT_MAX_ARGS) {
		uint64_t size = FXT_GET(words[0], ARG_SIZE);

		if (size == 0 || size > left)
			return;
		if (stashed_arg(s, words, size, room, &record->args[record->nargs]))
			record->nargs++;
		words += size;
		left -= (uint32_t)size;
	}
}
