/* SPDX-License-Identifier: MIT */
/* Fields of tracepoints by name, out of bytes that have them and out of such that have not; tracefs as it is on this machine. */
#include "kernel/points.h"

#include <criterion/criterion.h>
#include <string.h>

static const uint8_t bytes[24] = {1, 2,	  3,   4,   16, 0,   5,	  0,   4,   0,	3,
				  0, 'a', 'b', 'c', 0,	'h', 'e', 'l', 'l', 'o'};

static const uint8_t *bytes_of(struct fx_point_field field, size_t size, size_t *ret)
{
	return fx_point_bytes(&field, bytes, size, ret);
}

Test(points, fixed)
{
	size_t size;

	cr_expect_eq(bytes_of((struct fx_point_field){.offset = 2, .size = 2}, 24, &size),
		     bytes + 2);
	cr_expect_eq(size, 2);
	cr_expect_null(bytes_of((struct fx_point_field){.offset = 22, .size = 4}, 24, &size));
	cr_expect_null(bytes_of((struct fx_point_field){.offset = 30, .size = 0}, 24, &size));
	cr_expect_null(
	    bytes_of((struct fx_point_field){.offset = 4, .size = UINT32_MAX}, 24, &size));
}

Test(points, elsewhere)
{
	const struct fx_point_field absolute = {.offset = 4, .size = 4, .is_elsewhere = true},
				    relative = {.offset = 8,
						.size = 4,
						.is_elsewhere = true,
						.is_relative = true};
	size_t size;

	cr_expect_eq(bytes_of(absolute, 24, &size), bytes + 16);
	cr_expect_eq(size, 5);
	/* It ends behind them, or is not there. */
	cr_expect_eq(bytes_of(absolute, 20, &size), bytes + 16);
	cr_expect_eq(size, 4);
	cr_expect_null(bytes_of(absolute, 16, &size));
	cr_expect_null(bytes_of(absolute, 12, &size));
	/* Nothing says where. */
	cr_expect_null(bytes_of(
	    (struct fx_point_field){.offset = 12 + 8, .size = 4, .is_elsewhere = true}, 20, &size));
	cr_expect_null(bytes_of(absolute, 7, &size));
	cr_expect_eq(bytes_of(relative, 24, &size), bytes + 16);
	cr_expect_eq(size, 3);
	cr_expect_null(bytes_of(
	    (struct fx_point_field){.offset = 4, .size = 2, .is_elsewhere = true}, 24, &size));
}

Test(points, by_number)
{
	struct fx_point all[] = {{.number = 0x101, .name = "a"}, {.number = 0x201, .name = "b"}};
	const struct fx_points points = {.points = all, .count = 2};
	const uint8_t second[] = {0x01, 0x02}, none[] = {0x01, 0x03};

	cr_expect_eq(fx_points_of(&points, second, 2), &all[1]);
	cr_expect_null(fx_points_of(&points, none, 2));
	cr_expect_null(fx_points_of(&points, second, 1));
	cr_expect_null(fx_points_of(&(struct fx_points){.count = 0}, second, 2));
}

Test(points, of_this_machine)
{
	struct fx_points points;
	char unknown[64];
	int r = fx_points_find("tracepoint:sched/sched_process_exec,tracepoint:no_such", &points,
			       unknown, sizeof(unknown));

	if (r < 0) {
		cr_expect_eq(points.count, 0);
		fx_points_free(&points);
		cr_skip_test("tracepoints cannot be read");
	}
	cr_expect_str_eq(unknown, "tracepoint:no_such");
	cr_assert_eq(points.count, 1);
	cr_expect_str_eq(points.points[0].category, "tracepoint:sched");
	cr_expect_str_eq(points.points[0].name, "sched_process_exec");
	cr_assert_eq(points.points[0].field_count, 3);
	cr_expect_str_eq(points.points[0].fields[0].name, "filename");
	cr_expect_eq(points.points[0].fields[0].kind, FX_POINT_TEXT);
	cr_expect(points.points[0].fields[0].is_elsewhere);
	cr_expect_str_eq(points.points[0].fields[1].name, "pid");
	cr_expect_eq(points.points[0].fields[1].kind, FX_POINT_SIGNED);
	cr_expect_eq(points.points[0].fields[1].size, 4);
	fx_points_free(&points);
}
