/* SPDX-License-Identifier: MIT */
#include "format/plain.h"
#include "format/reader-state.h"

/* Two references to strings that were found to be defined; most events have the category of the one before. */
struct known {
	unsigned category, name;
};

static bool plain_has_string(const struct fx_tables *tables, unsigned ref)
{
	return ref == FXT_STRING_EMPTY || fx_tables_string(tables, ref);
}

/* Whether all that a plain event refers to is defined. */
static bool plain_is_defined(const struct fx_tables *tables, uint64_t header, struct known *known)
{
	unsigned category = (unsigned)FXT_GET(header, EVENT_CATEGORY);
	unsigned name = (unsigned)FXT_GET(header, EVENT_NAME);

	if (!fx_tables_thread(tables, (unsigned)FXT_GET(header, EVENT_THREAD)))
		return false;
	if (category != known->category && !plain_has_string(tables, category))
		return false;
	known->category = category;
	if (name != known->name && !plain_has_string(tables, name))
		return false;
	known->name = name;
	return true;
}

void fx_reader_take_plain(struct fxt_reader *reader, struct fx_plain_run *ret)
{
	const uint64_t *words = reader->buffer + reader->begin;
	const struct fx_tables *tables = &reader->current->tables;
	size_t count = reader->filled / FXT_WORD_SIZE - reader->begin, at = 0;
	struct known known = {FXT_STRING_EMPTY, FXT_STRING_EMPTY};

	*ret = (struct fx_plain_run){
	    .words = words,
	    .offset = reader->offset,
	    .provider = &reader->current->public,
	    .tables = tables,
	};
	/* The first record of all is looked at by fxt_reader_next(). */
	if (!reader->started || reader->finished)
		count = 0;
	while (at < count) {
		size_t size = fx_plain_size(words[at]);

		if (size == 0 || size > count - at || !plain_is_defined(tables, words[at], &known))
			break;
		at += size;
	}
	ret->count = at;
	reader->begin += at;
	reader->offset += at * FXT_WORD_SIZE;
}
