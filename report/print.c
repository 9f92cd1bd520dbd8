/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "base/utf8.h"
#include "report/layout.h"
#include "report/print.h"
#include "report/units.h"

#define BOLD  "\033[1m"
#define FAINT "\033[2m"
#define PLAIN "\033[0m"

/* --- Text ------------------------------------------------------------------------------------- */

static bool print_is_control(unsigned char byte)
{
	return byte < 0x20 || byte == 0x7f;
}

static void print_character(FILE *out, const char *text, size_t bytes)
{
	unsigned char byte = (unsigned char)text[0];
	bool is_c1 = bytes > 1 && byte == 0xc2 && (unsigned char)text[1] < 0xa0;

	if (byte == '\n')
		putc(' ', out);
	else if (is_c1 || print_is_control(byte) || (bytes == 1 && byte >= 0x80))
		putc('?', out);
	else
		fwrite(text, 1, bytes, out);
}

void fx_print_shown(FILE *out, const char *text, size_t length, size_t width)
{
	bool cut = width > 0 && fx_layout_width_of(text, length) > width;
	size_t left = cut ? width - 1 : SIZE_MAX;

	while (length > 0 && left-- > 0) {
		size_t bytes = fx_layout_step(text, length);

		print_character(out, text, bytes);
		text += bytes;
		length -= bytes;
	}
	if (cut)
		fputs("…", out);
}

static void print_repeat(FILE *out, char what, size_t count)
{
	while (count-- > 0)
		putc(what, out);
}

static void print_gap(const struct fx_print *print, bool *is_first)
{
	print_repeat(print->out, ' ', *is_first ? 0 : FX_LAYOUT_GAP);
	*is_first = false;
}

static void print_heads(const struct fx_print *print, const struct fx_column *columns,
			const struct fx_layout *layout)
{
	bool is_first = true;

	if (print->color)
		fputs(FAINT, print->out);
	for (size_t i = 0; i <= layout->last; i++) {
		size_t length = strlen(columns[i].title);
		size_t space = layout->widths[i] > length ? layout->widths[i] - length : 0;

		if (layout->hidden[i])
			continue;
		print_gap(print, &is_first);
		if (columns[i].unit != FX_UNIT_TEXT)
			print_repeat(print->out, ' ', space);
		fx_print_shown(print->out, columns[i].title, length, layout->widths[i]);
		if (columns[i].unit == FX_UNIT_TEXT && i < layout->last)
			print_repeat(print->out, ' ', space);
	}
	fputs(print->color ? PLAIN "\n" : "\n", print->out);
}

/* Bytes of a text that a line of this width takes: whole words, if there is one that fits. */
static size_t print_line_of(const char *text, size_t length, size_t width)
{
	size_t at = 0, end = 0;

	while (at < length && width-- > 0) {
		if (text[at] == ' ')
			end = at;
		at += fx_layout_step(text + at, length - at);
	}
	return at == length || text[at] == ' ' || end == 0 ? at : end;
}

/* Of a path that does not fit, the end says more than the beginning. */
static bool print_is_path(const char *text, size_t length)
{
	return length > 0 && text[0] == '/' && !memchr(text, ' ', length) &&
	       !memchr(text, '<', length);
}

static void print_path_end(FILE *out, const char *text, size_t length, size_t width)
{
	size_t skip = fx_layout_width_of(text, length) - width + 1;

	while (skip-- > 0) {
		size_t step = fx_layout_step(text, length);

		text += step;
		length -= step;
	}
	fputs("…", out);
	fx_print_shown(out, text, length, 0);
}

/* `length' bytes of the text, at most. */
static void print_text_cell(const struct fx_print *print, const char *text, size_t length,
			    size_t indent, size_t width, bool last)
{
	size_t room = print->width == 0 && last ? 0 : width, taken;

	/* A tree that is deeper than the terminal is wide is seen as deep as it can be. */
	if (room > 0 && indent + FX_LAYOUT_NARROWEST > room)
		indent = room > FX_LAYOUT_NARROWEST ? room - FX_LAYOUT_NARROWEST : 0;
	if (length == 0)
		indent = 0;
	print_repeat(print->out, ' ', indent);
	taken = fx_layout_width_of(text, length) + indent;
	if (room > 0 && taken > room && print_is_path(text, length))
		print_path_end(print->out, text, length, room - indent);
	else
		fx_print_shown(print->out, text, length, room > 0 ? room - indent : 0);
	if (!last && taken < width)
		print_repeat(print->out, ' ', width - taken);
}

