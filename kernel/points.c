/* SPDX-License-Identifier: MIT */
#include "kernel/points.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/asked.h"
#include "kernel/point-format.h"

static int point_compare(const void *a, const void *b)
{
	const struct fx_point *left = a, *right = b;

	return (left->number > right->number) - (left->number < right->number);
}

bool fx_points_are_known(void)
{
	return fx_point_formats_are_known();
}

/* The first word that means none of them. */
static void unknown_find(const char *list, const struct fx_points *points, char *ret, size_t size)
{
	while (fx_asked_next(&list, ret, (unsigned)size)) {
		unsigned i = 0;

		while (i < points->count && !fx_asked_means(ret, fx_point_group(&points->points[i]),
							    points->points[i].name))
			i++;
		if (i == points->count)
			return;
	}
	ret[0] = 0;
}

int fx_points_find(const char *list, struct fx_points *ret, char *unknown, size_t size)
{
	int r;

	*ret = (struct fx_points){.count = 0};
	ret->points = calloc(FX_POINTS_MAX, sizeof(*ret->points));
	if (!ret->points)
		return -ENOMEM;
	r = fx_point_formats_read(list, ret);
	qsort(ret->points, ret->count, sizeof(*ret->points), point_compare);
	if (r == 0 || r == -E2BIG)
		unknown_find(list, ret, unknown, size);
	return r;
}

void fx_points_free(struct fx_points *points)
{
	for (unsigned i = 0; points->points && i < points->count; i++) {
		free((void *)points->points[i].category);
		free((void *)points->points[i].fields);
	}
	fx_point_formats_free(points->formats);
	free(points->points);
	*points = (struct fx_points){.count = 0};
}

const struct fx_point *fx_points_of(const struct fx_points *points, const uint8_t *bytes,
				    size_t size)
{
	struct fx_point wanted = {.number = 0};
	uint16_t number;

	if (!points->count || size < sizeof(number))
		return NULL;
	memcpy(&number, bytes, sizeof(number));
	wanted.number = number;
	return bsearch(&wanted, points->points, points->count, sizeof(wanted), point_compare);
}

/* The category has it behind a word. */
const char *fx_point_group(const struct fx_point *point)
{
	return strchr(point->category, ':') + 1;
}

/* A record that was cut (FX_FOLLOW_RECORD_MAX) has the begin of what lies elsewhere, or nothing. No field is where the record's own number is: that
 * is said of what was not copied at all. */
const uint8_t *fx_point_bytes(const struct fx_point_field *field, const uint8_t *bytes, size_t size,
			      size_t *ret_size)
{
	size_t at = field->offset, length = field->size;
	uint32_t where; /* the place, and in the upper half the size */

	if (at > size || length > size - at)
		return NULL;
	if (field->is_elsewhere) {
		if (length != sizeof(where))
			return NULL;
		memcpy(&where, bytes + at, sizeof(where));
		at = (where & 0xffff) + (field->is_relative ? at + sizeof(where) : 0);
		length = where >> 16;
		if (at < sizeof(where) || at > size || (length && at == size))
			return NULL;
		if (length > size - at)
			length = size - at;
	}
	*ret_size = length;
	return bytes + at;
}
