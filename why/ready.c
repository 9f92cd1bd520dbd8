/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "convert/sched.h"
#include "report/show.h"
#include "why/ready.h"

enum {
	STRETCHES_MAX = 4000000,
	PROCESSORS = 4096,
	SWITCH_NS = 100000, /* both sides of a switch, which may be told apart, lie in so much */
};

struct known {
	uint64_t tid;
	uint32_t thread; /* number */
};

/* A thread, as far as the walk has come. */
struct standing {
	uint64_t since; /* ready from then on; 0: it is not */
	uint32_t by;
	bool runs;
};

struct scheduling {
	struct fx_exporter exporter; /* first: the walk hands it to us */
	struct fx_why_ready *ready;
	struct known *known; /* by tid */
	size_t known_count;
	struct standing *standings; /* by number of the thread */
	/* By processor: 1 + number of the thread that has it, and of the last one that lost it; 0: none that is known */
	uint32_t running[PROCESSORS], lost[PROCESSORS];
	uint64_t shortest; /* that is remembered, ns */
};

void fx_why_ready_free(struct fx_why_ready *ready)
{
	fx_vector_free(&ready->stretches);
	free(ready->first);
	free(ready->ends);
	ready->first = NULL;
	ready->ends = NULL;
}

/* --- What the kernel said --------------------------------------------------------------------- */

static int compare_known(const void *a, const void *b)
{
	const struct known *left = a, *right = b;

	return left->tid < right->tid ? -1 : left->tid > right->tid;
}

/* 1 + number of the thread; 0: it is none of ours. */
static uint32_t ready_thread(const struct scheduling *s, uint64_t tid)
{
	const struct known wanted = {.tid = tid};
	const struct known *found =
	    tid ? bsearch(&wanted, s->known, s->known_count, sizeof(wanted), compare_known) : NULL;

	return found ? 1 + found->thread : 0;
}

/* Forgets the shorter ones, until half of them are gone. */
static void ready_forget(struct scheduling *s)
{
	struct fx_why_ready *ready = s->ready;

	while (ready->stretches.count > STRETCHES_MAX / 2) {
		size_t kept = 0;

		s->shortest = s->shortest ? s->shortest * 2 : 1000;
		for (size_t i = 0; i < ready->stretches.count; i++) {
			const struct fx_why_stretch *it = &ready->stretches.items[i];

			if (it->end - it->begin >= s->shortest)
				ready->stretches.items[kept++] = *it;
		}
		ready->stretches.count = kept;
	}
}

static void ready_keep(struct scheduling *s, uint32_t thread, uint64_t end)
{
	const struct standing *standing = &s->standings[thread];
	struct fx_why_ready *ready = s->ready;

	if (end <= standing->since || end - standing->since < s->shortest)
		return;
	if (ready->stretches.count == STRETCHES_MAX)
		ready_forget(s);
	if (fx_vector_reserve(&ready->stretches, 1) < 0) {
		s->exporter.error = -ENOMEM;
		return;
	}
	ready->stretches.items[ready->stretches.count++] =
	    (struct fx_why_stretch){standing->since, end, thread, standing->by};
}

/* The thread that has a processor from now on, and the one that has just lost it. */
static void ready_take(struct scheduling *s, uint32_t cpu, uint32_t thread, uint64_t ts)
{
	struct standing *loser = s->lost[cpu] ? &s->standings[s->lost[cpu] - 1] : NULL;

	if (loser && loser->since && !loser->by && s->lost[cpu] != thread &&
	    ts - loser->since < SWITCH_NS)
		loser->by = thread;
	s->lost[cpu] = 0;
}

static void ready_switch(struct fx_exporter *exporter, const struct fx_switch *sched)
{
	struct scheduling *s = (struct scheduling *)exporter;
	uint32_t out = ready_thread(s, sched->outgoing.tid);
	uint32_t in = ready_thread(s, sched->incoming.tid);

	uint32_t cpu = sched->cpu % PROCESSORS;

	s->running[cpu] = in;
	if (out) {
		s->standings[out - 1] = (struct standing){
		    .since = sched->outgoing_state == FXT_THREAD_STATE_RUNNING ? sched->ts : 0};
		s->lost[cpu] = out;
		s->ready->ends[out - 1] =
		    sched->outgoing_state == FXT_THREAD_STATE_DEAD ? sched->ts : 0;
	}
	if (!in)
		return;
	s->ready->ends[in - 1] = 0;
	ready_take(s, cpu, in, sched->ts);
	if (s->standings[in - 1].since)
		ready_keep(s, in - 1, sched->ts);
	s->standings[in - 1] = (struct standing){.runs = true};
}

static void ready_wakeup(struct fx_exporter *exporter, const struct fx_wakeup *wakeup)
{
	struct scheduling *s = (struct scheduling *)exporter;
	uint32_t thread = ready_thread(s, wakeup->thread.tid);
	struct standing *standing = thread ? &s->standings[thread - 1] : NULL;

	if (standing && !standing->runs && !standing->since)
		*standing = (struct standing){.since = wakeup->ts,
					      .by = s->running[wakeup->cpu % PROCESSORS]};
}

