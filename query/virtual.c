/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "query/cursor.h"
#include "query/values.h"
#include "query/virtual.h"

/* What a constraint on a column, or two, is good for. */
enum {
	USE_ID = 'i', /* as an equal one */
	USE_FROM_ID = 'a',
	USE_TO_ID = 'z',
	USE_TIME = 'e',
	USE_FROM = 'g',
	USE_TO = 'l',
	USE_TRACK = 't',
	USE_PARENT = 'p',
	USE_SET = 's',
	USE_NAME = 'n',
};

struct virtual_column {
	int column;
	char equal, lower, upper; /* 0: none */
};

static const struct virtual_column virtual_slice_columns[] = {
    {-1, USE_ID, USE_FROM_ID, USE_TO_ID},
    {0, USE_ID, USE_FROM_ID, USE_TO_ID},
    {9, USE_ID, USE_FROM_ID, USE_TO_ID},
    {1, USE_TIME, USE_FROM, USE_TO},
    {3, USE_TRACK, 0, 0},
    {5, USE_NAME, 0, 0},
    {7, USE_PARENT, 0, 0},
    {8, USE_SET, 0, 0},
};
static const struct virtual_column virtual_counter_columns[] = {
    {-1, USE_ID, USE_FROM_ID, USE_TO_ID},
    {0, USE_ID, USE_FROM_ID, USE_TO_ID},
    {1, USE_TIME, USE_FROM, USE_TO},
    {2, USE_TRACK, 0, 0},
};
static const struct virtual_column virtual_args_columns[] = {
    {1, USE_SET, 0, 0},
    {2, USE_NAME, 0, 0},
    {3, USE_NAME, 0, 0},
};

static const struct virtual_kind {
	enum fx_sql_table table;
	enum fx_query_of of;
	fx_query_show *show;
	const struct virtual_column *columns;
	size_t column_count;
} virtual_kinds[] = {
    {FX_SQL_SLICE, FX_QUERY_OF_SLICES, fx_query_show_slice, virtual_slice_columns,
     sizeof(virtual_slice_columns) / sizeof(struct virtual_column)},
    {FX_SQL_COUNTER, FX_QUERY_OF_COUNTS, fx_query_show_count, virtual_counter_columns,
     sizeof(virtual_counter_columns) / sizeof(struct virtual_column)},
    {FX_SQL_ARGS, FX_QUERY_OF_ARGS, fx_query_show_arg, virtual_args_columns,
     sizeof(virtual_args_columns) / sizeof(struct virtual_column)},
};

const bool fx_query_virtual_tables[FX_SQL_TABLE_COUNT] = {
    [FX_SQL_SLICE] = true, [FX_SQL_COUNTER] = true, [FX_SQL_ARGS] = true};

struct virtual_table {
	sqlite3_vtab base;
	const struct virtual_kind *kind;
	struct fx_query_source *source;
};

struct virtual_cursor {
	sqlite3_vtab_cursor base;
	const struct virtual_kind *kind;
	struct fx_query_cursor cursor;
	struct fx_query_filter filter;
	char *name; /* that the filter has */
	size_t name_room;
};

/* --- The plan --------------------------------------------------------------------------------- */

enum { USES_MAX = 8, ROWS_UNKNOWN = 1000000 };

/* What is expected of a plan. */
struct virtual_plan {
	char uses[USES_MAX + 1];
	int count;
	double rows;
	double cost; /* of a row of a full table */
};

static char virtual_use_of(const struct virtual_column *column, unsigned char op)
{
	switch (op) {
	case SQLITE_INDEX_CONSTRAINT_EQ:
		return column->equal;
	case SQLITE_INDEX_CONSTRAINT_GT:
	case SQLITE_INDEX_CONSTRAINT_GE:
		return column->lower;
	case SQLITE_INDEX_CONSTRAINT_LT:
	case SQLITE_INDEX_CONSTRAINT_LE:
		return column->upper;
	default:
		return 0;
	}
}

static char virtual_find_use(const struct virtual_kind *kind, sqlite3_index_info *info, int i)
{
	for (size_t k = 0; k < kind->column_count; k++) {
		if (kind->columns[k].column == info->aConstraint[i].iColumn)
			return virtual_use_of(&kind->columns[k], info->aConstraint[i].op);
	}
	return 0;
}

