/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "convert/utf8.h"
#include "query/values.h"

/* A number that counts from 1; 0 is NULL. */
static void values_number(sqlite3_context *context, int64_t number)
{
	if (number)
		sqlite3_result_int64(context, number);
}

static void values_text(const struct fx_query_cursor *cursor, sqlite3_context *context, uint32_t id)
{
	const struct fx_text *text;

	if (id == 0)
		return;
	text = fx_texts_get(fx_query_pages_timeline(cursor->pages)->strings, id);
	if (text->length > 0)
		sqlite3_result_text(context, text->data, (int)text->length, SQLITE_STATIC);
}

/* As UTF-8 without zeros. */
static void values_string(sqlite3_context *context, const struct fxt_string *string)
{
	char *clean;
	size_t length;

	if (string->serial || fx_utf8_is_clean(string->data, string->length)) {
		sqlite3_result_text(context, string->data, (int)string->length,
				    string->serial ? SQLITE_STATIC : SQLITE_TRANSIENT);
		return;
	}
	clean = malloc(FX_UTF8_CLEAN_MAX(string->length));
	if (!clean) {
		sqlite3_result_error_nomem(context);
		return;
	}
	length = fx_utf8_clean(string->data, string->length, clean);
	sqlite3_result_text(context, clean, (int)length, free);
}

static int values_message(struct fx_query_cursor *cursor, sqlite3_context *context)
{
	const struct fxt_string *message;

	if (fx_query_cursor_message(cursor, &message) < 0)
		return SQLITE_NOMEM;
	values_string(context, message);
	return SQLITE_OK;
}

int fx_query_show_slice(struct fx_query_cursor *cursor, sqlite3_context *context, int column)
{
	const struct fx_query_row *row = cursor->row;

	switch (column) {
	case 0:
	case 9:
		sqlite3_result_int64(context, row->id);
		break;
	case 1:
		sqlite3_result_int64(context, (int64_t)row->ts);
		break;
	case 2:
		sqlite3_result_int64(context, row->length);
		break;
	case 3:
		sqlite3_result_int64(context, row->track);
		break;
	case 4:
	case 10:
		values_text(cursor, context, row->category);
		break;
	case 5:
		if (row->kind == FX_QUERY_MESSAGE)
			return values_message(cursor, context);
		values_text(cursor, context, row->name);
		break;
	case 6:
		sqlite3_result_int64(context, row->depth);
		break;
	case 7:
		values_number(context, row->parent);
		break;
	case 8:
		values_number(context, row->set);
		break;
	default:
		break;
	}
	return SQLITE_OK;
}

int fx_query_show_count(struct fx_query_cursor *cursor, sqlite3_context *context, int column)
{
	const struct fx_query_row *row = cursor->row;

	switch (column) {
	case 0:
		sqlite3_result_int64(context, row->id);
		break;
	case 1:
		sqlite3_result_int64(context, (int64_t)row->ts);
		break;
	case 2:
		sqlite3_result_int64(context, row->track);
		break;
	case 3:
		sqlite3_result_double(context, row->value);
		break;
	default:
		break;
	}
	return SQLITE_OK;
}

/* A value as text, as the table of a converted archive has it. */
static void values_display(sqlite3_context *context, const struct fx_sql_value *value)
{
	const char *type = value->type;
	char *text = NULL;

	if (value->text) {
		values_string(context, value->text);
		return;
	}
	if (!value->is_int && value->real != value->real)
		return;
	if (!value->is_int)
		text = sqlite3_mprintf("%!.15g", value->real);
	else if (strcmp(type, "bool") == 0)
		text = sqlite3_mprintf("%s", value->number ? "true" : "false");
	else if (strcmp(type, "pointer") == 0)
		text = sqlite3_mprintf("0x%llx", value->number);
	else
		text = sqlite3_mprintf(strcmp(type, "uint") == 0 ? "%llu" : "%lld", value->number);
	if (text)
		sqlite3_result_text(context, text, -1, sqlite3_free);
	else
		sqlite3_result_error_nomem(context);
}

int fx_query_show_arg(struct fx_query_cursor *cursor, sqlite3_context *context, int column)
{
	const struct fx_sql_value *value = &cursor->arg.value;

	switch (column) {
	case 0:
		sqlite3_result_int64(context, cursor->first_arg + cursor->next_arg - 1);
		break;
	case 1:
		sqlite3_result_int64(context, cursor->set);
		break;
	case 2:
	case 3:
		if (cursor->arg.key->length > 0)
			values_string(context, cursor->arg.key);
		break;
	case 4:
		if (!value->text && value->is_int)
			sqlite3_result_int64(context, value->number);
		break;
	case 5:
		if (value->text)
			values_string(context, value->text);
		break;
	case 6:
		if (!value->text && !value->is_int)
			sqlite3_result_double(context, value->real);
		break;
	case 7:
		sqlite3_result_text(context, value->type, -1, SQLITE_STATIC);
		break;
	case 8:
		values_display(context, value);
		break;
	default:
		break;
	}
	return SQLITE_OK;
}