/* What is left of texts that go on in the next line. */
struct rest {
	const char *text;
	size_t length;
};

static void print_text_part(const struct fx_print *print, const struct fx_table *table, size_t row,
			    size_t column, const struct fx_layout *layout, struct rest *rest)
{
	size_t count, length = rest->length;
	size_t width = layout->widths[column];

	fx_table_columns(table, &count);
	if (layout->wraps[column])
		length = print_line_of(rest->text, rest->length, width);
	print_text_cell(print, rest->text, length,
			column + 1 == count ? fx_table_indent_of(table, row) * FX_LAYOUT_INDENT : 0,
			width, column == layout->last);
	rest->text += length;
	rest->length -= length;
	while (rest->length > 0 && *rest->text == ' ') {
		rest->text++;
		rest->length--;
	}
}

/* A line of a row; returns whether there is another one. */
static bool print_line(const struct fx_print *print, const struct fx_table *table, size_t row,
		       const struct fx_layout *layout, struct rest rests[], bool first)
{
	size_t count;
	const struct fx_column *columns = fx_table_columns(table, &count);
	char text[FX_UNIT_TEXT_MAX] = "";
	bool is_first = true, more = false;

	for (size_t i = 0; i <= layout->last; i++) {
		if (layout->hidden[i])
			continue;
		print_gap(print, &is_first);
		if (columns[i].unit == FX_UNIT_TEXT) {
			print_text_part(print, table, row, i, layout, &rests[i]);
			more |= rests[i].length > 0;
			continue;
		}
		fprintf(print->out, "%*s", (int)layout->widths[i],
			first ? fx_layout_number(&columns[i], fx_table_cell(table, row, i), text)
			      : "");
	}
	putc('\n', print->out);
	return more;
}

static void print_row(const struct fx_print *print, const struct fx_table *table, size_t row,
		      const struct fx_layout *layout)
{
	struct rest rests[FX_TABLE_COLUMNS_MAX] = {0};
	bool first = true;

	for (size_t i = 0; i <= layout->last; i++) {
		const struct fx_cell *cell = fx_table_cell(table, row, i);

		rests[i].text = "";
		if (cell->kind == FX_CELL_TEXT)
			rests[i] = (struct rest){fx_table_text_of(table, cell), cell->length};
	}
	while (print_line(print, table, row, layout, rests, first))
		first = false;
}

static void print_hidden(const struct fx_print *print, const struct fx_column *columns,
			 size_t count, const struct fx_layout *layout)
{
	const char *before = "(no room for: ";

	for (size_t i = 0; i < count; i++) {
		if (!layout->hidden[i])
			continue;
		fprintf(print->out, "%s%s", before, columns[i].title);
		before = ", ";
	}
	if (before[0] == ',')
		fputs(")\n", print->out);
}

static void print_text_table(struct fx_print *print, const struct fx_table *table)
{
	struct fx_layout layout;
	size_t count;
	const struct fx_column *columns = fx_table_columns(table, &count);
	size_t rows = fx_table_row_count(table), left_out = fx_table_left_out(table);

	if (rows + left_out + fx_table_note_count(table) == 0 &&
	    print->empty_count < FX_PRINT_EMPTY_MAX) {
		print->empty[print->empty_count++] = fx_table_title(table);
		return;
	}
	if (print->printed++ > 0)
		putc('\n', print->out);
	fprintf(print->out, print->color ? BOLD "%s" PLAIN "\n" : "%s\n", fx_table_title(table));
	if (rows > 0) {
		fx_layout_make(&layout, table, print->width);
		print_heads(print, columns, &layout);
	}
	for (size_t row = 0; row < rows; row++)
		print_row(print, table, row, &layout);
	if (left_out > 0)
		fprintf(print->out, "(%zu more; --top 0 shows all)\n", left_out);
	if (rows > 0)
		print_hidden(print, columns, count, &layout);
	for (size_t i = 0; i < fx_table_note_count(table); i++) {
		const char *note = fx_table_note_of(table, i);

		fx_print_shown(print->out, note, strlen(note), 0);
		putc('\n', print->out);
	}
}

