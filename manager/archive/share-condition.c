/* SPDX-License-Identifier: MIT */
#include "manager/archive/share-condition.h"

#include <stdlib.h>

/* So many that may have woken a thread are looked at. */
#define SIGNALS_LOOK 4096u

/* So often all waits are gone through, as long as that tells more. */
#define PASSES_MAX 16u

struct cond_signal {
	const struct fx_share_told *use;
	uint64_t begin, over;	    /* UINT64_MAX: it may still go on */
	uint64_t over_max, row_max; /* of this one and all before it */
	bool has_woken;		    /* it is known whom: one that wakes no other */
};

struct cond_wait {
	const struct fx_share_told *use;
	uint64_t end_max; /* of this one and all that stand before it in the row */
	const struct cond_signal *by;
};

struct cond_work {
	FX_VECTOR(struct cond_signal) signals; /* by begin */
	FX_VECTOR(struct cond_wait) waits;     /* by their place in the row */
	FX_VECTOR(const struct fx_share_told *)
	overs;		/* by who told them, and when the signal began */
	uint64_t known; /* all that stand before this place are known */
};

static int compare_signals(const void *a, const void *b)
{
	const struct cond_signal *left = a, *right = b;

	return left->begin < right->begin ? -1 : left->begin > right->begin;
}

static int compare_places(const void *a, const void *b)
{
	const struct cond_wait *left = a, *right = b;

	return left->use->looked < right->use->looked ? -1 : left->use->looked > right->use->looked;
}

static uint64_t cond_place(const struct cond_wait *wait)
{
	return wait->use->looked;
}

