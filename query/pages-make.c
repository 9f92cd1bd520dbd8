/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "query/pages-internal.h"

enum {
	PAGE_ROWS =
	    1024, /* of the first pages; of later ones, so that there are not too many, more */
	PAGES_ALIKE = 8192, /* pages of one size, before it is doubled */
	PAGE_DOUBLINGS = 4,
	PAGES_KEPT = 32,
	PAGE_ROW_MEMORY = 65536, /* bytes of the timeline's for each row of a page */
};

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
static int pages_note_start(struct fx_query_pages *pages, struct fx_pages_note *ret)
{
	const struct fx_sql_tables *tables = &pages->tables;
	size_t open = tables->open.count;

	*ret = (struct fx_pages_note){.thread = (uint32_t)pages->thread, .numbers = pages->numbers};
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

void fx_pages_forget_start(struct fx_pages_note *note)
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

static void pages_note_rows(struct fx_pages_note *note, const struct fx_query_page *page)
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
	struct fx_pages_note note = {0};
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
		fx_pages_forget_start(&note);
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
	struct fx_pages_note note = {.thread = UINT32_MAX, .numbers = pages->numbers};
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
int fx_pages_go_on(struct fx_query_pages *pages)
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
			    const struct fx_pages_note *note, struct fx_query_page *page)
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
int fx_pages_make_again(struct fx_query_pages *pages, size_t number)
{
	struct fx_timeline *timeline = pages->frontier.exporter->timeline;
	struct fx_query_page *page = pages_make_room(pages);
	struct fx_stepper *stepper = malloc(sizeof(*stepper));
	struct fx_sql_tables *tables = &pages->tables, before = *tables;
	struct fx_pages_numbers numbers = pages->numbers;
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
