/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <errno.h>
#include <stdlib.h>

#include "convert/sqlite/arrows.h"

void fx_sql_arrows_note(struct fx_sql_arrows *arrows, struct fx_sql_database *database,
			int64_t slice, const struct fx_event *event)
{
	if (event->link_count == 0 || !database->wants.tables[FX_SQL_FLOW])
		return;
	if (fx_vector_reserve(&arrows->links, event->link_count) < 0) {
		database->error = -ENOMEM;
		return;
	}
	for (size_t i = 0; i < event->link_count; i++) {
		const struct fx_flow_link *link = &event->links[i];

		arrows->links.items[arrows->links.count++] =
		    (struct fx_sql_arrow_end){{link->chain, event->ts, link->role, (uint64_t)slice},
					      link->category,
					      link->name};
	}
}

static void sql_arrows_bind(sqlite3_stmt *row, int column, const struct fx_texts *strings,
			    uint32_t text)
{
	fx_sql_bind_text(row, column, text ? fx_texts_get(strings, text) : NULL);
}

void fx_sql_arrows_end(struct fx_sql_arrows *arrows, struct fx_sql_database *database,
		       const struct fx_texts *strings)
{
	const struct fx_sql_arrow_end *items = arrows->links.items;

	if (arrows->links.count == 0)
		return;
	qsort(arrows->links.items, arrows->links.count, sizeof(*items), fx_flow_ends_compare);
	for (size_t i = 1; i < arrows->links.count; i++) {
		const struct fx_flow_end *from = &items[i - 1].end, *to = &items[i].end;
		sqlite3_stmt *row;

		if (to->chain != from->chain)
			continue;
		row = fx_sql_row(database, FX_SQL_FLOW);
		if (!row)
			return;
		sqlite3_bind_int64(row, 2, (int64_t)from->slice);
		sqlite3_bind_int64(row, 3, (int64_t)to->slice);
		sqlite3_bind_int64(row, 4, (int64_t)to->chain);
		sql_arrows_bind(row, 5, strings, items[i].category);
		sql_arrows_bind(row, 6, strings, items[i].name);
		fx_sql_insert(database, row);
	}
}

void fx_sql_arrows_release(struct fx_sql_arrows *arrows)
{
	fx_vector_free(&arrows->links);
}
