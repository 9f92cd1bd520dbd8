/* SPDX-License-Identifier: MIT */
#include "manager/archive/share-draw.h"

#include <stdlib.h>

#include "manager/archive/share-barrier.h"
#include "manager/archive/share-condition.h"
#include "manager/archive/share-rwlock.h"
#include "manager/archive/transfer-match.h"

/* --- Mutexes ---------------------------------------------------------------------------------- */

static int compare_releases(const void *a, const void *b)
{
	const struct fx_share_release *left = a, *right = b;

	return left->ns < right->ns ? -1 : left->ns > right->ns;
}

static int compare_use_ends(const void *a, const void *b)
{
	const struct fx_share_told *left = a, *right = b;

	return left->end < right->end ? -1 : left->end > right->end;
}

/* Of the releases by time, how many came before that one. */
static size_t releases_before(const struct fx_share *share, uint64_t ns)
{
	size_t low = 0, high = share->releases.count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (share->releases.items[middle].ns < ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/*
 * Whether the holder that a wait has seen was the next to release the mutex. It was seen between begin and looked; and it may have
 * read the time for its release before that.
 */
static bool holder_releases(const struct fx_share *share, const struct fx_share_told *wait)
{
	size_t first = releases_before(share, wait->begin);

	if (!wait->value)
		return true;
	for (size_t i = first ? first - 1 : 0; i < share->releases.count; i++) {
		if (share->releases.items[i].tid == (uint32_t)wait->value)
			return true;
		if (share->releases.items[i].ns > wait->looked)
			return false;
	}
	return false;
}

/* Or whether it has ended as the owner. */
static bool holder_ends(const struct fx_share *share, const struct fx_share_told *wait)
{
	for (size_t i = 0; share->is_inherited && i < share->uses.count; i++) {
		if (share->uses.items[i].kind == FX_SHARE_INHERITS &&
		    share->uses.items[i].end > wait->begin)
			return true;
	}
	return false;
}

static bool mutex_is_ours(const struct fx_share *share)
{
	for (size_t i = 0; i < share->uses.count; i++) {
		const struct fx_share_told *use = &share->uses.items[i];

		if (use->kind == FX_SHARE_HAS && !holder_releases(share, use) &&
		    !holder_ends(share, use))
			return false;
	}
	return true;
}

/* The end of that thread of a process; NULL: none is known, or more than one. */
static const struct fx_share_end *end_find(const struct fx_shares *shares, uint32_t tid)
{
	const struct fx_share_end *found = NULL;

	for (size_t i = 0; i < shares->ends.count; i++) {
		if (shares->ends.items[i].tid != tid)
			continue;
		if (found)
			return NULL;
		found = &shares->ends.items[i];
	}
	return found;
}

/* From the end of the owner: who was seen to have it, if nobody has released it since. */
static void mutex_draw_inherited(struct fx_shares *shares, const struct fx_share *share,
				 const struct fx_share_told *wait)
{
	const struct fx_share_end *end = end_find(shares, (uint32_t)wait->value);
	struct fx_point from;

	if (!wait->looked || (end && end->is_death && end->heard < wait->begin))
		return;
	if (!wait->value || !end || end->alive >= wait->end ||
	    (end->tid == wait->tid && end->provider == wait->provider)) {
		shares->counts.left[FX_TRANSFER_LEFT_UNTRACED]++;
		return;
	}
	if (releases_before(share, wait->end) != releases_before(share, wait->begin)) {
		shares->counts.left[FX_TRANSFER_LEFT_ORDER]++;
		return;
	}
	from = (struct fx_point){end->provider, end->pid, end->shown, wait->end - 1};
	if (end->is_death && end->heard < from.ns)
		from.ns = end->heard;
	fx_share_arrow(shares, &from, "ends as the owner", wait);
}

/*
 * Whether the newest release before a wait's end had not let the mutex go as the wait began: it began later, or the wait has seen its thread.
 * Where all are traced, the mutex was held by that one if by anybody, for who held it must have released it since.
 */
static bool was_under_way(const struct fx_share *share, const struct fx_share_release *last,
			  const struct fx_share_told *wait)
{
	return last->ns >= wait->begin || last->tid == (uint32_t)wait->value ||
	       (wait->looked && !share->is_open);
}

static void mutex_draw_wait(struct fx_shares *shares, const struct fx_share *share,
			    const struct fx_share_told *wait)
{
	size_t before = releases_before(share, wait->end);
	const struct fx_share_release *last = before ? &share->releases.items[before - 1] : NULL;
	struct fx_point from;

	if (!last || (last->tid == wait->tid && last->provider == wait->provider) ||
	    !was_under_way(share, last, wait)) {
		shares->counts.left[FX_TRANSFER_LEFT_UNTRACED] += wait->looked != 0;
		return;
	}
	from = (struct fx_point){last->provider, last->pid, last->shown, last->ns};
	fx_share_arrow(shares, &from, "pthread_mutex_unlock", wait);
}

static void mutex_draw(struct fx_shares *shares, struct fx_share *share)
{
	if (share->releases.count)
		qsort(share->releases.items, share->releases.count, sizeof(*share->releases.items),
		      compare_releases);
	qsort(share->uses.items, share->uses.count, sizeof(*share->uses.items), compare_use_ends);
	if (!mutex_is_ours(share)) {
		fx_share_leave(shares, share, 0, FX_TRANSFER_LEFT_UNTRACED);
		return;
	}
	for (size_t i = 0; i < share->uses.count; i++) {
		const struct fx_share_told *use = &share->uses.items[i];

		if (use->kind == FX_SHARE_INHERITS)
			mutex_draw_inherited(shares, share, use);
		else
			mutex_draw_wait(shares, share, use);
	}
}

/* --- Semaphores ------------------------------------------------------------------------------- */

/* What is done with a semaphore, as of a channel: calls whose provider is the number of a use, or NOBODY. */
struct share_channel {
	FX_VECTOR(struct fx_transfer) writes, reads;
	bool is_short; /* of memory */
};

#define NOBODY UINT32_MAX

static int compare_use_begins(const void *a, const void *b)
{
	const struct fx_share_told *left = a, *right = b;

	return left->begin < right->begin ? -1 : left->begin > right->begin;
}

static int compare_calls(const void *a, const void *b)
{
	const struct fx_transfer *left = a, *right = b;

	return left->begin < right->begin ? -1 : left->begin > right->begin;
}

static void channel_writes(struct share_channel *c, uint32_t use, uint64_t begin, uint64_t end,
			   uint64_t units)
{
	if (fx_vector_reserve(&c->writes, 1) < 0)
		c->is_short = true;
	else
		c->writes.items[c->writes.count++] = (struct fx_transfer){
		    .begin = begin, .end = end, .bytes = units, .provider = use};
}

/* A unit, or, with FX_TRANSFER_EMPTY, that there was none. */
static void channel_reads(struct share_channel *c, uint32_t use, uint64_t begin, uint64_t end,
			  uint32_t marks)
{
	if (fx_vector_reserve(&c->reads, 1) < 0)
		c->is_short = true;
	else
		c->reads.items[c->reads.count++] = (struct fx_transfer){
		    .begin = begin, .end = end, .bytes = !marks, .provider = use, .marks = marks};
}

/* When it had looked at the semaphore, at the latest. */
static uint64_t use_has_looked(const struct fx_share_told *use)
{
	return use->looked ? use->looked : use->end;
}

/* The first that was alone as it looked; `count': there is none. */
static size_t first_alone(const struct fx_share_told *uses, size_t count)
{
	uint64_t busy = 0;

	for (size_t i = 0; i < count; i++) {
		if (uses[i].begin > busy &&
		    (i + 1 == count || uses[i + 1].begin > use_has_looked(&uses[i])))
			return i;
		if (uses[i].end > busy)
			busy = uses[i].end;
	}
	return count;
}

static void channel_fill(struct share_channel *c, const struct fx_share *share, size_t first)
{
	const struct fx_share_told *uses = share->uses.items;
	uint64_t there = uses[first].looked ? 0 : (uint64_t)uses[first].value;

	channel_reads(c, NOBODY, 0, 0, FX_TRANSFER_EMPTY);
	if (there)
		channel_writes(c, NOBODY, 1, 1, there);
	for (size_t i = first; i < share->uses.count; i++) {
		const struct fx_share_told *use = &uses[i];

		if (use->kind == FX_SHARE_POSTS) {
			channel_writes(c, (uint32_t)i, use->begin, use->end, 1);
			continue;
		}
		if (use->looked)
			channel_reads(c, NOBODY, use->begin, use->looked, FX_TRANSFER_EMPTY);
		channel_reads(c, (uint32_t)i, use->looked ? use->looked + 1 : use->begin, use->end,
			      0);
		if (use->after)
			channel_reads(c, NOBODY, use->end + 1, use->after, FX_TRANSFER_EMPTY);
	}
	if (c->reads.count)
		qsort(c->reads.items, c->reads.count, sizeof(*c->reads.items), compare_calls);
}

static void semaphore_draw_take(struct fx_shares *shares, const struct fx_share *share,
				const struct fx_share_told *take, const struct fx_transfer *write)
{
	const struct fx_share_told *post =
	    write && write->provider != NOBODY ? &share->uses.items[write->provider] : NULL;
	struct fx_point from;

	if (!post || post->end < take->begin) {
		shares->counts.left[FX_TRANSFER_LEFT_ORDER]++;
		return;
	}
	if (post->tid == take->tid && post->provider == take->provider)
		return;
	from = (struct fx_point){post->provider, post->pid, post->shown, post->begin};
	fx_share_arrow(shares, &from, "sem_post", take);
}

static void semaphore_draw_all(struct fx_shares *shares, const struct fx_share *share,
			       const struct share_channel *c, const struct fx_match_result *result)
{
	for (size_t i = 0; i < c->reads.count; i++) {
		const struct fx_transfer *read = &c->reads.items[i];
		const struct fx_match *match = &result->matches[i];
		const struct fx_share_told *take =
		    read->provider != NOBODY ? &share->uses.items[read->provider] : NULL;

		if (!take || !take->looked)
			continue;
		if (result->contradicts)
			shares->counts.left[FX_TRANSFER_LEFT_UNTRACED]++;
		else
			semaphore_draw_take(shares, share, take,
					    match->verdict == FX_MATCH_FOUND
						? &c->writes.items[match->from]
						: NULL);
	}
}

static void semaphore_draw(struct fx_shares *shares, struct fx_share *share)
{
	struct share_channel c = {0};
	struct fx_match_result result = {0};
	size_t first;

	qsort(share->uses.items, share->uses.count, sizeof(*share->uses.items), compare_use_begins);
	first = first_alone(share->uses.items, share->uses.count);
	for (size_t i = 0; i < first; i++)
		shares->counts.left[FX_TRANSFER_LEFT_ORDER] += share->uses.items[i].looked != 0;
	if (first < share->uses.count) {
		channel_fill(&c, share, first);
		if (c.is_short || fx_transfer_match(c.writes.items, c.writes.count, c.reads.items,
						    c.reads.count, 0, &result) < 0)
			result.contradicts = true;
		semaphore_draw_all(shares, share, &c, &result);
	}
	free(result.matches);
	free(result.makers);
	fx_vector_free(&c.writes);
	fx_vector_free(&c.reads);
}

/* Which kind of lock a use is one of. */
enum share_class { CLASS_MUTEX, CLASS_SEMAPHORE, CLASS_BARRIER, CLASS_RWLOCK, CLASS_CONDITION };

static enum share_class use_class(const struct fx_share_told *use)
{
	if (use->kind <= FX_SHARE_HAS || use->kind == FX_SHARE_INHERITS)
		return CLASS_MUTEX;
	if (use->kind <= FX_SHARE_TAKES)
		return CLASS_SEMAPHORE;
	if (use->kind <= FX_SHARE_MEETS_LAST)
		return CLASS_BARRIER;
	return use->kind <= FX_SHARE_WRITES ? CLASS_RWLOCK : CLASS_CONDITION;
}

/* Memory that is one kind of lock first, and then another. */
static bool share_is_mixed(const struct fx_share *share)
{
	enum share_class first = use_class(&share->uses.items[0]);

	for (size_t i = 1; i < share->uses.count; i++)
		if (use_class(&share->uses.items[i]) != first)
			return true;
	return share->releases.count && first != CLASS_MUTEX;
}

void fx_share_draw(struct fx_shares *shares, struct fx_share *share)
{
	static void (*const draw[])(struct fx_shares *, struct fx_share *) = {
	    [CLASS_MUTEX] = mutex_draw,
	    [CLASS_SEMAPHORE] = semaphore_draw,
	    [CLASS_BARRIER] = fx_share_barrier,
	    [CLASS_RWLOCK] = fx_share_rwlock,
	    [CLASS_CONDITION] = fx_share_condition,
	};

	if (share->uses.count == 0)
		return;
	if (share_is_mixed(share))
		fx_share_leave(shares, share, 0, FX_TRANSFER_LEFT_ORDER);
	else
		draw[use_class(&share->uses.items[0])](shares, share);
}
