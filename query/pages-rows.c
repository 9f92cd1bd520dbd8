/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "convert/sqlite/arguments.h"
#include "query/pages-internal.h"

static struct fx_query_pages *pages_of(struct fx_sql_taker *taker)
{
	return (struct fx_query_pages *)taker;
}

static struct fx_query_row *pages_add_row(struct fx_query_pages *pages)
{
	struct fx_query_page *page = pages->filling;

	if (fx_vector_reserve(&page->rows, 1) < 0) {
		pages->error = -ENOMEM;
		return NULL;
	}
	return &page->rows.items[page->rows.count++];
}

static void pages_take_args(struct fx_sql_taker *taker, int64_t set, const struct fx_event *event)
{
	struct fx_query_pages *pages = pages_of(taker);
	int64_t first = pages->numbers.args + 1;

	pages->numbers.args += fx_sql_count_args(event);
	if (pages->filling != pages->last)
		return;
	if (fx_vector_reserve(&pages->groups, 1) < 0) {
		pages->error = -ENOMEM;
		return;
	}
	pages->groups.items[pages->groups.count++] =
	    (struct fx_query_group){set, first, event->word, event->provider};
}

/* The number of a text of the timeline, or of a constant; 0: none, or it stands in the record. */
static uint32_t pages_text(struct fx_query_pages *pages, const struct fxt_string *string,
			   bool constant)
{
	if (string->serial || string->length == 0 || !constant)
		return string->serial;
	return fx_texts_add(pages->frontier.exporter->timeline->strings, string->data,
			    string->length);
}

static void pages_take_slice(struct fx_sql_taker *taker, const struct fx_sql_slice *slice)
{
	struct fx_query_pages *pages = pages_of(taker);
	const struct fx_event *event = slice->event;
	struct fx_query_page *page = pages->filling;
	struct fx_query_row *row = page->rows.count < page->rows.capacity
				       ? &page->rows.items[page->rows.count++]
				       : pages_add_row(pages);
	pages->numbers.first[FX_QUERY_BY_SLICE] = slice->id;
	if (!row)
		return;
	/* One by one: see stepper_blank(). */
	row->ts = event->ts;
	row->id = slice->id;
	row->length = slice->place->length;
	row->parent = slice->place->parent;
	row->set = slice->set;
	row->arg = 0;
	row->word = event->word;
	row->end_word = event->end_word;
	row->payload = event->payload;
	row->provider = event->provider;
	row->track = (uint32_t)slice->place->track;
	row->category = pages_text(pages, event->category, true);
	row->name = pages_text(pages, event->name, false);
	row->depth = (uint16_t)slice->place->depth;
	row->kind = FX_QUERY_SLICE;
	row->flags = (uint8_t)event->flags;
	if (row->name == 0 && event->name->length > 0)
		row->kind = FX_QUERY_MESSAGE;
	if (slice->set) {
		pages->numbers.first[FX_QUERY_BY_SET] = slice->set;
		row->arg = pages->numbers.args - fx_sql_count_args(event) + 1;
	}
}

/* Only on the last page. */
static void pages_take_ended(struct fx_sql_taker *taker, int64_t slice, int64_t length, int64_t set)
{
	struct fx_query_pages *pages = pages_of(taker);
	struct fx_query_row *row = &pages->last->rows.items[slice - pages->last->rows.items[0].id];

	row->length = length;
	row->set = set;
}

static void pages_take_count(struct fx_sql_taker *taker, const struct fx_event *event,
			     const struct fx_sql_count *count)
{
	struct fx_query_pages *pages = pages_of(taker);
	struct fx_query_row *row = pages_add_row(pages);

	pages->numbers.first[FX_QUERY_BY_COUNT]++;
	if (!row)
		return;
	*row = (struct fx_query_row){.ts = event->ts,
				     .id = pages->numbers.first[FX_QUERY_BY_COUNT],
				     .value = count->value,
				     .track = (uint32_t)count->track,
				     .kind = FX_QUERY_COUNT};
}

void fx_pages_take_rows(struct fx_query_pages *pages)
{
	pages->taker = (struct fx_sql_taker){.args = pages_take_args,
					     .slice = pages_take_slice,
					     .ended = pages_take_ended,
					     .counter = pages_take_count};
	pages->tables.taker = &pages->taker;
}
