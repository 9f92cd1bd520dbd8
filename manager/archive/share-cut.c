/* SPDX-License-Identifier: MIT */
#include "manager/archive/share-cut.h"

static bool has_opened(const struct fx_share *share, const struct fx_share_end *end)
{
	for (size_t i = 0; i < share->openers.count; i++)
		if (share->openers.items[i] == end->pid)
			return true;
	return false;
}

/* When that thread was last known to be at nothing. False: its process has no part. */
static bool thread_cut(const struct fx_share *share, const struct fx_share_end *end, uint64_t *ns)
{
	bool has_part = has_opened(share, end), has_told = false;

	*ns = 0;
	for (size_t i = 0; i < share->uses.count; i++) {
		const struct fx_share_told *use = &share->uses.items[i];

		if (use->provider != end->provider)
			continue;
		has_part = true;
		if (use->tid == end->tid && use->end > *ns) {
			*ns = use->end;
			has_told = true;
		}
	}
	if (!has_told)
		*ns = end->alive;
	return has_part;
}

uint64_t fx_share_cut(const struct fx_shares *shares, const struct fx_share *share)
{
	uint64_t cut = UINT64_MAX, ns;

	for (size_t i = 0; i < shares->ends.count; i++)
		if (shares->ends.items[i].is_killed &&
		    thread_cut(share, &shares->ends.items[i], &ns) && ns < cut)
			cut = ns;
	return cut;
}
