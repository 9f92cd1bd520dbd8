/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <string.h>

#include "query/cursor.h"

/* --- Pages ------------------------------------------------------------------------------------ */

static void cursor_leave_page(struct fx_query_cursor *cursor)
{
	fx_query_pages_put(cursor->page);
	cursor->page = NULL;
}

static bool cursor_is_last_page(const struct fx_query_cursor *cursor)
{
	return fx_query_pages_thread(cursor->pages, cursor->number) == UINT32_MAX;
}

static int cursor_enter_page(struct fx_query_cursor *cursor)
{
	int r = fx_query_pages_take(cursor->pages, cursor->number, &cursor->page);

	cursor->next = 0;
	if (r == 0)
		cursor->at_end = true;
	return r < 0 ? r : 0;
}

/* Whether the page need not be looked at, as far as is known. */
static bool cursor_may_skip(const struct fx_query_cursor *cursor)
{
	const struct fx_query_filter *filter = &cursor->filter;
	bool all;

	if (cursor->number >= fx_query_pages_count(cursor->pages, &all))
		return false;
	return !fx_query_pages_may_have(cursor->pages, cursor->number, filter->from, filter->to,
					filter->track);
}

static int cursor_next_page(struct fx_query_cursor *cursor)
{
	uint32_t thread = fx_query_pages_thread(cursor->pages, cursor->number);
	int r;

	/* A statement that goes through all of them comes back to none: its memory, which the processor has at hand, is the next one's. */
	if (cursor->takes_slices)
		cursor->page->used = 0;
	cursor_leave_page(cursor);
	cursor->number++;
	while (cursor_may_skip(cursor))
		cursor->number++;
	r = cursor_enter_page(cursor);
	/* Slices contain none of another thread. */
	if (r == 0 && !cursor->at_end && cursor->filter.parent &&
	    fx_query_pages_thread(cursor->pages, cursor->number) != thread)
		cursor->at_end = true;
	return r;
}

/* --- Slices and counts ------------------------------------------------------------------------ */

static bool cursor_has_name(const struct fx_query_cursor *cursor, const struct fx_query_row *row)
{
	const struct fx_query_filter *filter = &cursor->filter;
	const struct fx_text *text;

	if (!filter->name || row->kind == FX_QUERY_MESSAGE)
		return true;
	if (row->name == 0)
		return false;
	text = fx_texts_get(fx_query_pages_timeline(cursor->pages)->strings, row->name);
	return text->length == filter->name_length &&
	       memcmp(text->data, filter->name, filter->name_length) == 0;
}

static bool cursor_takes(const struct fx_query_cursor *cursor, const struct fx_query_row *row)
{
	const struct fx_query_filter *filter = &cursor->filter;

	if (cursor->takes_slices)
		return row->kind != FX_QUERY_COUNT;
	if (cursor->of == FX_QUERY_OF_ARGS)
		return row->set && (!filter->set || row->set == filter->set);
	if ((row->kind == FX_QUERY_COUNT) != (cursor->of == FX_QUERY_OF_COUNTS))
		return false;
	if (row->id < filter->first_id || row->ts < filter->from || row->ts > filter->to)
		return false;
	if ((filter->track && row->track != filter->track) ||
	    (filter->parent && row->parent != filter->parent) ||
	    (filter->set && row->set != filter->set))
		return false;
	return cursor_has_name(cursor, row);
}

/* Whether no row from this one on can be right. */
static bool cursor_is_behind(const struct fx_query_cursor *cursor, const struct fx_query_row *row)
{
	const struct fx_query_row *parent = &cursor->parent;

	if (cursor->of == FX_QUERY_OF_ARGS ||
	    (row->kind == FX_QUERY_COUNT) != (cursor->of == FX_QUERY_OF_COUNTS))
		return false;
	if (row->id > cursor->filter.last_id)
		return true;
	if (!cursor->filter.parent)
		return false;
	if (cursor_is_last_page(cursor))
		return parent->length >= 0 && row->ts > parent->ts + (uint64_t)parent->length;
	return row->track == parent->track && row->depth <= parent->depth;
}

/* Goes to the next row that the filter takes. */
static int cursor_next_row(struct fx_query_cursor *cursor)
{
	int r = 0;

	while (!cursor->at_end && r == 0) {
		const struct fx_query_row *row;

		if (cursor->next >= cursor->page->rows.count ||
		    (cursor->of == FX_QUERY_OF_ARGS && cursor_is_last_page(cursor))) {
			r = cursor_next_page(cursor);
			continue;
		}
		row = &cursor->page->rows.items[cursor->next++];
		if (!cursor->takes_slices && cursor_is_behind(cursor, row)) {
			cursor->at_end = true;
		} else if (cursor_takes(cursor, row)) {
			cursor->row = row;
			return 0;
		}
	}
	return r;
}

/* --- Slices by name --------------------------------------------------------------------------- */

