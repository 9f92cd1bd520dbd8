/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <errno.h>
#include <stdlib.h>

#include "query/pages-internal.h"

/* --- Asking ----------------------------------------------------------------------------------- */

int fx_query_pages_take(struct fx_query_pages *pages, size_t number, struct fx_query_page **ret)
{
	int r = 0;

	while (number >= pages->notes.count && !pages->all && r == 0)
		r = fx_pages_go_on(pages);
	if (r < 0 || number >= pages->notes.count)
		return r;
	if (!pages->notes.items[number].page)
		r = fx_pages_make_again(pages, number);
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
	const struct fx_pages_note *note = &pages->notes.items[page];

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
		r = fx_pages_go_on(pages);
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
		r = fx_pages_go_on(pages);
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
	fx_pages_take_rows(pages);
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
		fx_pages_forget_start(&pages->notes.items[i]);
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
