/* SPDX-License-Identifier: MIT */
#include "symbols/line-map.h"

#include <errno.h>
#include <stdlib.h>

int fx_line_map_add(struct fx_line_map *places, const struct fx_line_place *place, uint32_t *ret)
{
	if (places->places.count >= FX_NO_PLACE)
		return -EFBIG;
	if (fx_vector_reserve(&places->places, 1) < 0)
		return -ENOMEM;
	*ret = (uint32_t)places->places.count;
	places->places.items[places->places.count++] = *place;
	return 0;
}

int fx_line_map_add_row(struct fx_line_map *places, uint64_t start, uint32_t place)
{
	if (fx_vector_reserve(&places->rows, 1) < 0)
		return -ENOMEM;
	places->rows.items[places->rows.count++] =
	    (struct fx_line_row){.start = start, .place = place};
	return 0;
}

/* At one address, those without a place first: where one piece of code ends another may begin. */
static int place_row_compare(const void *left, const void *right)
{
	const struct fx_line_row *a = left, *b = right;

	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	return (a->place != FX_NO_PLACE) - (b->place != FX_NO_PLACE);
}

void fx_line_map_settle(struct fx_line_map *places)
{
	struct fx_line_row *rows = places->rows.items;
	size_t kept = 0;

	if (!places->rows.count)
		return;
	qsort(rows, places->rows.count, sizeof(*rows), place_row_compare);
	for (size_t i = 0; i < places->rows.count; i++) {
		if (kept && rows[kept - 1].start == rows[i].start)
			kept--;
		rows[kept++] = rows[i];
	}
	places->rows.count = kept;
}

uint32_t fx_line_map_find(const struct fx_line_map *places, uint64_t address)
{
	size_t low = 0,
	       high = places->rows.count; /* in the end at low: the first row behind the address */

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (places->rows.items[middle].start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? places->rows.items[low - 1].place : FX_NO_PLACE;
}

bool fx_line_map_is_sound(const struct fx_line_map *places, size_t names_size)
{
	for (size_t i = 0; i < places->places.count; i++) {
		const struct fx_line_place *p = &places->places.items[i];

		if (p->file >= names_size || p->function >= names_size ||
		    (p->outer != FX_NO_PLACE && p->outer >= i))
			return false;
	}
	for (size_t i = 0; i < places->rows.count; i++) {
		const struct fx_line_row *row = &places->rows.items[i];

		if ((row->place != FX_NO_PLACE && row->place >= places->places.count) ||
		    (i && row->start <= row[-1].start))
			return false;
	}
	return true;
}

size_t fx_line_map_memory(const struct fx_line_map *places)
{
	return places->places.capacity * sizeof(*places->places.items) +
	       places->rows.capacity * sizeof(*places->rows.items);
}

void fx_line_map_clear(struct fx_line_map *places)
{
	fx_vector_free(&places->places);
	fx_vector_free(&places->rows);
}
