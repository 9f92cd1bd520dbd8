/* SPDX-License-Identifier: MIT */
#include "manager/archive/signal-ties.h"

#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"

/* Beyond these the signal of a process has no arrows: the work stays small, whatever is told. */
#define WINDOW_MAX 512u
#define GROUPS_MAX 256u

/* From here on every single one is queued. */
#define FIRST_QUEUED 32

#define SIGNALS 64

/* No pid comes again so soon; a child may be sent a signal before it is heard of. */
#define BIRTH_GRACE_NS UINT64_C(1000000000)

bool fx_signals_add(struct fx_signals *signals, const struct fx_signal *signal)
{
	struct fx_signal *told = signals->told;
	size_t room = signals->room;

	if (signals->full || signal->signal <= 0 || signal->signal > SIGNALS ||
	    signal->begin > signal->end)
		return false;
	if (signals->count == room) {
		room = room ? 2 * room : 64;
		told = room > FX_SIGNALS_MAX ? NULL : realloc(told, room * sizeof(*told));
		if (!told) {
			fx_signals_forget(signals);
			signals->full = true;
			return false;
		}
		signals->told = told;
		signals->room = room;
	}
	signals->told[signals->count++] = *signal;
	return true;
}

void fx_signals_forget(struct fx_signals *signals)
{
	free(signals->told);
	*signals = (struct fx_signals){.full = signals->full};
}

/* --- Order ------------------------------------------------------------------------------------ */