/* Whether the name is what the rows are to be found by. */
static bool cursor_goes_by_name(const struct fx_query_cursor *cursor)
{
	const struct fx_query_filter *filter = &cursor->filter;

	return cursor->of == FX_QUERY_OF_SLICES && filter->name && !filter->parent &&
	       !filter->set && filter->first_id <= 1 && filter->last_id == INT64_MAX;
}

static int cursor_start_named(struct fx_query_cursor *cursor)
{
	const struct fx_query_filter *filter = &cursor->filter;
	const struct fx_timeline *timeline = fx_query_pages_timeline(cursor->pages);
	uint32_t name = fx_texts_find(timeline->strings, filter->name, filter->name_length);
	int r = 0;

	cursor->next_named = cursor->named_count = 0;
	cursor->stretches[0] = (struct fx_query_stretch){0};
	if (name)
		r = fx_query_named_find(cursor->named, name, filter->from, filter->to,
					&cursor->stretches[0]);
	return r < 0 ? r
		     : fx_query_named_find(cursor->named, 0, filter->from, filter->to,
					   &cursor->stretches[1]);
}

/* Reads some more; 1, 0: there are none, or -errno. */
static int cursor_read_named(struct fx_query_cursor *cursor)
{
	struct fx_query_stretch *stretch = &cursor->stretches[0];
	int r;

	if (stretch->at == stretch->end)
		stretch = &cursor->stretches[1];
	cursor->next_named = 0;
	cursor->named_count = stretch->end - stretch->at < FX_QUERY_NAMED_READ
				  ? (size_t)(stretch->end - stretch->at)
				  : FX_QUERY_NAMED_READ;
	if (cursor->named_count == 0)
		return 0;
	r = fx_query_named_read(cursor->named, stretch->at, cursor->named_count,
				cursor->named_rows);
	stretch->at += cursor->named_count;
	return r < 0 ? r : 1;
}

static int cursor_next_named(struct fx_query_cursor *cursor)
{
	int r = 1;

	while (r > 0) {
		if (cursor->next_named == cursor->named_count) {
			r = cursor_read_named(cursor);
			continue;
		}
		cursor->row = &cursor->named_rows[cursor->next_named++];
		if (cursor_takes(cursor, cursor->row))
			return 0;
	}
	cursor->at_end = true;
	return r;
}

/* --- Where to begin --------------------------------------------------------------------------- */

/* The place in the page of the first row that this number may be at. */
static size_t cursor_find_row(const struct fx_query_cursor *cursor, int64_t id)
{
	size_t low = 0, high = cursor->page->rows.count;

	/* Values of counters stand among the slices, with numbers of their own. */
	if (cursor->of != FX_QUERY_OF_SLICES)
		return 0;
	while (low < high) {
		size_t middle = low + (high - low) / 2, at = middle;

		while (at > low && cursor->page->rows.items[at].kind == FX_QUERY_COUNT)
			at--;
		if (cursor->page->rows.items[at].kind == FX_QUERY_COUNT ||
		    cursor->page->rows.items[at].id < id)
			low = middle + 1;
		else
			high = at;
	}
	return low;
}

/* Goes to the page, and the row, where an id is to be looked for. */
static int cursor_seek(struct fx_query_cursor *cursor, int64_t id)
{
	enum fx_query_number by =
	    cursor->of == FX_QUERY_OF_COUNTS ? FX_QUERY_BY_COUNT : FX_QUERY_BY_SLICE;
	int r = fx_query_pages_find(cursor->pages, by, id, &cursor->number);

	if (r == 0)
		r = cursor_enter_page(cursor);
	if (r == 0 && !cursor->at_end)
		cursor->next = cursor_find_row(cursor, id);
	return r;
}

/* To the first row behind the parent, if there is one of this number. */
static int cursor_seek_children(struct fx_query_cursor *cursor)
{
	int64_t id = cursor->filter.parent;
	int r = cursor_seek(cursor, id);

	while (r == 0 && !cursor->at_end && cursor->next < cursor->page->rows.count) {
		const struct fx_query_row *row = &cursor->page->rows.items[cursor->next++];

		if (row->kind == FX_QUERY_COUNT)
			continue;
		if (row->id != id)
			break;
		cursor->parent = *row;
		return 0;
	}
	cursor->at_end = true;
	return r;
}

static int cursor_start_rows(struct fx_query_cursor *cursor)
{
	const struct fx_query_filter *filter = &cursor->filter;
	int r;

	cursor->named = cursor_goes_by_name(cursor) ? fx_query_source_named(cursor->source) : NULL;
	if (cursor->named)
		return cursor_start_named(cursor);
	if (filter->parent)
		return cursor_seek_children(cursor);
	if (filter->first_id > 1)
		return cursor_seek(cursor, filter->first_id);
	cursor->number = 0;
	if (filter->set) {
		r = fx_query_pages_find(cursor->pages, FX_QUERY_BY_SET, filter->set,
					&cursor->number);
		if (r < 0)
			return r;
	}
	while (cursor_may_skip(cursor))
		cursor->number++;
	return cursor_enter_page(cursor);
}

/* --- Arguments -------------------------------------------------------------------------------- */

