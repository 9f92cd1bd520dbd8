/* SPDX-License-Identifier: MIT */
#include <criterion/criterion.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "report/print.h"
#include "report/table.h"
#include "report/units.h"

static const struct fx_column columns[] = {
    {"time_ns", "time", FX_UNIT_NS},
    {"share", "", FX_UNIT_SHARE},
    {"name", "name", FX_UNIT_TEXT},
};

static void add_row(struct fx_table *table, int64_t time, const char *name)
{
	fx_table_row(table);
	if (time >= 0)
		fx_table_number(table, 0, time);
	if (name)
		fx_table_string(table, 2, name);
}

/* What is printed; to be freed. */
static char *printed(struct fx_table *table, enum fx_print_style style, unsigned width)
{
	struct fx_print print = {.style = style, .width = width};
	char *text;
	size_t size;

	print.out = open_memstream(&text, &size);
	fx_print_begin(&print);
	fx_print_table(&print, table);
	fx_print_end(&print);
	fclose(print.out);
	return text;
}

static void expect_printed(struct fx_table *table, enum fx_print_style style, unsigned width,
			   const char *expected)
{
	char *text = printed(table, style, width);

	cr_assert_str_eq(text, expected, "printed:\n%s\ninstead of:\n%s", text, expected);
	free(text);
}

/* What is rounded to zero has no sign, and what is less is shown. */
Test(table, no_number_is_minus_zero)
{
	static const struct {
		enum fx_unit unit;
		double value;
		const char *text;
	} cases[] = {
	    {FX_UNIT_SHARE, -0.0, "0.0 %"},	{FX_UNIT_SHARE, -0.0004, "0.0 %"},
	    {FX_UNIT_SHARE, -0.0006, "-0.1 %"}, {FX_UNIT_SHARE, 0.0004, "0.0 %"},
	    {FX_UNIT_NS, -0.0, "0 ns"},		{FX_UNIT_NS, -0.3, "0 ns"},
	    {FX_UNIT_NS, -1500, "-1.500 us"},	{FX_UNIT_BYTES, -0.5, "0 B"},
	    {FX_UNIT_COUNT, -0.0, "0"},
	};
	char text[FX_UNIT_TEXT_MAX];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		fx_unit_real(cases[i].unit, cases[i].value, text);
		cr_expect_str_eq(text, cases[i].text, "%g", cases[i].value);
	}
}

/* A text in quotation marks is a line, and one that no terminal obeys; backslashes are the archive's. */
Test(table, csv_escapes_what_is_no_text)
{
	static const char name[] = "a \"b\"\n\033[2J\302\233\\x41 \303\251\377";
	struct fx_table *table = fx_table_new("t", "Title", columns, 3);

	add_row(table, 5, name);
	cr_assert_eq(fx_table_arrange(table, NULL, 3), 0);
	expect_printed(table, FX_PRINT_CSV, 0,
		       "time_ns,share,name\r\n"
		       "5,,\"a \"\"b\"\"\\x0A\\x1B[2J\\xC2\\x9B\\x41 \303\251\\xFF\"\r\n");
	fx_table_free(table);
}

Test(table, rows_are_sorted_and_counted)
{
	struct fx_table *table = fx_table_new("t", "Title", columns, 3);

	add_row(table, 5, "five");
	add_row(table, -1, "unknown");
	add_row(table, 2000, "most");
	add_row(table, 5, "five again");
	cr_assert_eq(fx_table_arrange(table, NULL, 3), 0);
	cr_assert_eq(fx_table_left_out(table), 1);
	expect_printed(table, FX_PRINT_TEXT, 0,
		       "Title\n"
		       "    time    name\n"
		       "2.000 us    most\n"
		       "    5 ns    five\n"
		       "    5 ns    five again\n"
		       "(1 more; --top 0 shows all)\n");
	fx_table_free(table);
}

Test(table, sorted_by_text_and_by_what_is_not_there)
{
	struct fx_table *table = fx_table_new("t", "Title", columns, 3);

	add_row(table, 1, "b");
	add_row(table, 2, "a");
	cr_assert_eq(fx_table_arrange(table, "no_such", 0), -ENOENT);
	cr_assert_eq(fx_table_arrange(table, "name", 0), 0);
	expect_printed(table, FX_PRINT_CSV, 0, "time_ns,share,name\r\n2,,\"a\"\r\n1,,\"b\"\r\n");
	fx_table_free(table);
}

