/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "convert/json-text.h"
#include "convert/utf8.h"
#include "lists/vector.h"
#include "query/output.h"

enum {
	QUERY_GAP = 2,		/* between columns */
	QUERY_WIDEST = 60,	/* columns of text are no wider, what is longer reaches beyond */
	QUERY_LOOKED_AT = 1000, /* rows, from which the widths are taken */
	QUERY_NUMBER_MAX = 48,
};

/* --- Values ----------------------------------------------------------------------------------- */

struct query_writer {
	sqlite3_stmt *statement;
	struct fx_sink *sink;
	int columns;
	bool no_memory;
	/* Text: cells whose widths are not known yet, each with a zero behind it. */
	FX_VECTOR(char) cells;
	size_t *widths;
	bool *is_text;
	size_t rows;
	FX_VECTOR(char) scratch;
};

static void query_put(struct query_writer *writer, const char *data, size_t length)
{
	fx_sink_write(writer->sink, data, length);
}

static void query_put_string(struct query_writer *writer, const char *text)
{
	fx_json_raw(writer->sink, text);
}

/* The same number, in as few digits as tell it. */
static void query_format_real(double value, char text[QUERY_NUMBER_MAX])
{
	for (int digits = 15; digits <= 17; digits++) {
		snprintf(text, QUERY_NUMBER_MAX, "%.*g", digits, value);
		if (strtod(text, NULL) == value)
			break;
	}
	if (isfinite(value) && !strpbrk(text, ".e"))
		strcat(text, ".0");
}

/* A value that is no text and no blob; NULL is empty. */
static const char *query_number(sqlite3_stmt *statement, int column, char text[QUERY_NUMBER_MAX])
{
	text[0] = '\0';
	if (sqlite3_column_type(statement, column) == SQLITE_INTEGER)
		snprintf(text, QUERY_NUMBER_MAX, "%lld",
			 (long long)sqlite3_column_int64(statement, column));
	else if (sqlite3_column_type(statement, column) == SQLITE_FLOAT)
		query_format_real(sqlite3_column_double(statement, column), text);
	return text;
}

static char *query_scratch(struct query_writer *writer, size_t size)
{
	writer->scratch.count = 0;
	if (fx_vector_reserve(&writer->scratch, size + 1) < 0) {
		writer->no_memory = true;
		return NULL;
	}
	return writer->scratch.items;
}

/* The bytes of a text, or of a blob as hexadecimal digits. */
static const char *query_bytes(struct query_writer *writer, int column, size_t *ret_length)
{
	static const char digits[] = "0123456789abcdef";
	bool blob = sqlite3_column_type(writer->statement, column) == SQLITE_BLOB;
	const unsigned char *data = blob ? sqlite3_column_blob(writer->statement, column)
					 : sqlite3_column_text(writer->statement, column);
	size_t length = (size_t)sqlite3_column_bytes(writer->statement, column);
	char *hex;

	*ret_length = 0;
	if (!data)
		return "";
	*ret_length = length;
	if (!blob)
		return (const char *)data;
	hex = query_scratch(writer, 2 * length);
	if (!hex)
		return "";
	for (size_t i = 0; i < length; i++) {
		hex[2 * i] = digits[data[i] >> 4];
		hex[2 * i + 1] = digits[data[i] & 15];
	}
	*ret_length = 2 * length;
	return hex;
}

static bool query_is_bytes(const struct query_writer *writer, int column)
{
	int type = sqlite3_column_type(writer->statement, column);

	return type == SQLITE_TEXT || type == SQLITE_BLOB;
}

/* NULL only without memory. */
static const char *query_column_name(struct query_writer *writer, int column)
{
	const char *name = sqlite3_column_name(writer->statement, column);

	if (!name)
		writer->no_memory = true;
	return name ? name : "";
}

/* --- JSON: an array of objects ---------------------------------------------------------------- */

