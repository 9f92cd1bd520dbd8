/* SPDX-License-Identifier: MIT */
#include "kernel/wanted-points.h"

#include <errno.h>
#include <string.h>

static bool points_have(const struct fx_wanted_points *points, uint32_t number)
{
	for (unsigned i = 0; i < points->count; i++) {
		if (points->list[i].number == number)
			return true;
	}
	return false;
}

static void points_add(struct fx_wanted_points *points, uint32_t number, bool is_wide)
{
	if (number && !points_have(points, number))
		points->list[points->count++] = (struct fx_kernel_point){number, is_wide};
}

void fx_wanted_points_find(uint32_t sets, const char *list, bool machine,
			   struct fx_wanted_points *ret)
{
	memset(ret, 0, sizeof(*ret));
	fx_tracepoints_find(sets & ~(uint32_t)(FX_KERNEL_FAULT | FX_KERNEL_POINTS),
			    &ret->tracepoints);
	for (unsigned i = 0; i < FX_TRACEPOINT_COUNT; i++)
		points_add(ret, ret->tracepoints.numbers[i],
			   fx_tracepoint_is_wide(i) ||
			       (machine && fx_tracepoint_set(i) == FX_KERNEL_WAKEUPS));
	if (sets & FX_KERNEL_POINTS)
		ret->is_cut =
		    fx_points_find(list, &ret->named, ret->unknown, sizeof(ret->unknown)) == -E2BIG;
	for (unsigned i = 0; i < ret->named.count; i++)
		points_add(ret, ret->named.points[i].number, machine);
}

void fx_wanted_points_free(struct fx_wanted_points *points)
{
	fx_points_free(&points->named);
}
