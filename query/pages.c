/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "convert/convert.h"
#include "convert/sqlite/arguments.h"
#include "convert/sqlite/tables.h"
#include "convert/stepper.h"
#include "query/pages.h"

enum {
	PAGE_ROWS =
	    1024, /* of the first pages; of later ones, so that there are not too many, more */
	PAGES_ALIKE = 8192, /* pages of one size, before it is doubled */
	PAGE_DOUBLINGS = 4,
	PAGES_KEPT = 32,
	PAGE_ROW_MEMORY = 65536, /* bytes of the timeline's for each row of a page */
};

/* Numbers given out so far. */
struct page_numbers {
	int64_t first[FX_QUERY_NUMBERS]; /* the last that was given out */
	int64_t args;
};

/* What is remembered of a page. */
struct page_note {
	uint32_t thread;
	bool at_start; /* of the thread */
	size_t rows;
	uint64_t first_ts, last_ts;
	int64_t track; /* of all rows; 0: of several */
	struct page_numbers numbers;
	struct fx_walk_place place;
	int64_t *open;		    /* ids of the slices that are open there */
	struct fx_query_page *page; /* NULL: not kept */
};

struct fx_query_pages {
	struct fx_sql_taker taker;
	struct fx_sql_tables tables;
	struct fx_flows *flows;
	struct fx_stepper frontier; /* makes pages for the first time */
	bool in_thread;
	size_t thread; /* at the frontier */
	bool all;      /* pages are known */
	struct page_numbers numbers;
	FX_VECTOR(struct page_note) notes;
	FX_VECTOR(struct fx_query_page *) kept;
	uint64_t used;
	struct fx_query_page *filling;
	struct fx_query_page *last; /* what belongs to no thread */
	FX_VECTOR(struct fx_query_group) groups;
	int error;
};

/* --- Taking rows ------------------------------------------------------------------------------ */

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

/* --- Pages in memory -------------------------------------------------------------------------- */

/* The kept page that was used longest ago; NULL: one more may be made. */
static struct fx_query_page *pages_oldest(struct fx_query_pages *pages)
{
	struct fx_query_page *oldest = NULL;

	if (pages->kept.count < PAGES_KEPT)
		return NULL;
	for (size_t i = 0; i < pages->kept.count; i++) {
		struct fx_query_page *page = pages->kept.items[i];

		if (page->users == 0 && (!oldest || page->used < oldest->used))
			oldest = page;
	}
	return oldest;
}

/* An empty page; NULL: no memory. */
static struct fx_query_page *pages_make_room(struct fx_query_pages *pages)
{
	struct fx_query_page *page = pages_oldest(pages);

	if (!page) {
		if (fx_vector_reserve(&pages->kept, 1) < 0)
			return NULL;
		page = calloc(1, sizeof(*page));
		if (!page)
			return NULL;
		page->number = SIZE_MAX;
		pages->kept.items[pages->kept.count++] = page;
	}
	if (page->number != SIZE_MAX)
		pages->notes.items[page->number].page = NULL;
	page->number = SIZE_MAX;
	page->rows.count = 0;
	page->used = 0;
	return page;
}

static void pages_keep(struct fx_query_pages *pages, struct fx_query_page *page, size_t number)
{
	page->number = number;
	pages->notes.items[number].page = page;
}

/* Fewer where little memory is allowed. */
static size_t pages_rows_of(const struct fx_query_pages *pages, size_t number)
{
	size_t doublings = number / PAGES_ALIKE;
	size_t rows = pages->frontier.exporter->timeline->pool.limit / PAGE_ROW_MEMORY;

	if (rows > PAGE_ROWS)
		rows = PAGE_ROWS;
	return rows << (doublings < PAGE_DOUBLINGS ? doublings : PAGE_DOUBLINGS);
}

/* --- The frontier ----------------------------------------------------------------------------- */

/* What a page that begins at the frontier begins with. */
static int pages_note_start(struct fx_query_pages *pages, struct page_note *ret)
{
	const struct fx_sql_tables *tables = &pages->tables;
	size_t open = tables->open.count;

	*ret = (struct page_note){.thread = (uint32_t)pages->thread, .numbers = pages->numbers};
	if (!pages->in_thread) {
		ret->at_start = true;
		return 0;
	}
	if (!fx_walk_note_place(&pages->frontier.walk, &ret->place))
		return -ENOMEM;
	ret->open = malloc((open + 1) * sizeof(*ret->open));
	if (!ret->open)
		return -ENOMEM;
	memcpy(ret->open, tables->open.items, open * sizeof(*ret->open));
	return 0;
}