Test(table, a_tree_keeps_its_order)
{
	struct fx_table *table = fx_table_new("t", "Title", columns, 3);

	fx_table_keep_order(table);
	add_row(table, 1, "root");
	add_row(table, 2, "leaf");
	fx_table_indent(table, 1);
	cr_assert_eq(fx_table_arrange(table, NULL, 0), 0);
	expect_printed(table, FX_PRINT_TEXT, 0,
		       "Title\ntime    name\n1 ns    root\n2 ns      leaf\n");
	expect_printed(table, FX_PRINT_JSON, 0,
		       "{\n  \"t\": {\"rows\": [\n"
		       "    {\"time_ns\": 1, \"share\": null, \"name\": \"root\"},\n"
		       "    {\"time_ns\": 2, \"share\": null, \"name\": \"leaf\", \"depth\": 1}"
		       "], \"left_out\": 0, \"notes\": []}\n}\n");
	fx_table_free(table);
}

/* Nothing that stands in a name is obeyed by a terminal, a page or a parser. */
Test(table, hostile_names)
{
	static const char name[] = "\033[31m<b>\"x\\\n\302\233\177";
	struct fx_table *table = fx_table_new("t", "Title", columns, 3);

	add_row(table, 1, name);
	fx_table_note(table, "a note: %s", "\033]0;x\007");
	expect_printed(table, FX_PRINT_TEXT, 0,
		       "Title\ntime    name\n1 ns    ?[31m<b>\"x\\ ??\na note: ?]0;x?\n");
	expect_printed(table, FX_PRINT_JSON, 0,
		       "{\n  \"t\": {\"rows\": [\n"
		       "    {\"time_ns\": 1, \"share\": null, \"name\": "
		       "\"\\u001b[31m\\u003cb>\\\"x\\\\\\u000a\\u009b\\u007f\"}"
		       "], \"left_out\": 0, \"notes\": [\"a note: \\u001b]0;x\\u0007\"]}\n}\n");
	fx_table_free(table);
}

Test(table, fits_a_terminal)
{
	struct fx_table *table = fx_table_new("t", "Title", columns, 3);
	static const unsigned widths[] = {20, 24, 40, 80};

	add_row(table, 123456789,
		"a name that is longer than a small terminal, with \303\274mlauts");
	for (size_t i = 0; i < sizeof(widths) / sizeof(*widths); i++) {
		char *text = printed(table, FX_PRINT_TEXT, widths[i]), *at = text;

		for (char *line; (line = strsep(&at, "\n"));) {
			size_t width = 0;

			for (char *c = line; *c; c++)
				width += (*c & 0xc0) != 0x80;
			cr_assert_leq(width, widths[i] < 24 ? 24 : widths[i], "%s", line);
		}
		free(text);
	}
	fx_table_free(table);
}

Test(table, empty)
{
	struct fx_table *table = fx_table_new("t", "Title", columns, 3);

	cr_assert_eq(fx_table_arrange(table, NULL, 1), 0);
	expect_printed(table, FX_PRINT_TEXT, 80, "Nothing for: Title\n");
	expect_printed(table, FX_PRINT_JSON, 0,
		       "{\n  \"t\": {\"rows\": [], \"left_out\": 0, \"notes\": []}\n}\n");
	fx_table_free(table);
}

struct unit_case {
	enum fx_unit unit;
	double value;
	const char *text;
};

Test(units, four_digits)
{
	static const struct unit_case cases[] = {
	    {FX_UNIT_NS, 0, "0 ns"},
	    {FX_UNIT_NS, 999, "999 ns"},
	    {FX_UNIT_NS, 1000, "1.000 us"},
	    {FX_UNIT_NS, 9999, "9.999 us"},
	    {FX_UNIT_NS, 999949, "999.9 us"},
	    {FX_UNIT_NS, 999999, "1.000 ms"},
	    {FX_UNIT_NS, 59e9, "59.00 s"},
	    {FX_UNIT_NS, 90e9, "1.500 min"},
	    {FX_UNIT_NS, -1500, "-1.500 us"},
	    {FX_UNIT_BYTES, 1234567, "1.235 MB"},
	    {FX_UNIT_COUNT, 1234567, "1,234,567"},
	    {FX_UNIT_COUNT, -123456, "-123,456"},
	    {FX_UNIT_COUNT, 999, "999"},
	    {FX_UNIT_NUMBER, 1234567, "1234567"},
	    {FX_UNIT_SHARE, 1, "100.0 %"},
	};
	char text[FX_UNIT_TEXT_MAX];

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		fx_unit_number(cases[i].unit, (int64_t)cases[i].value, text);
		cr_assert_str_eq(text, cases[i].text, "%s instead of %s", text, cases[i].text);
	}
	fx_unit_real(FX_UNIT_SHARE, 0.256, text);
	cr_assert_str_eq(text, "25.6 %");
}