static double virtual_least(double a, double b)
{
	return a < b ? a : b;
}

/* How many rows are left, and what it takes to find them: a page that was dropped has to be made again. */
static void virtual_expect(struct virtual_plan *plan, char use)
{
	switch (use) {
	case USE_ID:
	case USE_SET:
		plan->rows = virtual_least(plan->rows, use == USE_ID ? 1 : 4);
		plan->cost = virtual_least(plan->cost, 30);
		break;
	case USE_PARENT:
		plan->rows = virtual_least(plan->rows, 10);
		plan->cost = virtual_least(plan->cost, 100);
		break;
	case USE_TIME:
		plan->rows /= 1000;
		plan->cost /= 100;
		break;
	case USE_TRACK:
		plan->rows /= 10;
		plan->cost /= 10;
		break;
	case USE_NAME:
		plan->rows /= 50;
		plan->cost /= 4;
		break;
	default:
		plan->rows /= 4;
		plan->cost /= 4;
		break;
	}
}

static double virtual_rows(const struct virtual_table *table)
{
	const struct fx_timeline *timeline;
	double rows = 0;

	if (!table->source->pages)
		return ROWS_UNKNOWN;
	timeline = fx_query_pages_timeline(table->source->pages);
	for (size_t i = 0; i < timeline->threads.count; i++)
		rows += (double)timeline->threads.items[i]->count;
	return rows + (double)timeline->asyncs.count + 1;
}

/* Rows stand in order of their numbers, but those that are looked for by name may stand in order of time. */
static void virtual_note_order(const struct virtual_kind *kind, const struct virtual_plan *plan,
			       sqlite3_index_info *info)
{
	if (!strchr(plan->uses, USE_NAME) && info->nOrderBy == 1 &&
	    info->aOrderBy[0].iColumn <= 0 && !info->aOrderBy[0].desc &&
	    kind->of != FX_QUERY_OF_ARGS)
		info->orderByConsumed = 1;
}

static int virtual_best_index(sqlite3_vtab *base, sqlite3_index_info *info)
{
	struct virtual_table *table = (struct virtual_table *)base;
	struct virtual_plan plan = {.rows = virtual_rows(table)};

	plan.cost = plan.rows * 2;
	for (int i = 0; i < info->nConstraint && plan.count < USES_MAX; i++) {
		char use = info->aConstraint[i].usable ? virtual_find_use(table->kind, info, i) : 0;

		if (!use || strchr(plan.uses, use))
			continue;
		if (use == USE_NAME && strcmp(sqlite3_vtab_collation(info, i), "BINARY") != 0)
			continue;
		plan.uses[plan.count++] = use;
		info->aConstraintUsage[i].argvIndex = plan.count;
		virtual_expect(&plan, use);
	}
	virtual_note_order(table->kind, &plan, info);
	info->estimatedCost = plan.cost < 1 ? 1 : plan.cost;
	info->estimatedRows = plan.rows < 1 ? 1 : (sqlite3_int64)plan.rows;
	info->idxStr = sqlite3_mprintf("%s", plan.uses);
	info->needToFreeIdxStr = 1;
	return info->idxStr ? SQLITE_OK : SQLITE_NOMEM;
}

/* --- The filter ------------------------------------------------------------------------------- */

/* A value that a column of integers can be equal to; false: it is none. */
static bool virtual_integer(sqlite3_value *value, int64_t *ret)
{
	double real;

	switch (sqlite3_value_numeric_type(value)) {
	case SQLITE_INTEGER:
		*ret = sqlite3_value_int64(value);
		return true;
	case SQLITE_FLOAT:
		real = sqlite3_value_double(value);
		if (!(real >= -9e18 && real <= 9e18) || real != (double)(int64_t)real)
			return false;
		*ret = (int64_t)real;
		return true;
	default:
		return false;
	}
}

static void virtual_filter_equal(struct fx_query_filter *filter, char use, int64_t number)
{
	switch (use) {
	case USE_ID:
		filter->first_id = filter->last_id = number;
		break;
	case USE_TIME:
		filter->from = filter->to = (uint64_t)number;
		break;
	case USE_TRACK:
		filter->track = number;
		break;
	case USE_PARENT:
		filter->parent = number;
		break;
	case USE_SET:
		filter->set = number;
		break;
	default:
		break;
	}
	filter->none |= number < 0 || (number == 0 && use != USE_TIME);
}