static void pages_forget_start(struct page_note *note)
{
	free(note->place.open);
	free(note->open);
}

static int pages_enter_thread(struct fx_query_pages *pages)
{
	struct fx_timeline *timeline = pages->frontier.exporter->timeline;
	struct fx_thread *thread = timeline->threads.items[pages->thread];
	int r = fx_stepper_begin(&pages->frontier, thread, NULL);

	pages->in_thread = true;
	pages->frontier.ops->enter_thread(pages->frontier.exporter, thread);
	return r;
}

static void pages_leave_thread(struct fx_query_pages *pages)
{
	fx_stepper_end_slices(&pages->frontier);
	fx_stepper_end(&pages->frontier);
	pages->in_thread = false;
	pages->thread++;
}

/* Whether the frontier stands where another page may begin. */
static bool pages_may_break(const struct fx_walk *walk)
{
	return walk->group_at >= walk->group.count && walk->next;
}

/* Hands the events of the thread at the frontier to the page. Returns 1, 0: the thread is over, or -errno. */
static int pages_fill(struct fx_query_pages *pages, struct fx_query_page *page, size_t rows)
{
	int r;

	pages->filling = page;
	while ((r = fx_stepper_next(&pages->frontier)) > 0) {
		if (pages->error < 0)
			return pages->error;
		if (page->rows.count >= rows && pages_may_break(&pages->frontier.walk))
			return 1;
	}
	return r < 0 ? r : fx_flows_error(pages->flows);
}

static void pages_note_rows(struct page_note *note, const struct fx_query_page *page)
{
	note->rows = page->rows.count;
	note->first_ts = page->rows.items[0].ts;
	note->last_ts = page->rows.items[note->rows - 1].ts;
	note->track = page->rows.items[0].track;
	for (size_t i = 1; i < note->rows && note->track; i++) {
		if (page->rows.items[i].track != note->track)
			note->track = 0;
	}
}

/* Makes a page of the thread at the frontier, unless it has no more rows. */
static int pages_make_next(struct fx_query_pages *pages)
{
	struct fx_query_page *page = pages_make_room(pages);
	struct page_note note = {0};
	int r = page && fx_vector_reserve(&pages->notes, 1) == 0 ? 0 : -ENOMEM;

	if (r == 0)
		r = pages_note_start(pages, &note);
	if (r == 0 && !pages->in_thread)
		r = pages_enter_thread(pages);
	if (r == 0)
		r = pages_fill(pages, page, pages_rows_of(pages, pages->notes.count));
	if (r == 0)
		pages_leave_thread(pages);
	if (r < 0 || page->rows.count == 0) {
		pages_forget_start(&note);
		return r < 0 ? r : 0;
	}
	pages_note_rows(&note, page);
	pages->notes.items[pages->notes.count++] = note;
	pages_keep(pages, page, pages->notes.count - 1);
	return 0;
}

static int pages_compare_groups(const void *a, const void *b)
{
	const struct fx_query_group *left = a, *right = b;

	if (left->set != right->set)
		return left->set < right->set ? -1 : 1;
	return (left->arg > right->arg) - (left->arg < right->arg);
}

/* The last page, behind all threads. */
static int pages_make_last(struct fx_query_pages *pages)
{
	struct page_note note = {.thread = UINT32_MAX, .numbers = pages->numbers};
	int r;

	pages->last = calloc(1, sizeof(*pages->last));
	if (!pages->last || fx_vector_reserve(&pages->notes, 1) < 0)
		return -ENOMEM;
	pages->filling = pages->last;
	r = fx_convert_rest(pages->frontier.exporter);
	if (r < 0)
		return r;
	if (pages->groups.count > 0)
		qsort(pages->groups.items, pages->groups.count, sizeof(*pages->groups.items),
		      pages_compare_groups);
	pages->all = true;
	note.first_ts = 0;
	note.last_ts = UINT64_MAX;
	note.rows = pages->last->rows.count;
	note.page = pages->last;
	pages->last->number = pages->notes.count;
	pages->notes.items[pages->notes.count++] = note;
	return pages->error;
}

/* Goes on at the frontier. */
static int pages_go_on(struct fx_query_pages *pages)
{
	struct fx_timeline *timeline = pages->frontier.exporter->timeline;

	while (pages->thread < timeline->threads.count &&
	       timeline->threads.items[pages->thread]->count == 0)
		pages->thread++;
	return pages->thread < timeline->threads.count ? pages_make_next(pages)
						       : pages_make_last(pages);
}

