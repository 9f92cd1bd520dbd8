/* SPDX-License-Identifier: MIT */
#include "kernel/wanted-points.h"

#include <errno.h>
#include <string.h>

#include "kernel/follow.h"

static struct fx_kernel_point *points_find(struct fx_wanted_points *points, uint32_t number)
{
	for (unsigned i = 0; i < points->count; i++) {
		if (points->list[i].number == number)
			return &points->list[i];
	}
	return NULL;
}

/* What is wanted twice comes whenever one of both wants it. */
static void points_add(struct fx_wanted_points *points, uint32_t number, bool is_wide,
		       const char *filter)
{
	struct fx_kernel_point *same = number ? points_find(points, number) : NULL;

	if (same && !filter)
		same->filter = NULL;
	else if (number && !same)
		points->list[points->count++] = (struct fx_kernel_point){
		    .number = number, .is_wide = is_wide, .filter = filter};
}

void fx_wanted_points_find(uint32_t sets, const char *list, bool machine,
			   struct fx_wanted_points *ret)
{
	memset(ret, 0, sizeof(*ret));
	fx_tracepoints_find(sets & ~(uint32_t)(FX_KERNEL_FAULT | FX_KERNEL_POINTS),
			    &ret->tracepoints);
	for (unsigned i = 0; i < FX_TRACEPOINT_COUNT; i++) {
		/* programs of BPF take it, and nobody else */
		if (fx_tracepoint_set(i) == FX_KERNEL_TEXTS)
			continue;
		points_add(ret, ret->tracepoints.numbers[i],
			   fx_tracepoint_is_wide(i) ||
			       (machine && fx_tracepoint_set(i) == FX_KERNEL_WAKEUPS),
			   fx_tracepoint_filter(i));
	}
	if (sets & FX_KERNEL_POINTS)
		ret->is_cut =
		    fx_points_find(list, &ret->named, ret->unknown, sizeof(ret->unknown)) == -E2BIG;
	for (unsigned i = 0; i < ret->named.count; i++)
		points_add(ret, ret->named.points[i].number, machine, NULL);
}

uint32_t fx_wanted_points_whole(const struct fx_wanted_points *points)
{
	uint32_t sets = 0;

	for (unsigned i = 0; i < points->named.count; i++) {
		for (unsigned which = 0; which < FX_TRACEPOINT_COUNT; which++) {
			if (points->tracepoints.numbers[which] == points->named.points[i].number)
				sets |= fx_tracepoint_set(which);
		}
	}
	return sets;
}

void fx_wanted_points_follow(struct fx_wanted_points *points, const struct fx_follow *follow)
{
	for (unsigned i = 0; i < points->count; i++)
		points->list[i].is_followed = fx_follow_tells(follow, points->list[i].number);
}

void fx_wanted_points_free(struct fx_wanted_points *points)
{
	fx_points_free(&points->named);
}
