/* SPDX-License-Identifier: MIT */
/* What a server answers in TabSeparated, and the values that rows are made of. */
#include <criterion/criterion.h>

#include <stdlib.h>

#include "load/batches.h"
#include "load/clickhouse.h"

Test(answers, rows_and_fields)
{
	char text[] = "a\t1\nb\\tc\\n\\\\\t\n\t\n", *at = text, *fields[3];

	cr_assert(fx_clickhouse_row(&at, fields, 3));
	cr_assert_str_eq(fields[0], "a");
	cr_assert_str_eq(fields[1], "1");
	cr_assert_str_eq(fields[2], "", "a field that is not there");
	cr_assert(fx_clickhouse_row(&at, fields, 2));
	cr_assert_str_eq(fields[0], "b\tc\n\\");
	cr_assert_str_eq(fields[1], "");
	cr_assert(fx_clickhouse_row(&at, fields, 2));
	cr_assert_str_eq(fields[0], "");
	cr_assert_not(fx_clickhouse_row(&at, fields, 2));
}

/* More fields than asked for, and an end in the middle. */
Test(answers, odd_ones)
{
	char more[] = "1\t2\t3\n4", *at = more, *fields[2];
	char cut[] = "x\\";

	cr_assert(fx_clickhouse_row(&at, fields, 2));
	cr_assert_str_eq(fields[1], "2");
	cr_assert(fx_clickhouse_row(&at, fields, 2));
	cr_assert_str_eq(fields[0], "4");
	cr_assert_str_eq(fields[1], "");
	cr_assert_not(fx_clickhouse_row(&at, fields, 2));
	at = cut;
	cr_assert(fx_clickhouse_row(&at, fields, 1));
	cr_assert_str_eq(fields[0], "x\\");
}

Test(answers, texts_begin_with_their_length)
{
	static char text[300];
	fx_load_bytes bytes = {0};

	fx_load_put_text(&bytes, "ab", 2);
	cr_assert_eq(bytes.count, 3);
	cr_assert_arr_eq(bytes.items,
			 "\x02"
			 "ab",
			 3);
	bytes.count = 0;
	fx_load_put_text(&bytes, text, 300);
	cr_assert_eq(bytes.count, 302);
	cr_assert_arr_eq(bytes.items, "\xac\x02", 2, "300 in groups of 7 bits");
	free(bytes.items);
}
