/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <string.h>

#include "convert/provider.h"

void fx_timeline_provider_free(struct fx_timeline_provider *provider)
{
	for (size_t i = 0; i < provider->slots.count; i++)
		fx_vector_free(&provider->slots.items[i].meanings);
	fx_vector_free(&provider->slots);
	free(provider);
}

static int make_slot(struct fx_timeline_provider *provider, uint16_t index)
{
	size_t missing;

	if (index < provider->slots.count)
		return 0;
	missing = (size_t)index + 1 - provider->slots.count;
	if (fx_vector_reserve(&provider->slots, missing) < 0)
		return -ENOMEM;
	memset(provider->slots.items + provider->slots.count, 0,
	       missing * sizeof(*provider->slots.items));
	provider->slots.count += missing;
	return 0;
}

int fx_timeline_provider_define(struct fx_timeline_provider *provider, uint16_t index,
				uint64_t word, const struct fx_text *text)
{
	struct fx_string_slot *slot;

	if (make_slot(provider, index) < 0)
		return -ENOMEM;
	slot = &provider->slots.items[index];
	if (slot->meanings.count > 0 && slot->meanings.items[slot->meanings.count - 1].text == text)
		return 0;
	if (fx_vector_reserve(&slot->meanings, 1) < 0)
		return -ENOMEM;
	slot->meanings.items[slot->meanings.count++] = (struct fx_string_meaning){word, text};
	return 0;
}

const struct fx_text *fx_string_slot_search_(const struct fx_string_slot *slot, uint64_t word)
{
	size_t low = 0, high = slot->meanings.count;

	while (low < high) { /* the first meaning behind @word */
		size_t middle = low + (high - low) / 2;

		if (slot->meanings.items[middle].word <= word)
			low = middle + 1;
		else
			high = middle;
	}
	return low > 0 ? slot->meanings.items[low - 1].text : NULL;
}