/* A heading without rows would only hide those that have some. */
static void print_text_end(const struct fx_print *print)
{
	if (print->empty_count == 0)
		return;
	if (print->printed > 0)
		putc('\n', print->out);
	fputs(print->color ? FAINT "Nothing for: " : "Nothing for: ", print->out);
	for (size_t i = 0; i < print->empty_count; i++)
		fprintf(print->out, "%s%s", i > 0 ? "; " : "", print->empty[i]);
	fputs(print->color ? PLAIN "\n" : "\n", print->out);
}

/* --- JSON ------------------------------------------------------------------------------------- */

void fx_print_json_text(FILE *out, const char *text, size_t length)
{
	putc('"', out);
	for (size_t i = 0; i < length; i++) {
		unsigned char byte = (unsigned char)text[i];

		if (byte == '"' || byte == '\\')
			fprintf(out, "\\%c", byte);
		else if (print_is_control(byte) || byte == '<')
			fprintf(out, "\\u%04x", byte);
		else if (byte == 0xc2 && i + 1 < length && (unsigned char)text[i + 1] < 0xa0)
			fprintf(out, "\\u%04x", (unsigned char)text[++i]);
		else
			putc(byte, out);
	}
	putc('"', out);
}

static void print_json_cell(FILE *out, const struct fx_table *table, const struct fx_cell *cell)
{
	if (cell->kind == FX_CELL_TEXT)
		fx_print_json_text(out, fx_table_text_of(table, cell), cell->length);
	else if (cell->kind == FX_CELL_NUMBER)
		fprintf(out, "%" PRId64, cell->number);
	else if (cell->kind == FX_CELL_REAL && isfinite(cell->real))
		fprintf(out, "%.12g", cell->real);
	else
		fputs("null", out);
}

static void print_json_row(FILE *out, const struct fx_table *table, size_t row)
{
	size_t count;
	const struct fx_column *columns = fx_table_columns(table, &count);
	unsigned indent = fx_table_indent_of(table, row);

	fputs("    {", out);
	for (size_t i = 0; i < count; i++) {
		fprintf(out, "%s\"%s\": ", i > 0 ? ", " : "", columns[i].key);
		print_json_cell(out, table, fx_table_cell(table, row, i));
	}
	if (indent > 0)
		fprintf(out, ", \"depth\": %u", indent);
	putc('}', out);
}

static void print_json_table(struct fx_print *print, const struct fx_table *table)
{
	size_t rows = fx_table_row_count(table), notes = fx_table_note_count(table);

	fprintf(print->out, "%s  \"%s\": {\"rows\": [", print->printed > 0 ? ",\n" : "",
		fx_table_name(table));
	for (size_t row = 0; row < rows; row++) {
		fputs(row > 0 ? ",\n" : "\n", print->out);
		print_json_row(print->out, table, row);
	}
	fprintf(print->out, "], \"left_out\": %zu, \"notes\": [", fx_table_left_out(table));
	for (size_t i = 0; i < notes; i++) {
		const char *note = fx_table_note_of(table, i);

		fputs(i > 0 ? ", " : "", print->out);
		fx_print_json_text(print->out, note, strlen(note));
	}
	fputs("]}", print->out);
}

/* --- CSV (RFC 4180) --------------------------------------------------------------------------- */

/* Backslashes are those of the archive. */
#define PRINT_CSV_ESCAPE (FX_ESCAPE_CONTROLS | FX_ESCAPE_KEEP_BACKSLASHES)

/* The most bytes of a character, of which each may be escaped. */
#define PRINT_CSV_CHARACTER_MAX (4 * FX_ESCAPE_WIDTH)

/* Quotation marks are doubled. */
static void print_csv_plain(FILE *out, const char *text, size_t length)
{
	for (const char *end = text + length; text < end;) {
		const char *quote = memchr(text, '"', (size_t)(end - text));
		size_t some = (size_t)((quote ? quote + 1 : end) - text);

		fwrite(text, 1, some, out);
		if (quote)
			putc('"', out);
		text += some;
	}
}

