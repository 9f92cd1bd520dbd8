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
	for (size_t i = 0; i < event->link_count; i++)
		arrows->links.items[arrows->links.count++] = (struct fx_flow_end){
		    event->links[i].chain, event->ts, event->links[i].role, (uint64_t)slice};
}

void fx_sql_arrows_end(struct fx_sql_arrows *arrows, struct fx_sql_database *database)
{
	const struct fx_flow_end *items = arrows->links.items;

	if (arrows->links.count == 0)
		return;
	qsort(arrows->links.items, arrows->links.count, sizeof(*items), fx_flow_ends_compare);
	for (size_t i = 1; i < arrows->links.count; i++) {
		sqlite3_stmt *row;

		if (items[i].chain != items[i - 1].chain)
			continue;
		row = fx_sql_row(database, FX_SQL_FLOW);
		if (!row)
			return;
		sqlite3_bind_int64(row, 2, (int64_t)items[i - 1].slice);
		sqlite3_bind_int64(row, 3, (int64_t)items[i].slice);
		sqlite3_bind_int64(row, 4, (int64_t)items[i].chain);
		fx_sql_insert(database, row);
	}
}

void fx_sql_arrows_release(struct fx_sql_arrows *arrows)
{
	fx_vector_free(&arrows->links);
}