static int compare(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

static int by_number(const void *a, const void *b)
{
	const struct fx_signal *x = a, *y = b;
	int r = compare(x->provider, y->provider);

	return r ? r : compare(x->number, y->number);
}

static uint32_t target(const struct fx_signal *s)
{
	return s->taken ? s->pid : s->other;
}

static int by_queue(const struct fx_signal *x, const struct fx_signal *y)
{
	int r = compare(target(x), target(y));

	return r ? r : compare((uint64_t)x->signal, (uint64_t)y->signal);
}

/* Of a process and signal first what was sent, as it began, then what was taken, as it ended. */
static int by_time(const void *a, const void *b)
{
	const struct fx_signal *x = a, *y = b;
	int r = by_queue(x, y);

	if (!r)
		r = compare(x->taken, y->taken);
	if (!r)
		r = x->taken ? compare(x->end, y->end) : compare(x->begin, y->begin);
	if (!r)
		r = compare(x->provider, y->provider);
	return r ? r : compare(x->number, y->number);
}

/* Processes of which something is missing between the first and the last that they told. */
static void find_torn(struct fx_signals *signals)
{
	struct fx_signal *s = signals->told;
	size_t from = 0, to;

	qsort(s, signals->count, sizeof(*s), by_number);
	for (; from < signals->count; from = to) {
		bool torn = false;

		for (to = from + 1; to < signals->count && s[to].provider == s[from].provider; to++)
			torn = torn || s[to].number != s[to - 1].number + 1;
		for (size_t i = from; i < to; i++)
			s[i].torn = torn;
	}
}

/* --- One signal of one process ---------------------------------------------------------------- */

struct queue {
	struct fx_signal **sent; /* by their begin; those to groups are copies */
	size_t count;
	size_t first; /* all before are gone */
	/* Of those that are queued one by one: how many are doubtful, and how many of these were taken. */
	size_t doubtful, lost;
};

/* Those that a take may have met, in order. */
struct choice {
	struct fx_signal *sent[WINDOW_MAX];
	size_t count;
};

static bool to_thread(const struct fx_signal *sent, const struct fx_signal *taken)
{
	return sent->thread == taken->tid || sent->thread == FX_SIGNAL_ANY_THREAD;
}

static bool may_be(const struct fx_signal *sent, const struct fx_signal *taken)
{
	if (sent->state == FX_SIGNAL_GONE || sent->begin > taken->end ||
	    (taken->other && sent->pid != taken->other) ||
	    (sent->thread && !to_thread(sent, taken)) ||
	    sent->begin + BIRTH_GRACE_NS < taken->since)
		return false;
	/* not every kernel tells a signal to a thread from one to its process */
	return taken->way == FX_SIGNAL_UNKNOWN || taken->way == sent->way ||
	       (taken->way == FX_SIGNAL_TO_PROCESS && sent->way == FX_SIGNAL_TO_THREAD);
}

/* False: they are too many. */
static bool choose(struct queue *q, const struct fx_signal *taken, struct choice *ret)
{
	ret->count = 0;
	while (q->first < q->count && q->sent[q->first]->state == FX_SIGNAL_GONE)
		q->first++;
	for (size_t i = q->first; i < q->count && q->sent[i]->begin <= taken->end; i++) {
		if (i - q->first >= WINDOW_MAX)
			return false;
		if (may_be(q->sent[i], taken))
			ret->sent[ret->count++] = q->sent[i];
	}
	return true;
}

/* Of several the first one, if it is sure to be the first, and to be there. */
static bool first_is_sure(const struct choice *c, const struct fx_signal *taken, bool alone)
{
	const struct fx_signal *first = c->sent[0];

	if (!taken->sole || !alone || first->state != FX_SIGNAL_PENDING ||
	    first->end > c->sent[1]->begin)
		return false;
	for (size_t i = 0; i < c->count; i++)
		if (!c->sent[i]->other || c->sent[i]->thread != first->thread ||
		    c->sent[i]->thread == FX_SIGNAL_ANY_THREAD)
			return false;
	return true;
}

static struct fx_signal *decide(const struct choice *c, const struct fx_signal *taken, bool alone)
{
	if (c->count == 1 && (taken->sole || taken->way != FX_SIGNAL_UNKNOWN))
		return c->sent[0];
	return c->count > 1 && first_is_sure(c, taken, alone) ? c->sent[0] : NULL;
}

/* The thread whose queue it was in, 0 for the process's; FX_SIGNAL_ANY_THREAD: it is not known. */
static uint32_t queue_of(const struct choice *c, const struct fx_signal *taken)
{
	uint32_t thread = c->count ? c->sent[0]->thread : FX_SIGNAL_ANY_THREAD;

	for (size_t i = 1; i < c->count; i++)
		if (c->sent[i]->thread != thread)
			return FX_SIGNAL_ANY_THREAD;
	return taken->way == FX_SIGNAL_TO_THREAD ? taken->tid : thread;
}

/* One is pending at most: all that were sent before it was taken are gone with it. */
static void took_merged(struct queue *q, const struct choice *c, const struct fx_signal *taken,
			struct fx_signal *found)
{
	const uint32_t thread = found ? found->thread : queue_of(c, taken);
	uint64_t since = found && found->begin > taken->begin ? found->begin : taken->begin;

	for (size_t i = q->first; i < q->count && q->sent[i]->begin <= taken->end; i++) {
		struct fx_signal *s = q->sent[i];

		if (s->state == FX_SIGNAL_GONE)
			continue;
		s->state = s->thread == thread && thread != FX_SIGNAL_ANY_THREAD && s->end <= since
			       ? FX_SIGNAL_GONE
			       : FX_SIGNAL_DOUBTFUL;
	}
	if (found)
		found->state = FX_SIGNAL_GONE;
}

/* Once as many as are doubtful have been taken, all of them are gone. */
static void took_queued(struct queue *q, const struct choice *c, struct fx_signal *found)
{
	if (found) {
		q->doubtful -= found->state == FX_SIGNAL_DOUBTFUL;
		found->state = FX_SIGNAL_GONE;
	} else if (c->count) {
		for (size_t i = 0; i < c->count; i++) {
			q->doubtful += c->sent[i]->state == FX_SIGNAL_PENDING;
			c->sent[i]->state = FX_SIGNAL_DOUBTFUL;
		}
		q->lost++;
	}
	if (q->lost < q->doubtful)
		return;
	for (size_t i = q->first; q->doubtful && i < q->count && i < q->first + WINDOW_MAX; i++)
		if (q->sent[i]->state == FX_SIGNAL_DOUBTFUL)
			q->sent[i]->state = FX_SIGNAL_GONE;
	q->doubtful = q->lost = 0;
}

/* Of the takes behind this one the earliest beginning, and the earliest of another thread than that one's. */
struct later {
	uint64_t begin, others;
	uint32_t tid;
};

static void later_add(struct later *l, const struct fx_signal *taken)
{
	if (taken->tid != l->tid && taken->begin < l->begin)
		*l = (struct later){taken->begin, l->begin, taken->tid};
	else if (taken->tid == l->tid && taken->begin < l->begin)
		l->begin = taken->begin;
	else if (taken->tid != l->tid && taken->begin < l->others)
		l->others = taken->begin;
}

/* Whether no other thread that came back later may have taken one before. */
static bool is_alone(const struct later *l, const struct fx_signal *taken)
{
	return (l->tid == taken->tid ? l->others : l->begin) >= taken->end;
}

static void settle_queue(struct queue *q, const struct fx_signal *taken, size_t count,
			 const struct later *later, fx_signals_draw *draw, void *context)
{
	struct choice c;

	for (size_t i = 0; i < count && choose(q, &taken[i], &c); i++) {
		struct fx_signal *found = decide(&c, &taken[i], is_alone(&later[i], &taken[i]));

		if (found && !found->torn && !taken[i].torn)
			draw(context, found, &taken[i]);
		if (taken[i].signal < FIRST_QUEUED)
			took_merged(q, &c, &taken[i], found);
		else
			took_queued(q, &c, found);
	}
}

/* --- All -------------------------------------------------------------------------------------- */

/* The range in told[] of what was sent to groups, by signal. */
struct groups {
	size_t from[SIGNALS + 1], count[SIGNALS + 1];
};

static void find_groups(const struct fx_signals *signals, struct groups *ret)
{
	memset(ret, 0, sizeof(*ret));
	for (size_t i = 0; i < signals->count && target(&signals->told[i]) == 0; i++) {
		const struct fx_signal *s = &signals->told[i];

		if (!ret->count[s->signal]++)
			ret->from[s->signal] = i;
	}
}

static int by_begin(const void *a, const void *b)
{
	const struct fx_signal *const *x = a, *const *y = b;

	return compare((*x)->begin, (*y)->begin);
}

/* What is between `from` and `to`: `takes` is where the taken begin. What was sent to groups comes to it: each process
 * has its own. */
static void settle_range(struct fx_signals *signals, const struct groups *groups, size_t from,
			 size_t takes, size_t to, fx_signals_draw *draw, void *context)
{
	const int signal = signals->told[from].signal;
	const size_t some = groups->count[signal];
	struct fx_signal copies[GROUPS_MAX];
	struct queue q = {.count = takes - from};
	struct later *later, l = {UINT64_MAX, UINT64_MAX, 0};

	if (takes == to || q.count + some == 0 || some > GROUPS_MAX)
		return;
	q.sent = calloc(q.count + some, sizeof(struct fx_signal *));
	later = calloc(to - takes, sizeof(*later));
	for (size_t i = to; later && i-- > takes;) {
		later[i - takes] = l;
		later_add(&l, &signals->told[i]);
	}
	for (size_t i = from; q.sent && i < takes; i++)
		q.sent[i - from] = &signals->told[i];
	for (size_t i = 0; q.sent && i < some; i++) {
		copies[i] = signals->told[groups->from[signal] + i];
		q.sent[q.count++] = &copies[i];
	}
	if (q.sent && later) {
		qsort(q.sent, q.count, sizeof(struct fx_signal *), by_begin);
		settle_queue(&q, &signals->told[takes], to - takes, later, draw, context);
	}
	free(q.sent);
	free(later);
}

void fx_signals_settle(struct fx_signals *signals, fx_signals_draw *draw, void *context)
{
	const struct fx_signal *s = signals->told;
	struct groups groups;
	size_t from, takes, to;

	if (!signals->count)
		return;
	find_torn(signals);
	qsort(signals->told, signals->count, sizeof(*signals->told), by_time);
	find_groups(signals, &groups);
	for (from = 0; from < signals->count; from = to) {
		takes = signals->count;
		for (to = from; to < signals->count && by_queue(&s[from], &s[to]) == 0; to++)
			if (s[to].taken && to < takes)
				takes = to;
		if (target(&s[from]) != 0)
			settle_range(signals, &groups, from, takes < to ? takes : to, to, draw,
				     context);
	}
	fx_signals_forget(signals);
}
