/* SPDX-License-Identifier: MIT */
/* Values of rows, as the server takes them. */
#include "config.h"

#include <errno.h>
#include <string.h>

#include "convert/utf8.h"
#include "load/rows-state.h"

static void rows_put_bytes(struct fx_load_rows *rows, fx_load_bytes *bytes, const char *text,
			   size_t length)
{
	if (length == 0 || fx_utf8_is_clean(text, length)) {
		fx_load_put_text(bytes, text, length);
		return;
	}
	rows->clean.count = 0;
	if (fx_vector_reserve(&rows->clean, FX_UTF8_CLEAN_MAX(length)) < 0) {
		fx_load_row_fail(rows, -ENOMEM);
		return;
	}
	length = fx_utf8_clean(text, length, rows->clean.items);
	fx_load_put_text(bytes, rows->clean.items, length);
}

void fx_load_row_put_string(struct fx_load_rows *rows, fx_load_bytes *bytes,
			    const struct fxt_string *string)
{
	if (!string)
		fx_load_put_text(bytes, "", 0);
	else if (string->serial)
		fx_load_put_text(bytes, string->data, string->length);
	else
		rows_put_bytes(rows, bytes, string->data, string->length);
}

void fx_load_row_put_some(fx_load_bytes *bytes, int64_t number)
{
	fx_load_put_8(bytes, number == 0);
	if (number)
		fx_load_put_64(bytes, (uint64_t)number);
}

void fx_load_row_put_value(struct fx_load_rows *rows, fx_load_bytes *row,
			   const struct fx_sql_value *value)
{
	bool is_text = value->text, is_int = !is_text && value->is_int;

	fx_load_put_8(row, !is_int);
	if (is_int)
		fx_load_put_64(row, (uint64_t)value->number);
	fx_load_put_8(row, !is_text);
	if (is_text)
		fx_load_row_put_string(rows, row, value->text);
	fx_load_put_8(row, is_text || is_int);
	if (!is_text && !is_int)
		fx_load_put_real(row, value->real);
	fx_load_put_text(row, value->type, strlen(value->type));
}