/* Limits that are no integers do not limit; sqlite looks at the rows. */
static void virtual_filter_limit(struct fx_query_filter *filter, char use, sqlite3_value *value)
{
	int64_t number;

	if (sqlite3_value_type(value) != SQLITE_INTEGER)
		return;
	number = sqlite3_value_int64(value);
	if (use == USE_FROM_ID)
		filter->first_id = number;
	else if (use == USE_TO_ID)
		filter->last_id = number;
	else if (use == USE_FROM)
		filter->from = number > 0 ? (uint64_t)number : 0;
	else if (number >= 0)
		filter->to = (uint64_t)number;
	else
		filter->none = true;
}

/* The cursor may outlive the value. */
static int virtual_filter_name(struct virtual_cursor *cursor, sqlite3_value *value)
{
	size_t length;

	if (sqlite3_value_type(value) == SQLITE_NULL)
		cursor->filter.none = true;
	if (sqlite3_value_type(value) != SQLITE_TEXT)
		return SQLITE_OK;
	length = (size_t)sqlite3_value_bytes(value);
	if (length + 1 > cursor->name_room) {
		char *name = realloc(cursor->name, length + 1);

		if (!name)
			return SQLITE_NOMEM;
		cursor->name = name;
		cursor->name_room = length + 1;
	}
	memcpy(cursor->name, sqlite3_value_text(value), length);
	cursor->filter.name = cursor->name;
	cursor->filter.name_length = length;
	return SQLITE_OK;
}

static int virtual_filter_use(struct virtual_cursor *cursor, char use, sqlite3_value *value)
{
	int64_t number;

	switch (use) {
	case USE_NAME:
		return virtual_filter_name(cursor, value);
	case USE_ID:
	case USE_TIME:
	case USE_TRACK:
	case USE_PARENT:
	case USE_SET:
		if (virtual_integer(value, &number))
			virtual_filter_equal(&cursor->filter, use, number);
		else
			cursor->filter.none = true;
		return SQLITE_OK;
	default:
		virtual_filter_limit(&cursor->filter, use, value);
		return SQLITE_OK;
	}
}

/* --- The calls of sqlite ---------------------------------------------------------------------- */

static int virtual_code(int error)
{
	if (error == 0)
		return SQLITE_OK;
	return error == -ENOMEM ? SQLITE_NOMEM : SQLITE_IOERR;
}

/* The columns, which are none of those that sqlite makes itself: " AS (...)" is left away. */
static char *virtual_declaration(enum fx_sql_table table)
{
	char *text = sqlite3_mprintf("CREATE TABLE x(%s)", fx_sql_table_columns(table));
	char *out = text, *at = text;

	while (at && *at) {
		int open = 0;

		if (strncmp(at, " AS (", strlen(" AS (")) == 0) {
			at += strlen(" AS");
			do {
				at++;
				open += (*at == '(') - (*at == ')');
			} while (open > 0);
			at++;
			continue;
		}
		*out++ = *at++;
	}
	if (out)
		*out = '\0';
	return text;
}

struct virtual_module {
	const struct virtual_kind *kind;
	struct fx_query_source *source;
};

static int virtual_connect(sqlite3 *db, void *opaque, int argc, const char *const *argv,
			   sqlite3_vtab **ret, char **ret_error)
{
	const struct virtual_module *module = opaque;
	struct virtual_table *table;
	char *columns = virtual_declaration(module->kind->table);
	int r = columns ? sqlite3_declare_vtab(db, columns) : SQLITE_NOMEM;

	(void)argc, (void)argv, (void)ret_error;
	sqlite3_free(columns);
	if (r == SQLITE_OK)
		r = sqlite3_vtab_config(db, SQLITE_VTAB_INNOCUOUS);
	if (r != SQLITE_OK)
		return r;
	table = sqlite3_malloc(sizeof(*table));
	if (!table)
		return SQLITE_NOMEM;
	*table = (struct virtual_table){.kind = module->kind, .source = module->source};
	*ret = &table->base;
	return SQLITE_OK;
}

static int virtual_disconnect(sqlite3_vtab *base)
{
	sqlite3_free(base);
	return SQLITE_OK;
}

