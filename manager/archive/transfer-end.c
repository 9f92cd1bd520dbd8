/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "manager/archive/transfer-end.h"

#include <stdlib.h>

static int compare_transfers(const void *a, const void *b)
{
	const struct fx_transfer *left = a, *right = b;

	if (left->begin != right->begin)
		return left->begin < right->begin ? -1 : 1;
	if (left->end != right->end)
		return left->end < right->end ? -1 : 1;
	if (left->provider != right->provider)
		return left->provider < right->provider ? -1 : 1;
	return left->tid < right->tid ? -1 : left->tid > right->tid;
}

static const struct fx_runs_kind transfers_kind = {
    .size = sizeof(struct fx_transfer),
    .compare = compare_transfers,
};

void fx_transfer_end_init(struct fx_transfer_ends *ends, struct fx_transfer_end *end)
{
	fx_runs_init(&end->written, &ends->pool, &transfers_kind);
	fx_runs_init(&end->read, &ends->pool, &transfers_kind);
}

void fx_transfer_end_free(struct fx_transfer_end *end)
{
	fx_runs_release(&end->written);
	fx_runs_release(&end->read);
	free(end->whole);
	free(end->bound);
	free(end->meets);
	free(end);
}
