/* SPDX-License-Identifier: MIT */
#include "convert/flow-ends.h"

int fx_flow_ends_compare(const void *left, const void *right)
{
	const struct fx_flow_end *a = left, *b = right;

	if (a->chain != b->chain)
		return a->chain < b->chain ? -1 : 1;
	if (a->ts != b->ts)
		return a->ts < b->ts ? -1 : 1;
	if (a->role != b->role)
		return a->role < b->role ? -1 : 1;
	return (a->slice > b->slice) - (a->slice < b->slice);
}
