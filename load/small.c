/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "load/small.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "convert/sqlite/database.h"

enum small_type { SMALL_64, SMALL_8, SMALL_TEXT };

enum { SMALL_COLUMNS_MAX = 32 };

struct small_column {
	enum small_type type;
	bool may_be_null;
};

int fx_small_open(sqlite3 **ret)
{
	int r = sqlite3_open_v2("", ret, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL);

	if (r == SQLITE_OK)
		r = sqlite3_exec(*ret,
				 "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;"
				 "PRAGMA cache_size = -16384",
				 NULL, NULL, NULL);
	return r == SQLITE_OK ? fx_sql_make_tables(*ret, NULL) : fx_sql_errno(*ret, r);
}

/* What the schema says of columns: "name Type, name Nullable(Type), ..." */
static size_t small_parse(const char *columns, struct small_column *ret)
{
	static const char null[] = "Nullable(";
	size_t count = 0;

	while (*columns && count < SMALL_COLUMNS_MAX) {
		const char *type = columns + strcspn(columns, " ") + 1;

		ret[count].may_be_null = strncmp(type, null, strlen(null)) == 0;
		if (ret[count].may_be_null)
			type += strlen(null);
		ret[count].type = *type == 'I' ? SMALL_64 : *type == 'U' ? SMALL_8 : SMALL_TEXT;
		count++;
		columns = type + strcspn(type, ",");
		columns += strspn(columns, ", ");
	}
	return count;
}

static void small_put(fx_load_bytes *row, const struct small_column *column, sqlite3_stmt *from,
		      int at)
{
	bool is_null = sqlite3_column_type(from, at) == SQLITE_NULL;
	const char *text;

	if (column->may_be_null) {
		fx_load_put_8(row, is_null);
		if (is_null)
			return;
	}
	switch (column->type) {
	case SMALL_64:
		fx_load_put_64(row, (uint64_t)sqlite3_column_int64(from, at));
		break;
	case SMALL_8:
		fx_load_put_8(row, (uint8_t)sqlite3_column_int(from, at));
		break;
	case SMALL_TEXT:
		text = (const char *)sqlite3_column_text(from, at);
		fx_load_put_text(row, text ? text : "", (size_t)sqlite3_column_bytes(from, at));
		break;
	}
}

static int small_send_table(sqlite3 *db, struct fx_batches *batches, enum fx_load_table table)
{
	struct small_column columns[SMALL_COLUMNS_MAX];
	size_t count = small_parse(fx_load_table_columns(table), columns);
	sqlite3_stmt *from = NULL;
	int r = sqlite3_prepare_v2(db, fx_load_table_source(table), -1, &from, NULL);

	while (r == SQLITE_OK && fx_batches_error(batches) == 0 &&
	       (r = sqlite3_step(from)) == SQLITE_ROW) {
		for (size_t i = 0; i < count; i++)
			small_put(fx_batches_row(batches, table), &columns[i], from, (int)i);
		fx_batches_done(batches, table);
		r = SQLITE_OK;
	}
	r = fx_sql_errno(db, r);
	sqlite3_finalize(from);
	return r;
}

int fx_small_send(sqlite3 *db, struct fx_batches *batches)
{
	int r = 0;

	for (size_t i = 0; i < FX_LOAD_TABLE_COUNT && r == 0; i++) {
		if (fx_load_table_source(i))
			r = small_send_table(db, batches, i);
	}
	return r < 0 ? r : fx_batches_error(batches);
}
