/* SPDX-License-Identifier: MIT */
#include "manager/archive/share-barrier.h"

#include <stdlib.h>

static int compare_rounds(const void *a, const void *b)
{
	const struct fx_share_told *left = a, *right = b;

	return left->value < right->value ? -1 : left->value > right->value;
}

/* Those that say they are in the round of the first of `uses'. */
static size_t round_count(const struct fx_share_told *uses, size_t count)
{
	size_t n = 0;

	while (n < count && uses[n].value == uses[0].value)
		n++;
	return n;
}

/* Who filled it; NULL: nobody, or more than one, or not all say the same of how many a round is of. */
static const struct fx_share_told *round_last(const struct fx_share_told *uses, size_t count)
{
	const struct fx_share_told *last = NULL;

	for (size_t i = 0; i < count; i++) {
		if (uses[i].looked != count)
			return NULL;
		if (uses[i].kind != FX_SHARE_MEETS_LAST)
			continue;
		if (last)
			return NULL;
		last = &uses[i];
	}
	return last;
}

static void round_draw(struct fx_shares *shares, const struct fx_share_told *uses, size_t count,
		       const struct fx_share_told *last)
{
	const struct fx_point from = {last->provider, last->pid, last->shown, last->begin};

	for (size_t i = 0; i < count; i++)
		if (&uses[i] != last)
			fx_share_arrow(shares, &from, "pthread_barrier_wait", &uses[i]);
}

void fx_share_barrier(struct fx_shares *shares, struct fx_share *share)
{
	const struct fx_share_told *uses = share->uses.items, *last;
	enum fx_transfer_left why = FX_TRANSFER_LEFT_UNTRACED;
	size_t at = 0, count;

	qsort(share->uses.items, share->uses.count, sizeof(*share->uses.items), compare_rounds);
	for (int32_t round = 0; at < share->uses.count; round++, at += count) {
		count = round_count(&uses[at], share->uses.count - at);
		if (count > uses[at].looked)
			why = FX_TRANSFER_LEFT_ORDER;
		last = round_last(&uses[at], count);
		if (!last || last->value != round)
			break;
		round_draw(shares, &uses[at], count, last);
	}
	fx_share_leave(shares, share, at, why);
}
