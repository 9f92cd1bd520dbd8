/* SPDX-License-Identifier: MIT */
#include "manager/archive/share-rwlock.h"

#include <stdlib.h>

/* Releases before some time. */
struct rwlock_past {
	const struct fx_share_told *writer, *newest; /* NULL: none */
	uint64_t
	    others_until; /* of readers since the last writer, when all but the newest were over */
};

static int compare_times(const void *a, const void *b)
{
	const struct fx_share_told *left = a, *right = b;

	return left->end < right->end ? -1 : left->end > right->end;
}

static uint64_t reader_until(const struct fx_share_told *release)
{
	return release->after ? release->after : UINT64_MAX;
}

static void past_releases(struct rwlock_past *past, const struct fx_share_told *release)
{
	if (release->kind == FX_SHARE_WRITER_LEAVES) {
		past->writer = release;
		past->others_until = 0;
	} else if (past->newest && past->newest->kind == FX_SHARE_READER_LEAVES &&
		   past->others_until < reader_until(past->newest)) {
		past->others_until = reader_until(past->newest);
	}
	past->newest = release;
}

/* Drawn from that release, if it came while the wait was under way, or the lock was held against that then. */
static void rwlock_wait(struct fx_shares *shares, const struct fx_share_told *release,
			const struct fx_share_told *wait)
{
	struct fx_point from;

	if (!release || (release->end < wait->begin && !wait->looked) ||
	    (release->tid == wait->tid && release->provider == wait->provider)) {
		shares->counts.left[FX_TRANSFER_LEFT_UNTRACED] += wait->looked != 0;
		return;
	}
	from = (struct fx_point){release->provider, release->pid, release->shown, release->end};
	fx_share_arrow(shares, &from, "pthread_rwlock_unlock", wait);
}

void fx_share_rwlock(struct fx_shares *shares, struct fx_share *share)
{
	struct rwlock_past past = {.writer = NULL};

	qsort(share->uses.items, share->uses.count, sizeof(*share->uses.items), compare_times);
	for (size_t i = 0; i < share->uses.count; i++) {
		const struct fx_share_told *use = &share->uses.items[i];

		if (use->kind == FX_SHARE_READS)
			rwlock_wait(shares, past.writer, use);
		else if (use->kind != FX_SHARE_WRITES)
			past_releases(&past, use);
		else if (past.newest && past.others_until > past.newest->end)
			shares->counts.left[FX_TRANSFER_LEFT_ORDER]++;
		else
			rwlock_wait(shares, past.newest, use);
	}
}