/* --- Pages again ------------------------------------------------------------------------------ */

/* Hands the events from a note on to a page, with the numbers that they had. */
static int pages_step_again(struct fx_query_pages *pages, struct fx_stepper *stepper,
			    const struct page_note *note, struct fx_query_page *page)
{
	struct fx_timeline *timeline = pages->frontier.exporter->timeline;
	struct fx_thread *thread = timeline->threads.items[note->thread];
	struct fx_sql_tables *tables = &pages->tables;
	int r = fx_stepper_begin(stepper, thread, note->at_start ? NULL : &note->place);

	stepper->ops->enter_thread(stepper->exporter, thread);
	if (r == 0)
		r = fx_flows_seek(pages->flows, note->thread, note->place.index);
	if (r == 0 && fx_vector_reserve(&tables->open, note->place.depth) < 0)
		r = -ENOMEM;
	if (r == 0 && note->place.depth > 0)
		memcpy(tables->open.items, note->open, note->place.depth * sizeof(*note->open));
	tables->open.count = note->place.depth;
	tables->slices = note->numbers.first[FX_QUERY_BY_SLICE];
	tables->sets = note->numbers.first[FX_QUERY_BY_SET];
	pages->numbers = note->numbers;
	pages->filling = page;
	while (r == 0 && page->rows.count < note->rows && (r = fx_stepper_next(stepper)) > 0)
		r = pages->error;
	fx_stepper_end(stepper);
	return r;
}

/* What the frontier stands at is put aside meanwhile; what is left out, and arrows, were counted when they came first. */
static int pages_make_again(struct fx_query_pages *pages, size_t number)
{
	struct fx_timeline *timeline = pages->frontier.exporter->timeline;
	struct fx_query_page *page = pages_make_room(pages);
	struct fx_stepper *stepper = malloc(sizeof(*stepper));
	struct fx_sql_tables *tables = &pages->tables, before = *tables;
	struct page_numbers numbers = pages->numbers;
	bool arrows = tables->database.wants.tables[FX_SQL_FLOW];
	uint64_t misfits[FX_MISFIT_COUNT];
	int r = -ENOMEM;

	memcpy(misfits, timeline->misfits, sizeof(misfits));
	tables->open.items = NULL;
	tables->open.count = tables->open.capacity = 0;
	tables->database.wants.tables[FX_SQL_FLOW] = false;
	if (page && stepper) {
		stepper->exporter = pages->frontier.exporter;
		stepper->flows = pages->flows;
		r = pages_step_again(pages, stepper, &pages->notes.items[number], page);
		if (r == 0)
			pages_keep(pages, page, number);
	}
	fx_vector_free(&tables->open);
	tables->open.items = before.open.items;
	tables->open.count = before.open.count;
	tables->open.capacity = before.open.capacity;
	tables->slices = before.slices;
	tables->sets = before.sets;
	tables->track = before.track;
	tables->database.wants.tables[FX_SQL_FLOW] = arrows;
	pages->numbers = numbers;
	memcpy(timeline->misfits, misfits, sizeof(misfits));
	free(stepper);
	if (r < 0 || pages->all)
		return r;
	return fx_flows_seek(pages->flows, (uint32_t)pages->thread,
			     pages->in_thread ? pages->frontier.walk.index : 0);
}

/* --- Asking ----------------------------------------------------------------------------------- */

int fx_query_pages_take(struct fx_query_pages *pages, size_t number, struct fx_query_page **ret)
{
	int r = 0;

	while (number >= pages->notes.count && !pages->all && r == 0)
		r = pages_go_on(pages);
	if (r < 0 || number >= pages->notes.count)
		return r;
	if (!pages->notes.items[number].page)
		r = pages_make_again(pages, number);
	if (r < 0)
		return r;
	*ret = pages->notes.items[number].page;
	(*ret)->users++;
	(*ret)->used = ++pages->used;
	return 1;
}

void fx_query_pages_put(struct fx_query_page *page)
{
	if (page)
		page->users--;
}

uint32_t fx_query_pages_thread(const struct fx_query_pages *pages, size_t page)
{
	return pages->notes.items[page].thread;
}

bool fx_query_pages_may_have(const struct fx_query_pages *pages, size_t page, uint64_t from,
			     uint64_t to, int64_t track)
{
	const struct page_note *note = &pages->notes.items[page];

	if (track && note->track && note->track != track)
		return false;
	return note->first_ts <= to && note->last_ts >= from;
}

