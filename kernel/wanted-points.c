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
static void points_add(struct fx_wanted_points *points, const struct fx_kernel_point *point)
{
	struct fx_kernel_point *same = point->number ? points_find(points, point->number) : NULL;

	if (same && !point->filter)
		same->filter = NULL;
	if (same)
		same->is_wanted_whole |= point->is_wanted_whole;
	else if (point->number)
		points->list[points->count++] = *point;
}

void fx_wanted_points_find(uint32_t sets, const char *list, bool machine,
			   struct fx_wanted_points *ret)
{
	memset(ret, 0, sizeof(*ret));
	fx_tracepoints_find(sets &
				~(uint32_t)(FX_KERNEL_FAULT | FX_KERNEL_POINTS | FX_KERNEL_PROBES),
			    &ret->tracepoints);
	for (unsigned i = 0; i < FX_TRACEPOINT_COUNT; i++) {
		const struct fx_kernel_point point = {
		    .number = ret->tracepoints.numbers[i],
		    .is_wide = fx_tracepoint_is_wide(i) ||
			       (machine && fx_tracepoint_set(i) == FX_KERNEL_WAKEUPS),
		    .filter = fx_tracepoint_filter(i),
		    .group = fx_tracepoint_group(i),
		    .name = fx_tracepoint_name(i),
		};

		/* programs of BPF take it, and nobody else */
		if (fx_tracepoint_set(i) != FX_KERNEL_TEXTS)
			points_add(ret, &point);
	}
	if (sets & FX_KERNEL_POINTS)
		ret->is_cut =
		    fx_points_find(list, &ret->named, ret->unknown, sizeof(ret->unknown)) == -E2BIG;
	for (unsigned i = 0; i < ret->named.count; i++)
		points_add(ret, &(struct fx_kernel_point){
				    .number = ret->named.points[i].number,
				    .is_wide = machine,
				    .group = fx_point_group(&ret->named.points[i]),
				    .name = ret->named.points[i].name,
				    .is_wanted_whole = true,
				});
}

void fx_wanted_points_follow(struct fx_wanted_points *points, struct fx_follow *follow,
			     bool everyone)
{
	for (unsigned i = 0; i < FX_TRACEPOINT_COUNT; i++) {
		if (points->tracepoints.numbers[i] &&
		    fx_follow_tells(follow, points->tracepoints.numbers[i]))
			points->followed |= 1u << i;
	}
	for (unsigned i = 0; i < points->count; i++) {
		struct fx_kernel_point *point = &points->list[i];

		if (!point->is_wanted_whole && fx_follow_tells(follow, point->number))
			point->is_followed = true;
		else if (!point->is_wide && !everyone)
			point->is_followed =
			    fx_follow_point(follow, point->number, point->group, point->name) == 0;
	}
}

void fx_wanted_points_free(struct fx_wanted_points *points)
{
	fx_points_free(&points->named);
}