static const struct fx_exporter_ops ready_ops = {
    .sched_switch = ready_switch,
    .sched_wakeup = ready_wakeup,
};

/* --- In order --------------------------------------------------------------------------------- */

static int compare_stretches(const void *a, const void *b)
{
	const struct fx_why_stretch *left = a, *right = b;

	if (left->thread != right->thread)
		return left->thread < right->thread ? -1 : 1;
	return left->begin < right->begin ? -1 : left->begin > right->begin;
}

static int ready_sort(struct fx_why_ready *ready)
{
	size_t threads = ready->timeline->threads.count, at = 0;

	qsort(ready->stretches.items, ready->stretches.count, sizeof(struct fx_why_stretch),
	      compare_stretches);
	ready->first = calloc(threads + 2, sizeof(*ready->first));
	if (!ready->first)
		return -ENOMEM;
	for (size_t i = 0; i <= threads; i++) {
		while (at < ready->stretches.count && ready->stretches.items[at].thread < i)
			at++;
		ready->first[i] = at;
	}
	return 0;
}

static int ready_walk(struct scheduling *s)
{
	const struct fx_timeline *timeline = s->exporter.timeline;
	int r;

	for (size_t i = 0; i < timeline->threads.count; i++)
		s->known[s->known_count++] =
		    (struct known){timeline->threads.items[i]->key.tid, (uint32_t)i};
	qsort(s->known, s->known_count, sizeof(*s->known), compare_known);
	r = fx_sched_export(&s->exporter);
	for (size_t i = 0; i < timeline->threads.count; i++) {
		if (s->standings[i].since)
			ready_keep(s, (uint32_t)i, timeline->last_ts);
	}
	return r < 0 ? r : s->exporter.error;
}

int fx_why_ready_collect(struct fx_why_ready *ready, struct fx_timeline *timeline)
{
	struct scheduling *s;
	int r = -ENOMEM;

	*ready = (struct fx_why_ready){.timeline = timeline};
	if (timeline->scheds.count == 0)
		return 0;
	s = calloc(1, sizeof(*s));
	if (!s)
		return -ENOMEM;
	s->exporter = (struct fx_exporter){.ops = &ready_ops, .timeline = timeline};
	s->ready = ready;
	s->known = calloc(timeline->threads.count + 1, sizeof(*s->known));
	s->standings = calloc(timeline->threads.count + 1, sizeof(*s->standings));
	ready->ends = calloc(timeline->threads.count + 1, sizeof(*ready->ends));
	if (s->known && s->standings && ready->ends)
		r = ready_walk(s);
	if (r == 0)
		r = ready_sort(ready);
	free(s->known);
	free(s->standings);
	free(s);
	return r;
}

/* --- What is asked ---------------------------------------------------------------------------- */

/* The first stretch of a thread that ends behind that moment. */
static size_t ready_find(const struct fx_why_ready *ready, uint32_t thread, uint64_t ts)
{
	size_t low = ready->first[thread], high = ready->first[thread + 1];

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (ready->stretches.items[middle].end > ts)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

static struct fx_why_what ready_what(const struct fx_why_ready *ready,
				     const struct fx_why_stretch *stretch)
{
	struct fx_why_what what = {.kind = FX_WHY_PROCESSOR};
	const struct fx_thread *thread;
	char name[FX_SHOW_MAX], text[FX_SHOW_MAX + 40];

	if (!stretch->by)
		return what;
	thread = ready->timeline->threads.items[stretch->by - 1];
	fx_show_thread(thread, name);
	snprintf(text, sizeof(text), "%s (tid %" PRIu64 ")", name, thread->key.tid);
	what.object = fx_texts_add(ready->timeline->strings, text, strlen(text));
	return what;
}

static void ready_put(struct fx_why_tree *tree, uint32_t parent, const struct fx_why_what *what,
		      uint64_t begin, uint64_t end)
{
	if (begin < end)
		fx_why_tree_add(tree, fx_why_tree_child(tree, parent, what), end - begin);
}

void fx_why_ready_add(const struct fx_why_ready *ready, struct fx_why_tree *tree, uint32_t parent,
		      const struct fx_why_what *what, uint32_t thread, uint64_t begin, uint64_t end)
{
	size_t at = ready->first ? ready_find(ready, thread, begin) : 0;
	size_t last = ready->first ? ready->first[thread + 1] : 0;

	for (; at < last && ready->stretches.items[at].begin < end; at++) {
		const struct fx_why_stretch *stretch = &ready->stretches.items[at];
		struct fx_why_what processor = ready_what(ready, stretch);
		uint64_t from = stretch->begin > begin ? stretch->begin : begin;
		uint64_t to = stretch->end < end ? stretch->end : end;

		ready_put(tree, parent, what, begin, from);
		ready_put(tree, parent, &processor, from, to);
		begin = to;
	}
	ready_put(tree, parent, what, begin, end);
}
