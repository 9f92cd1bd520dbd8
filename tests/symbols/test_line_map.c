/* SPDX-License-Identifier: MIT */
/* Which place code comes from, and what a reader may not say. */
#include "symbols/line-map.h"

#include <criterion/criterion.h>

#define NAMES 100u

static struct fx_line_map map;

static void begin(void)
{
	map = (struct fx_line_map){0};
}

static void end(void)
{
	fx_line_map_clear(&map);
}

TestSuite(line_map, .init = begin, .fini = end);

static uint32_t place(uint32_t line, uint32_t outer)
{
	const struct fx_line_place p = {.file = 1, .line = line, .outer = outer};
	uint32_t number;

	cr_assert_eq(fx_line_map_add(&map, &p, &number), 0);
	return number;
}

static void row(uint64_t start, uint32_t number)
{
	cr_assert_eq(fx_line_map_add_row(&map, start, number), 0);
}

Test(line_map, empty)
{
	fx_line_map_settle(&map);
	cr_expect_eq(fx_line_map_find(&map, 0), FX_NO_PLACE);
	cr_expect(fx_line_map_is_sound(&map, 0));
}

Test(line_map, a_row_goes_on_to_the_next)
{
	uint32_t a = place(1, FX_NO_PLACE), b = place(2, a);

	row(0x200, b);
	row(0x100, a);
	row(0x300, FX_NO_PLACE);
	fx_line_map_settle(&map);
	cr_expect_eq(fx_line_map_find(&map, 0xff), FX_NO_PLACE);
	cr_expect_eq(fx_line_map_find(&map, 0x100), a);
	cr_expect_eq(fx_line_map_find(&map, 0x1ff), a);
	cr_expect_eq(fx_line_map_find(&map, 0x2ff), b);
	cr_expect_eq(fx_line_map_find(&map, 0x300), FX_NO_PLACE);
	cr_expect_eq(fx_line_map_find(&map, UINT64_MAX), FX_NO_PLACE);
	cr_expect(fx_line_map_is_sound(&map, NAMES));
}

/* Where one unit ends another may begin, whichever was read first. */
Test(line_map, an_end_and_a_beginning_at_one_address)
{
	uint32_t a = place(1, FX_NO_PLACE), b = place(2, FX_NO_PLACE);

	row(0x200, b);
	row(0x300, FX_NO_PLACE);
	row(0x100, a);
	row(0x200, FX_NO_PLACE);
	fx_line_map_settle(&map);
	cr_expect_eq(fx_line_map_find(&map, 0x200), b);
	cr_expect_eq(map.rows.count, 3);
	cr_expect(fx_line_map_is_sound(&map, NAMES));
}

/* What a process that was made to crash or lie may answer. */
Test(line_map, unsound)
{
	uint32_t a = place(1, FX_NO_PLACE);

	row(0x100, a);
	row(0x200, a);
	cr_expect(fx_line_map_is_sound(&map, 2));
	cr_expect_not(fx_line_map_is_sound(&map, 1), "a name beyond all names");
	map.places.items[a].outer = a;
	cr_expect_not(fx_line_map_is_sound(&map, NAMES), "a call of itself");
	map.places.items[a].outer = FX_NO_PLACE;
	map.places.items[a].function = NAMES;
	cr_expect_not(fx_line_map_is_sound(&map, NAMES), "a function beyond all names");
	map.places.items[a].function = 0;
	map.rows.items[1].place = 1;
	cr_expect_not(fx_line_map_is_sound(&map, NAMES), "a place that there is not");
	map.rows.items[1].place = FX_NO_PLACE;
	cr_expect(fx_line_map_is_sound(&map, NAMES));
	map.rows.items[1].start = 0x100;
	cr_expect_not(fx_line_map_is_sound(&map, NAMES), "two rows at one address");
}