/* Of columns of one name, the later ones get their number behind it. */
static void query_put_key(struct query_writer *writer, int column)
{
	const char *name = query_column_name(writer, column);
	char *text;
	int before = 0;

	for (int i = 0; i < column; i++)
		before += strcmp(query_column_name(writer, i), name) == 0;
	text = before ? sqlite3_mprintf("%s:%d", name, before) : sqlite3_mprintf("%s", name);
	if (text)
		fx_json_string(writer->sink, text, strlen(text));
	else
		writer->no_memory = true;
	sqlite3_free(text);
}

static void query_json_value(struct query_writer *writer, int column)
{
	char number[QUERY_NUMBER_MAX];
	const char *text;
	size_t length;

	if (query_is_bytes(writer, column)) {
		text = query_bytes(writer, column, &length);
		fx_json_string(writer->sink, text, length);
		return;
	}
	text = query_number(writer->statement, column, number);
	if (sqlite3_column_type(writer->statement, column) == SQLITE_FLOAT &&
	    !isfinite(sqlite3_column_double(writer->statement, column)))
		text = "";
	query_put_string(writer, *text ? text : "null");
}

static void query_json_row(struct query_writer *writer)
{
	query_put_string(writer, writer->rows > 0 ? ",\n{" : "\n{");
	for (int i = 0; i < writer->columns; i++) {
		if (i > 0)
			query_put_string(writer, ",");
		query_put_key(writer, i);
		query_put_string(writer, ":");
		query_json_value(writer, i);
	}
	query_put_string(writer, "}");
}

/* --- CSV (RFC 4180) --------------------------------------------------------------------------- */

static void query_csv_text(struct query_writer *writer, const char *text, size_t length)
{
	query_put_string(writer, "\"");
	for (const char *end = text + length; text < end;) {
		const char *quote = memchr(text, '"', (size_t)(end - text));
		size_t some = (size_t)((quote ? quote + 1 : end) - text);

		query_put(writer, text, some);
		if (quote)
			query_put_string(writer, "\"");
		text += some;
	}
	query_put_string(writer, "\"");
}

static void query_csv_row(struct query_writer *writer)
{
	char number[QUERY_NUMBER_MAX];
	const char *text;
	size_t length;

	for (int i = 0; i < writer->columns; i++) {
		if (i > 0)
			query_put_string(writer, ",");
		if (query_is_bytes(writer, i)) {
			text = query_bytes(writer, i, &length);
			query_csv_text(writer, text, length);
		} else {
			query_put_string(writer, query_number(writer->statement, i, number));
		}
	}
	query_put_string(writer, "\r\n");
}

static void query_csv_head(struct query_writer *writer)
{
	for (int i = 0; i < writer->columns; i++) {
		const char *name = query_column_name(writer, i);

		if (i > 0)
			query_put_string(writer, ",");
		if (name[strcspn(name, ",\"\r\n")])
			query_csv_text(writer, name, strlen(name));
		else
			query_put_string(writer, name);
	}
	query_put_string(writer, "\r\n");
}

/* --- Text ------------------------------------------------------------------------------------- */

static size_t query_width(const char *text)
{
	size_t width = 0;

	for (; *text; text++)
		width += (*text & 0xc0) != 0x80;
	return width;
}

/* Keeps a cell for later, with what a terminal would obey escaped. */
static void query_keep(struct query_writer *writer, const char *text, size_t length)
{
	size_t room = length * FX_ESCAPE_WIDTH + 1;
	char *cell;

	if (fx_vector_reserve(&writer->cells, room) < 0) {
		writer->no_memory = true;
		return;
	}
	cell = writer->cells.items + writer->cells.count;
	length = fx_escape(cell, room - 1, text, length,
			   FX_ESCAPE_CONTROLS | FX_ESCAPE_KEEP_BACKSLASHES);
	cell[length] = '\0';
	writer->cells.count += length + 1;
}

static void query_keep_row(struct query_writer *writer)
{
	char number[QUERY_NUMBER_MAX];
	const char *text;
	size_t length;

	for (int i = 0; i < writer->columns; i++) {
		if (query_is_bytes(writer, i)) {
			writer->is_text[i] = true;
			text = query_bytes(writer, i, &length);
		} else {
			text = query_number(writer->statement, i, number);
			length = strlen(text);
		}
		query_keep(writer, text, length);
	}
}