/* Decodes what the row, or the group, says. */
static int cursor_decode(struct fx_query_cursor *cursor)
{
	struct fx_timeline *timeline = fx_query_pages_timeline(cursor->pages);
	const struct fx_query_row *row = cursor->group ? NULL : cursor->row;
	uint32_t provider = row ? row->provider : cursor->group->provider;
	int r = fx_timeline_decode(timeline, provider, row ? row->word : cursor->group->word,
				   &cursor->record);

	cursor->event = (struct fx_event){0};
	cursor->next_arg = 0;
	cursor->set = row ? row->set : cursor->group->set;
	cursor->first_arg = row ? row->arg : cursor->group->arg;
	if (r < 0)
		return r == -EBADMSG ? 0 : r;
	cursor->event.args = cursor->record.args;
	cursor->event.nargs = cursor->record.nargs;
	if (!row)
		return 0;
	cursor->event.payload = row->payload;
	cursor->event.flags = row->flags;
	if (row->end_word == FX_NO_WORD)
		return 0;
	r = fx_timeline_decode(timeline, provider, row->end_word, &cursor->end_record);
	if (r < 0)
		return r == -EBADMSG ? 0 : r;
	cursor->event.end_args = cursor->end_record.args;
	cursor->event.end_nargs = cursor->end_record.nargs;
	return 0;
}

static int cursor_next_group(struct fx_query_cursor *cursor)
{
	int64_t set = cursor->filter.set;
	size_t count;
	const struct fx_query_group *groups = fx_query_pages_groups(cursor->pages, &count);

	if (!cursor->group && set) {
		size_t low = 0, high = count;

		while (low < high) {
			size_t middle = low + (high - low) / 2;

			if (groups[middle].set < set)
				low = middle + 1;
			else
				high = middle;
		}
		cursor->next_group = low;
	}
	cursor->at_end =
	    cursor->next_group >= count || (set && groups[cursor->next_group].set != set);
	if (cursor->at_end)
		return 0;
	cursor->group = &groups[cursor->next_group++];
	return cursor_decode(cursor);
}

/* Goes to the next event that has arguments. */
static int cursor_next_event(struct fx_query_cursor *cursor)
{
	bool of_pages = !cursor->group && !cursor->at_end;
	int r = 0;

	if (of_pages && cursor->filter.set && cursor->row)
		cursor->at_end = true; /* which had been found */
	else if (of_pages)
		r = cursor_next_row(cursor);
	if (r < 0)
		return r;
	if (of_pages && !cursor->at_end)
		return cursor_decode(cursor);
	if (of_pages && cursor->filter.set && cursor->row)
		return 0;
	return cursor_next_group(cursor);
}

static bool cursor_has_key(const struct fx_query_cursor *cursor)
{
	const struct fx_query_filter *filter = &cursor->filter;
	const struct fxt_string *key = cursor->arg.key;

	return !filter->name || (key->length == filter->name_length &&
				 memcmp(key->data, filter->name, filter->name_length) == 0);
}

static int cursor_next_arg(struct fx_query_cursor *cursor)
{
	int r = 0;

	while (r == 0 && !cursor->at_end) {
		while (fx_sql_arg_at(&cursor->event, cursor->next_arg, &cursor->arg)) {
			cursor->next_arg++;
			if (cursor_has_key(cursor))
				return 0;
		}
		r = cursor_next_event(cursor);
	}
	return r;
}

/* --- The whole -------------------------------------------------------------------------------- */

int fx_query_cursor_start(struct fx_query_cursor *cursor, const struct fx_query_filter *filter)
{
	int r;

	fx_query_cursor_stop(cursor);
	cursor->filter = *filter;
	cursor->takes_slices = cursor->of == FX_QUERY_OF_SLICES && !filter->none &&
			       filter->first_id <= 1 && filter->last_id == INT64_MAX &&
			       filter->from == 0 && filter->to == UINT64_MAX && !filter->track &&
			       !filter->parent && !filter->set && !filter->name;
	cursor->at_end = filter->none;
	cursor->named = NULL;
	cursor->row = NULL;
	cursor->group = NULL;
	cursor->next_group = 0;
	cursor->next_arg = 0;
	cursor->event = (struct fx_event){0};
	if (cursor->at_end)
		return 0;
	r = cursor_start_rows(cursor);
	return r < 0 ? r : fx_query_cursor_next(cursor);
}

int fx_query_cursor_next(struct fx_query_cursor *cursor)
{
	if (cursor->named)
		return cursor_next_named(cursor);
	return cursor->of == FX_QUERY_OF_ARGS ? cursor_next_arg(cursor) : cursor_next_row(cursor);
}

void fx_query_cursor_stop(struct fx_query_cursor *cursor)
{
	cursor_leave_page(cursor);
	cursor->at_end = true;
}

int fx_query_cursor_message(struct fx_query_cursor *cursor, const struct fxt_string **ret)
{
	int r = fx_timeline_decode(fx_query_pages_timeline(cursor->pages), cursor->row->provider,
				   cursor->row->word, &cursor->record);

	*ret = &cursor->record.log.message;
	return r;
}
