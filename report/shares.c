/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <errno.h>
#include <stdlib.h>

#include "report/shares.h"

int fx_shares_add(struct fx_shares *shares, size_t object, uint32_t sharer, uint64_t time)
{
	size_t number =
	    fx_keys_number(&shares->keys, (struct fx_key){.address = object, .numbers = {sharer}});

	if (number == FX_KEY_NONE)
		return 0;
	/* Keys that there was no memory for before have no time. */
	while (number >= shares->times.count) {
		if (fx_vector_reserve(&shares->times, 1) < 0)
			return -ENOMEM;
		shares->times.items[shares->times.count++] = 0;
	}
	shares->times.items[number] += time;
	return 0;
}

static int shares_compare(const void *a, const void *b)
{
	const struct fx_share *left = a, *right = b;

	if (left->object != right->object)
		return left->object > right->object ? 1 : -1;
	if (left->time != right->time)
		return left->time < right->time ? 1 : -1;
	return left->number > right->number ? 1 : -1;
}

struct fx_share *fx_shares_sorted(const struct fx_shares *shares)
{
	size_t count = shares->times.count;
	struct fx_share *sorted = calloc(count + 1, sizeof(*sorted));

	if (!sorted)
		return NULL;
	for (size_t i = 0; i < count; i++) {
		const struct fx_key *key = &shares->keys.keys.items[i];

		sorted[i] = (struct fx_share){key->address, shares->times.items[i], key->numbers[0],
					      (uint32_t)i};
	}
	qsort(sorted, count, sizeof(*sorted), shares_compare);
	sorted[count].object = SIZE_MAX;
	return sorted;
}

size_t fx_shares_of(const struct fx_share **at, size_t object)
{
	size_t count = 0;

	while ((*at)->object < object)
		(*at)++;
	while ((*at)[count].object == object)
		count++;
	return count;
}

void fx_shares_free(struct fx_shares *shares)
{
	fx_keys_free(&shares->keys);
	fx_vector_free(&shares->times);
}
