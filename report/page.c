/* SPDX-License-Identifier: MIT */
/*
 * Tables for a page (convert/pictures/html.js), as JSON: [{"title", "heads", "texts", "rows", "levels", "notes", "left"}, …].
 * Cells are what the text of the report has; "texts" says which columns are no numbers.
 */
#include "config.h"

#include <string.h>

#include "report/layout.h"
#include "report/print.h"

static void page_heads(FILE *out, const struct fx_column *columns, size_t count)
{
	fputs(", \"heads\": [", out);
	for (size_t i = 0; i < count; i++) {
		fputs(i > 0 ? ", " : "", out);
		fx_print_json_text(out, columns[i].title, strlen(columns[i].title));
	}
	fputs("]", out);
}

static void page_row(FILE *out, const struct fx_table *table, size_t row)
{
	size_t count;
	const struct fx_column *columns = fx_table_columns(table, &count);
	char text[FX_UNIT_TEXT_MAX];

	for (size_t i = 0; i < count; i++) {
		const struct fx_cell *cell = fx_table_cell(table, row, i);

		fputs(i > 0 ? ", " : "[", out);
		if (cell->kind == FX_CELL_TEXT) {
			fx_print_json_text(out, fx_table_text_of(table, cell), cell->length);
			continue;
		}
		fx_layout_number(&columns[i], cell, text);
		fx_print_json_text(out, text, strlen(text));
	}
	fputs("]", out);
}

void fx_print_page_table(struct fx_print *print, const struct fx_table *table)
{
	FILE *out = print->out;
	size_t count, rows = fx_table_row_count(table);
	const struct fx_column *columns = fx_table_columns(table, &count);
	const char *title = fx_table_title(table);

	if (rows + fx_table_note_count(table) == 0)
		return;
	fputs(print->printed++ > 0 ? ",\n{\"title\": " : "{\"title\": ", out);
	fx_print_json_text(out, title, strlen(title));
	page_heads(out, columns, count);
	fputs(", \"texts\": [", out);
	for (size_t i = 0; i < count; i++)
		fprintf(out, "%s%d", i > 0 ? ", " : "", columns[i].unit == FX_UNIT_TEXT);
	fputs("], \"rows\": [", out);
	for (size_t row = 0; row < rows; row++) {
		fputs(row > 0 ? ",\n" : "", out);
		page_row(out, table, row);
	}
	fputs("], \"levels\": [", out);
	for (size_t row = 0; row < rows && fx_table_is_tree(table); row++)
		fprintf(out, "%s%u", row > 0 ? ", " : "", fx_table_indent_of(table, row));
	fputs("], \"notes\": [", out);
	for (size_t i = 0; i < fx_table_note_count(table); i++) {
		const char *note = fx_table_note_of(table, i);

		fputs(i > 0 ? ", " : "", out);
		fx_print_json_text(out, note, strlen(note));
	}
	fprintf(out, "], \"left\": %zu}", fx_table_left_out(table));
}
