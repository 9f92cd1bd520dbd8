/* SPDX-License-Identifier: MIT */
#include "manager/archive/loose.h"

#include <stdlib.h>

void fx_loose_insert(struct fx_loose *loose, struct fx_loose_flow flow)
{
	size_t at = loose->flows.count++;

	for (; at && loose->flows.items[at - 1].ns > flow.ns; at--)
		loose->flows.items[at] = loose->flows.items[at - 1];
	loose->flows.items[at] = flow;
}

bool fx_loose_note(struct fx_loose *loose, uint64_t start, uint64_t end)
{
	size_t count = loose->flows.count;

	/* Calls come in the order of their ends, so most begin after all that is held. */
	if (!count || loose->flows.items[count - 1].ns < start || loose->flows.items[0].ns > end)
		return false;
	loose->start = start;
	loose->end = end;
	return true;
}

void fx_loose_move(struct fx_loose **from, struct fx_loose *to, uint32_t *ret_lost)
{
	struct fx_loose *loose = *from;

	*ret_lost = 0;
	if (!loose)
		return;
	if (fx_vector_reserve(&to->flows, loose->flows.count) < 0) {
		*ret_lost = (uint32_t)loose->flows.count;
	} else {
		for (size_t i = 0; i < loose->flows.count; i++)
			to->flows.items[to->flows.count++] = loose->flows.items[i];
		loose->flows.count = 0;
	}
	fx_loose_clear(loose);
	free(loose);
	*from = NULL;
}

void fx_loose_clear(struct fx_loose *loose)
{
	for (size_t i = 0; i < loose->flows.count; i++)
		free(loose->flows.items[i].record.words);
	fx_vector_free(&loose->flows);
}