static void print_csv_escaped(FILE *out, const char *text, size_t length)
{
	char room[PRINT_CSV_CHARACTER_MAX + FX_ESCAPE_MARK_SIZE];

	while (length > 0) {
		size_t bytes = fx_utf8_sequence(text, length);

		if (bytes == 0)
			bytes = 1;
		print_csv_plain(out, room,
				fx_escape(room, sizeof(room), text, bytes, PRINT_CSV_ESCAPE));
		text += bytes;
		length -= bytes;
	}
}

void fx_print_csv_text(FILE *out, const char *text, size_t length)
{
	putc('"', out);
	if (fx_escape_needed(text, length, PRINT_CSV_ESCAPE))
		print_csv_escaped(out, text, length);
	else
		print_csv_plain(out, text, length);
	putc('"', out);
}

static void print_csv_cell(FILE *out, const struct fx_table *table, const struct fx_cell *cell)
{
	if (cell->kind == FX_CELL_TEXT)
		fx_print_csv_text(out, fx_table_text_of(table, cell), cell->length);
	else if (cell->kind != FX_CELL_EMPTY)
		print_json_cell(out, table, cell);
}

/*
 * Each table begins with the line of its keys; several stand apart by an empty line. A tree has a column more, how deep
 * a row stands in it.
 */
static void print_csv_table(struct fx_print *print, const struct fx_table *table)
{
	size_t count, rows = fx_table_row_count(table);
	const struct fx_column *columns = fx_table_columns(table, &count);

	if (print->printed > 0)
		fputs("\r\n", print->out);
	for (size_t i = 0; i < count; i++)
		fprintf(print->out, "%s%s", i > 0 ? "," : "", columns[i].key);
	fputs(fx_table_is_tree(table) ? ",depth\r\n" : "\r\n", print->out);
	for (size_t row = 0; row < rows; row++) {
		for (size_t i = 0; i < count; i++) {
			fputs(i > 0 ? "," : "", print->out);
			print_csv_cell(print->out, table, fx_table_cell(table, row, i));
		}
		if (fx_table_is_tree(table))
			fprintf(print->out, ",%u", fx_table_indent_of(table, row));
		fputs("\r\n", print->out);
	}
}

/* --- The whole -------------------------------------------------------------------------------- */

/* --- Names ------------------------------------------------------------------------------------- */

/* What is special in a pattern is so no more. */
static void print_name(FILE *out, const char *text, size_t length)
{
	for (size_t i = 0; i < length; i++) {
		if (strchr("*?[\\", text[i]))
			putc('\\', out);
		putc(text[i] == '\n' ? ' ' : text[i], out);
	}
	putc('\n', out);
}

/* The column "name", a line each; tables without one have none. */
static void print_names_table(const struct fx_print *print, const struct fx_table *table)
{
	size_t count, column = 0;
	const struct fx_column *columns = fx_table_columns(table, &count);

	while (column < count && strcmp(columns[column].key, "name") != 0)
		column++;
	for (size_t row = 0; column < count && row < fx_table_row_count(table); row++) {
		const struct fx_cell *cell = fx_table_cell(table, row, column);

		if (cell->kind == FX_CELL_TEXT)
			print_name(print->out, fx_table_text_of(table, cell), cell->length);
	}
}

void fx_print_begin(struct fx_print *print)
{
	if (print->style == FX_PRINT_JSON)
		fputs("{\n", print->out);
	else if (print->style == FX_PRINT_PAGE)
		fputs("[", print->out);
}

void fx_print_table(struct fx_print *print, const struct fx_table *table)
{
	switch (print->style) {
	case FX_PRINT_TEXT:
		print_text_table(print, table);
		break;
	case FX_PRINT_JSON:
		print_json_table(print, table);
		print->printed++;
		break;
	case FX_PRINT_PAGE:
		fx_print_page_table(print, table);
		break;
	case FX_PRINT_NAMES:
		print_names_table(print, table);
		break;
	case FX_PRINT_CSV:
		print_csv_table(print, table);
		print->printed++;
		break;
	}
}

void fx_print_end(struct fx_print *print)
{
	if (print->style == FX_PRINT_JSON)
		fputs("\n}\n", print->out);
	else if (print->style == FX_PRINT_PAGE)
		fputs("]", print->out);
	else if (print->style == FX_PRINT_TEXT)
		print_text_end(print);
}