int fx_query_pages_find(struct fx_query_pages *pages, enum fx_query_number by, int64_t number,
			size_t *ret_page)
{
	size_t low = 0, high;
	int r = 0;

	while (!pages->all && pages->numbers.first[by] < number && r == 0)
		r = pages_go_on(pages);
	high = pages->notes.count;
	while (low < high) { /* the first page that begins behind the number */
		size_t middle = low + (high - low) / 2;

		if (pages->notes.items[middle].numbers.first[by] < number)
			low = middle + 1;
		else
			high = middle;
	}
	*ret_page = low > 0 ? low - 1 : 0;
	return r;
}

size_t fx_query_pages_count(const struct fx_query_pages *pages, bool *ret_all)
{
	*ret_all = pages->all;
	return pages->notes.count;
}

const struct fx_query_group *fx_query_pages_groups(const struct fx_query_pages *pages,
						   size_t *ret_count)
{
	*ret_count = pages->groups.count;
	return pages->groups.items;
}

struct fx_timeline *fx_query_pages_timeline(const struct fx_query_pages *pages)
{
	return pages->frontier.exporter->timeline;
}

/* --- Opening ---------------------------------------------------------------------------------- */

/* Whether a table is wanted whose rows are known only behind all events. */
static bool pages_need_all(const struct fx_sql_wants *wants, const struct fx_timeline *timeline)
{
	static const enum fx_sql_table late[] = {FX_SQL_TRACK, FX_SQL_FLOW, FX_SQL_SCHED,
						 FX_SQL_THREAD_STATE, FX_SQL_STATS};

	for (size_t i = 0; i < sizeof(late) / sizeof(*late); i++) {
		if (wants->tables[late[i]])
			return true;
	}
	return wants->tables[FX_SQL_THREAD] && timeline->scheds.count > 0;
}

static int pages_begin(struct fx_query_pages *pages, const struct fx_sql_wants *wants)
{
	struct fx_exporter *exporter = pages->frontier.exporter;
	bool all = pages_need_all(wants, exporter->timeline);
	int r = fx_convert_arrange(exporter->timeline, pages->flows);

	if (r < 0)
		return r;
	fx_convert_names(exporter);
	while (all && !pages->all && r == 0)
		r = pages_go_on(pages);
	fx_sql_tables_finish(exporter);
	return r < 0 ? r : exporter->error;
}

int fx_query_pages_open(sqlite3 *db, const struct fx_sql_wants *wants, struct fx_timeline *timeline,
			struct fx_query_pages **ret)
{
	static const enum fx_sql_table ours[] = {FX_SQL_SLICE, FX_SQL_ARGS, FX_SQL_COUNTER};
	struct fx_query_pages *pages = calloc(1, sizeof(*pages));
	struct fx_sql_wants inserted = *wants;

	*ret = pages;
	if (!pages)
		return -ENOMEM;
	for (size_t i = 0; i < sizeof(ours) / sizeof(*ours); i++)
		inserted.tables[ours[i]] = false;
	fx_sql_tables_init(&pages->tables, &fx_sql_tables_ops, timeline, NULL);
	pages->taker = (struct fx_sql_taker){.args = pages_take_args,
					     .slice = pages_take_slice,
					     .ended = pages_take_ended,
					     .counter = pages_take_count};
	pages->tables.taker = &pages->taker;
	pages->flows = fx_flows_new(timeline);
	pages->frontier.exporter = &pages->tables.exporter;
	pages->frontier.flows = pages->flows;
	fx_sql_tables_begin(&pages->tables, db, &inserted);
	return pages->flows ? pages_begin(pages, wants) : -ENOMEM;
}

void fx_query_pages_close(struct fx_query_pages *pages)
{
	if (!pages)
		return;
	if (pages->in_thread)
		fx_stepper_end(&pages->frontier);
	for (size_t i = 0; i < pages->notes.count; i++)
		pages_forget_start(&pages->notes.items[i]);
	for (size_t i = 0; i < pages->kept.count; i++) {
		fx_vector_free(&pages->kept.items[i]->rows);
		free(pages->kept.items[i]);
	}
	if (pages->last)
		fx_vector_free(&pages->last->rows);
	free(pages->last);
	fx_vector_free(&pages->notes);
	fx_vector_free(&pages->kept);
	fx_vector_free(&pages->groups);
	fx_flows_free(pages->flows);
	fx_sql_tables_release(&pages->tables);
	free(pages);
}