static int virtual_open(sqlite3_vtab *base, sqlite3_vtab_cursor **ret)
{
	struct virtual_table *table = (struct virtual_table *)base;
	struct virtual_cursor *cursor = calloc(1, sizeof(*cursor));

	if (!cursor)
		return SQLITE_NOMEM;
	cursor->kind = table->kind;
	cursor->cursor.source = table->source;
	cursor->cursor.pages = table->source->pages;
	cursor->cursor.of = table->kind->of;
	*ret = &cursor->base;
	return SQLITE_OK;
}

static int virtual_close(sqlite3_vtab_cursor *base)
{
	struct virtual_cursor *cursor = (struct virtual_cursor *)base;

	fx_query_cursor_stop(&cursor->cursor);
	free(cursor->name);
	free(cursor);
	return SQLITE_OK;
}

static int virtual_filter(sqlite3_vtab_cursor *base, int number, const char *uses, int count,
			  sqlite3_value **values)
{
	struct virtual_cursor *cursor = (struct virtual_cursor *)base;

	(void)number;
	cursor->filter = FX_QUERY_ALL;
	for (int i = 0; i < count; i++) {
		int r = virtual_filter_use(cursor, uses[i], values[i]);

		if (r != SQLITE_OK)
			return r;
	}
	return virtual_code(fx_query_cursor_start(&cursor->cursor, &cursor->filter));
}

static int virtual_next(sqlite3_vtab_cursor *base)
{
	return virtual_code(fx_query_cursor_next(&((struct virtual_cursor *)base)->cursor));
}

static int virtual_eof(sqlite3_vtab_cursor *base)
{
	return ((struct virtual_cursor *)base)->cursor.at_end;
}

static int virtual_column(sqlite3_vtab_cursor *base, sqlite3_context *context, int column)
{
	struct virtual_cursor *cursor = (struct virtual_cursor *)base;

	return cursor->kind->show(&cursor->cursor, context, column);
}

static int virtual_rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *ret)
{
	const struct fx_query_cursor *cursor = &((struct virtual_cursor *)base)->cursor;

	*ret = cursor->of == FX_QUERY_OF_ARGS ? cursor->first_arg + cursor->next_arg - 1
					      : cursor->row->id;
	return SQLITE_OK;
}

/* Never called, since no statement may write (rules.h), which is to be said of these tables as of all others. */
static int virtual_update(sqlite3_vtab *base, int count, sqlite3_value **values, sqlite3_int64 *ret)
{
	(void)base, (void)count, (void)values, (void)ret;
	return SQLITE_READONLY;
}

static const sqlite3_module virtual_calls = {
    .xCreate = virtual_connect,
    .xConnect = virtual_connect,
    .xBestIndex = virtual_best_index,
    .xDisconnect = virtual_disconnect,
    .xDestroy = virtual_disconnect,
    .xOpen = virtual_open,
    .xClose = virtual_close,
    .xFilter = virtual_filter,
    .xNext = virtual_next,
    .xEof = virtual_eof,
    .xColumn = virtual_column,
    .xRowid = virtual_rowid,
    .xUpdate = virtual_update,
};

static int virtual_make_one(sqlite3 *db, const struct virtual_kind *kind,
			    struct fx_query_source *source)
{
	const char *name = fx_sql_table_name(kind->table);
	struct virtual_module *module = malloc(sizeof(*module));
	char *of = sqlite3_mprintf("fxtrace_%s", name);
	char *sql = sqlite3_mprintf("CREATE VIRTUAL TABLE \"%w\" USING fxtrace_%s", name, name);
	int r = SQLITE_NOMEM;

	if (module && of && sql) {
		*module = (struct virtual_module){kind, source};
		r = sqlite3_create_module_v2(db, of, &virtual_calls, module, free);
		module = NULL;
	}
	if (r == SQLITE_OK)
		r = sqlite3_exec(db, sql, NULL, NULL, NULL);
	free(module);
	sqlite3_free(of);
	sqlite3_free(sql);
	return fx_sql_errno(db, r);
}

int fx_query_virtual_make(sqlite3 *db, struct fx_query_source *source)
{
	int r = 0;

	for (size_t i = 0; i < sizeof(virtual_kinds) / sizeof(*virtual_kinds) && r == 0; i++)
		r = virtual_make_one(db, &virtual_kinds[i], source);
	return r;
}
