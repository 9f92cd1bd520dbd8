/* SPDX-License-Identifier: MIT */
#include <criterion/criterion.h>

#include "preload/call/objects.h"

static char objects[100000 * 8];
static struct fx_objects set;

Test(objects, in_and_out)
{
	fx_objects_set(&set, objects, false);
	cr_assert_not(fx_objects_have(&set, objects));
	fx_objects_set(&set, objects, true);
	fx_objects_set(&set, objects, true);
	cr_assert(fx_objects_have(&set, objects));
	cr_assert_not(fx_objects_have(&set, objects + 8));
	fx_objects_set(&set, objects, false);
	cr_assert_not(fx_objects_have(&set, objects));
}

/* What finds no room is not in it; the others stay. */
Test(objects, full)
{
	unsigned first = 0, all = 0;

	for (unsigned i = 0; i < 100000; i++) {
		fx_objects_set(&set, objects + i * 8, true);
		if (i == 999)
			for (unsigned k = 0; k < 1000; k++)
				first += fx_objects_have(&set, objects + k * 8);
	}
	for (unsigned i = 0; i < 100000; i++)
		all += fx_objects_have(&set, objects + i * 8);
	cr_assert_eq(first, 1000);
	cr_assert_eq(all, FX_OBJECTS_BUCKETS * FX_OBJECTS_WAYS);
	for (unsigned k = 0; k < 1000; k++)
		cr_assert(fx_objects_have(&set, objects + k * 8));
}