static uint64_t larger(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static int compare_overs(const void *a, const void *b)
{
	const struct fx_share_told *left = *(const struct fx_share_told *const *)a,
				   *right = *(const struct fx_share_told *const *)b;

	if (left->provider != right->provider)
		return left->provider < right->provider ? -1 : 1;
	if (left->tid != right->tid)
		return left->tid < right->tid ? -1 : 1;
	return left->begin < right->begin ? -1 : left->begin > right->begin;
}

static int work_fill(struct cond_work *work, const struct fx_share *share)
{
	for (size_t i = 0; i < share->uses.count; i++) {
		const struct fx_share_told *use = &share->uses.items[i];

		if (fx_vector_reserve(&work->waits, 1) < 0 ||
		    fx_vector_reserve(&work->overs, 1) < 0 ||
		    fx_vector_reserve(&work->signals, 1) < 0)
			return -1;
		if (use->kind == FX_SHARE_WAKES)
			work->waits.items[work->waits.count++] = (struct cond_wait){.use = use};
		else if (use->kind == FX_SHARE_SIGNALLED)
			work->overs.items[work->overs.count++] = use;
		else
			work->signals.items[work->signals.count++] =
			    (struct cond_signal){.use = use, .begin = use->end};
	}
	return 0;
}

/* When a call was over, as its thread said. */
static uint64_t signal_over(const struct cond_work *work, const struct cond_signal *signal)
{
	const struct fx_share_told **over =
	    bsearch(&signal->use, work->overs.items, work->overs.count, sizeof(*work->overs.items),
		    compare_overs);

	return over ? (*over)->end : UINT64_MAX;
}

static void work_order(struct cond_work *work)
{
	struct cond_signal *signals = work->signals.items;
	struct cond_wait *waits = work->waits.items;

	qsort(signals, work->signals.count, sizeof(*signals), compare_signals);
	qsort(waits, work->waits.count, sizeof(*waits), compare_places);
	if (work->overs.count)
		qsort(work->overs.items, work->overs.count, sizeof(*work->overs.items),
		      compare_overs);
	for (size_t i = 0; i < work->signals.count; i++) {
		signals[i].over = work->overs.count ? signal_over(work, &signals[i]) : UINT64_MAX;
		signals[i].over_max = larger(signals[i].over, i ? signals[i - 1].over_max : 0);
		signals[i].row_max = larger(signals[i].use->looked, i ? signals[i - 1].row_max : 0);
	}
	for (size_t i = 0; i < work->waits.count; i++)
		waits[i].end_max = larger(waits[i].use->end, i ? waits[i - 1].end_max : 0);
	while (work->known < work->waits.count && cond_place(&waits[work->known]) == work->known)
		work->known++;
}

/* The signals that began before that. */
static size_t signals_before(const struct cond_work *work, uint64_t ns)
{
	size_t low = 0, high = work->signals.count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (work->signals.items[middle].begin < ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* (The row begins anew where a condition is made in the place of another one; what was over before the wait began has not found it.) */
static bool found_in_row(const struct cond_signal *signal, const struct cond_wait *wait)
{
	return signal->use->looked > cond_place(wait) && signal->over >= wait->use->begin;
}

/* Whether another wait may have been the one that the signal has woken. */
static bool others_may_wake(const struct cond_work *work, const struct cond_signal *signal,
			    const struct cond_wait *wait)
{
	size_t i = (size_t)signal->use->looked;

	/* Who comes next into the row may have come before the signal was over. */
	if (signal->use->looked >= work->known || work->waits.items[i].use->begin <= signal->over)
		return true;
	while (i-- > 0 && work->waits.items[i].end_max >= signal->begin) {
		const struct cond_wait *other = &work->waits.items[i];

		if (other != wait && other->use->end >= signal->begin &&
		    !(other->by && other->by != signal && other->by->over < signal->begin))
			return true;
	}
	return false;
}

/* Whether a wait that was not over before that is over by it. */
static bool must_wake(const struct cond_work *work, const struct cond_signal *signal,
		      const struct cond_wait *wait)
{
	if (!found_in_row(signal, wait) || signal->has_woken)
		return false;
	return signal->use->kind == FX_SHARE_BROADCASTS || !others_may_wake(work, signal, wait);
}

static bool may_wake(const struct cond_signal *signal, const struct cond_wait *wait)
{
	return !signal->has_woken &&
	       (found_in_row(signal, wait) || signal->over >= wait->use->begin);
}

/* The first signal that may have woken it; *end: behind the last. */
static size_t wakers_first(const struct cond_work *work, const struct cond_wait *wait, size_t *end)
{
	size_t first = *end = signals_before(work, wait->use->end);

	while (first > 0 && *end - first < SIGNALS_LOOK &&
	       (work->signals.items[first - 1].over_max >= wait->use->begin ||
		work->signals.items[first - 1].row_max > cond_place(wait)))
		first--;
	return first;
}

/* How many may have woken it, of those that began before one was over that must have; *ret: one of them. */
static size_t wakers_count(const struct cond_work *work, const struct cond_wait *wait,
			   struct cond_signal **ret)
{
	uint64_t until = UINT64_MAX;
	size_t count = 0, end, i = wakers_first(work, wait, &end);

	if (end - i >= SIGNALS_LOOK)
		return SIGNALS_LOOK;
	for (; i < end && work->signals.items[i].begin <= until; i++) {
		struct cond_signal *signal = &work->signals.items[i];

		if (!may_wake(signal, wait))
			continue;
		*ret = signal;
		count++;
		if (signal->over < until && must_wake(work, signal, wait))
			until = signal->over;
	}
	return count;
}

/* True: it is known now. */
static bool wait_settle(const struct cond_work *work, struct cond_wait *wait)
{
	struct cond_signal *by;

	if (wakers_count(work, wait, &by) != 1)
		return false;
	wait->by = by;
	by->has_woken = by->use->kind == FX_SHARE_SIGNALS;
	return true;
}

static void waits_settle(struct cond_work *work)
{
	bool more = true;

	for (unsigned pass = 0; more && pass < PASSES_MAX; pass++) {
		more = false;
		for (size_t i = 0; i < work->waits.count; i++) {
			struct cond_wait *wait = &work->waits.items[i];

			if (!wait->by && !wait->use->value)
				more |= wait_settle(work, wait);
		}
	}
}

static void wait_draw(struct fx_shares *shares, const struct cond_wait *wait)
{
	const struct fx_share_told *by = wait->by ? wait->by->use : NULL;
	struct fx_point from;

	if (wait->use->value)
		return;
	if (!by) {
		shares->counts.left[FX_TRANSFER_LEFT_ORDER]++;
		return;
	}
	from = (struct fx_point){by->provider, by->pid, by->shown, by->end};
	fx_share_arrow(shares, &from,
		       by->kind == FX_SHARE_SIGNALS ? "pthread_cond_signal"
						    : "pthread_cond_broadcast",
		       wait->use);
}

void fx_share_condition(struct fx_shares *shares, struct fx_share *share)
{
	struct cond_work work = {.known = 0};

	if (work_fill(&work, share) < 0) {
		fx_share_leave(shares, share, 0, FX_TRANSFER_LEFT_MANY);
	} else if (work.waits.count && work.signals.count) {
		work_order(&work);
		waits_settle(&work);
	}
	for (size_t i = 0; i < work.waits.count; i++)
		wait_draw(shares, &work.waits.items[i]);
	fx_vector_free(&work.signals);
	fx_vector_free(&work.waits);
	fx_vector_free(&work.overs);
}
