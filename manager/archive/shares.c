/* SPDX-License-Identifier: MIT */
#include "manager/archive/shares.h"

#include <stdlib.h>

#include "manager/archive/share-draw.h"
#include "manager/archive/stream.h"

/* Memory for what was told; what comes then is left out. */
#define SHARES_BYTES_MAX (UINT64_C(64) << 20)

void fx_shares_destroy(struct fx_shares *shares)
{
	struct fx_share *share, *next;

	HASH_ITER (hh, shares->shares, share, next) {
		HASH_DEL(shares->shares, share);
		fx_vector_free(&share->releases);
		fx_vector_free(&share->uses);
		free(share);
	}
	fx_vector_free(&shares->ends);
}

static struct fx_share *share_get(struct fx_shares *shares, uint64_t key)
{
	struct fx_share *share;

	HASH_FIND(hh, shares->shares, &key, sizeof(key), share);
	if (share)
		return share;
	share = calloc(1, sizeof(*share));
	if (!share)
		return NULL;
	share->key = key;
	HASH_ADD(hh, shares->shares, key, sizeof(share->key), share);
	if (share->lost) {
		free(share);
		return NULL;
	}
	shares->bytes += sizeof(*share);
	return share;
}

static int share_release_add(struct fx_share *share, const struct fx_share_told *told)
{
	share->is_open |= told->value != 0;
	if (fx_vector_reserve(&share->releases, 1) < 0)
		return -1;
	share->releases.items[share->releases.count++] =
	    (struct fx_share_release){told->end, told->provider, told->pid, told->shown, told->tid};
	return 0;
}

static int share_use_add(struct fx_share *share, const struct fx_share_told *told)
{
	share->is_inherited |= told->kind == FX_SHARE_INHERITS;
	if (fx_vector_reserve(&share->uses, 1) < 0)
		return -1;
	share->uses.items[share->uses.count++] = *told;
	return 0;
}

/* A reader's release is over. It was told just before; if it is not found, it counts as one that may still go on. */
static void share_reader_left(struct fx_share *share, const struct fx_share_told *told)
{
	const size_t count = share->uses.count, looks = count < 64 ? count : 64;

	for (size_t i = 1; i <= looks; i++) {
		struct fx_share_told *use = &share->uses.items[count - i];

		if (use->kind != FX_SHARE_READER_LEAVES || use->provider != told->provider ||
		    use->tid != told->tid)
			continue;
		if (!use->after)
			use->after = told->end;
		return;
	}
}

void fx_shares_take(struct fx_shares *shares, const struct fx_share_told *told)
{
	struct fx_share *share;
	int r = -1;

	if (told->kind == FX_SHARE_NOT_SAID && told->looked)
		shares->counts.left[FX_TRANSFER_LEFT_UNTRACED]++;
	if (told->kind == FX_SHARE_NOT_SAID && !told->key) {
		shares->is_doubtful = true;
		return;
	}
	share = shares->bytes < SHARES_BYTES_MAX ? share_get(shares, told->key) : NULL;
	if (share && told->kind == FX_SHARE_NOT_SAID) {
		share->is_odd = true;
		return;
	}
	if (told->kind == FX_SHARE_READER_LEFT) {
		if (share)
			share_reader_left(share, told);
		return;
	}
	if (share && told->kind == FX_SHARE_RELEASES)
		r = share_release_add(share, told);
	else if (share)
		r = share_use_add(share, told);
	shares->bytes += told->kind == FX_SHARE_RELEASES ? sizeof(struct fx_share_release)
							 : sizeof(struct fx_share_told);
	shares->is_full |= r < 0;
	if (r < 0 && fx_share_has_waited(told))
		shares->counts.left[FX_TRANSFER_LEFT_MANY]++;
}

/* Threads whose ends are remembered: a lock that one of the others had is waited for by nobody's end. */
#define SHARE_ENDS_MAX (1u << 18)

void fx_shares_end(struct fx_shares *shares, struct fx_stream *s, const struct fx_stream_end *end)
{
	const uint64_t heard = fx_stream_ns(s, end->ticks);
	struct fx_stream_thread *t, *next;

	shares->is_lossy |= fx_stream_is_lossy(s, end);
	HASH_ITER (hh, s->threads, t, next) {
		if (shares->ends.count >= SHARE_ENDS_MAX || fx_vector_reserve(&shares->ends, 1) < 0)
			return;
		shares->ends.items[shares->ends.count++] =
		    (struct fx_share_end){.provider = s->id,
					  .pid = s->pid,
					  .shown = t->shown,
					  .tid = t->tid,
					  .is_death = end->ending.is_death,
					  .alive = t->last_end,
					  .heard = heard};
	}
}

void fx_shares_finish(struct fx_shares *shares, bool is_doubtful)
{
	struct fx_share *share, *next;

	HASH_ITER (hh, shares->shares, share, next) {
		if (shares->is_lossy)
			fx_share_leave(shares, share, 0, FX_TRANSFER_LEFT_LOST);
		else if (shares->is_doubtful || is_doubtful || share->is_odd)
			fx_share_leave(shares, share, 0, FX_TRANSFER_LEFT_UNTRACED);
		else if (shares->is_full)
			fx_share_leave(shares, share, 0, FX_TRANSFER_LEFT_MANY);
		else
			fx_share_draw(shares, share);
	}
}