static void query_keep_head(struct query_writer *writer)
{
	for (int i = 0; i < writer->columns; i++) {
		const char *name = query_column_name(writer, i);

		query_keep(writer, name, strlen(name));
	}
}

static void query_measure(struct query_writer *writer)
{
	const char *at = writer->cells.items, *end = at + writer->cells.count;

	for (size_t i = 0; at < end; i++) {
		size_t *widest = &writer->widths[i % (size_t)writer->columns];
		size_t width = query_width(at);

		if (width > QUERY_WIDEST)
			width = QUERY_WIDEST;
		if (width > *widest)
			*widest = width;
		at += strlen(at) + 1;
	}
}

static void query_pad(struct query_writer *writer, size_t count)
{
	while (count-- > 0)
		query_put_string(writer, " ");
}

static void query_put_cell(struct query_writer *writer, const char *text, int column)
{
	size_t width = query_width(text), widest = writer->widths[column];
	size_t space = width < widest ? widest - width : 0;
	bool last = column + 1 == writer->columns;

	if (!writer->is_text[column])
		query_pad(writer, space);
	query_put_string(writer, text);
	if (last) {
		query_put_string(writer, "\n");
		return;
	}
	query_pad(writer, QUERY_GAP + (writer->is_text[column] ? space : 0));
}

static void query_put_cells(struct query_writer *writer)
{
	const char *at = writer->cells.items, *end = at + writer->cells.count;

	for (int i = 0; at < end; i = (i + 1) % writer->columns) {
		query_put_cell(writer, at, i);
		at += strlen(at) + 1;
	}
	writer->cells.count = 0;
}

static void query_text_row(struct query_writer *writer)
{
	query_keep_row(writer);
	if (writer->no_memory || writer->rows + 1 < QUERY_LOOKED_AT)
		return;
	if (writer->rows + 1 == QUERY_LOOKED_AT)
		query_measure(writer);
	query_put_cells(writer);
}

static void query_text_end(struct query_writer *writer)
{
	if (writer->rows >= QUERY_LOOKED_AT || writer->no_memory)
		return;
	query_measure(writer);
	query_put_cells(writer);
}

/* --- The whole -------------------------------------------------------------------------------- */

static const struct {
	void (*head)(struct query_writer *writer);
	void (*row)(struct query_writer *writer);
	void (*end)(struct query_writer *writer);
	const char *first, *last;
} query_styles[] = {
    [FX_QUERY_TEXT] = {query_keep_head, query_text_row, query_text_end, "", ""},
    [FX_QUERY_JSON] = {NULL, query_json_row, NULL, "[", "\n]\n"},
    [FX_QUERY_CSV] = {query_csv_head, query_csv_row, NULL, "", ""},
};

static int query_write_rows(struct query_writer *writer, enum fx_query_style style)
{
	int r;

	query_put_string(writer, query_styles[style].first);
	if (query_styles[style].head)
		query_styles[style].head(writer);
	while ((r = sqlite3_step(writer->statement)) == SQLITE_ROW) {
		query_styles[style].row(writer);
		writer->rows++;
		if (writer->no_memory)
			return SQLITE_NOMEM;
		if (fx_sink_error(writer->sink) < 0)
			return SQLITE_DONE;
	}
	if (r != SQLITE_DONE)
		return r;
	if (query_styles[style].end)
		query_styles[style].end(writer);
	query_put_string(writer, query_styles[style].last);
	return writer->no_memory ? SQLITE_NOMEM : r;
}

int fx_query_write(sqlite3_stmt *statement, struct fx_sink *sink, enum fx_query_style style)
{
	struct query_writer writer = {
	    .statement = statement,
	    .sink = sink,
	    .columns = sqlite3_column_count(statement),
	};
	int r = SQLITE_NOMEM;

	writer.widths = calloc((size_t)writer.columns + 1, sizeof(*writer.widths));
	writer.is_text = calloc((size_t)writer.columns + 1, sizeof(*writer.is_text));
	if (writer.widths && writer.is_text)
		r = query_write_rows(&writer, style);
	free(writer.widths);
	free(writer.is_text);
	fx_vector_free(&writer.cells);
	fx_vector_free(&writer.scratch);
	return r;
}
