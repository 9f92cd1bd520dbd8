/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "why/past.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "convert/stepper.h"
#include "why/past-internal.h"

static int compare_slices(const void *a, const void *b)
{
	const struct fx_why_slice *left = a, *right = b;

	if (left->thread != right->thread)
		return left->thread < right->thread ? -1 : 1;
	return left->end > right->end ? -1 : left->end < right->end;
}

static const struct fx_runs_kind slices_kind = {
    .size = sizeof(struct fx_why_slice),
    .compare = compare_slices,
};

/* --- The walk --------------------------------------------------------------------------------- */

static int past_see_thread(struct fx_past_collector *collector, struct fx_stepper *stepper,
			   struct fx_thread *thread)
{
	int r = fx_stepper_begin(stepper, thread, NULL);

	collector->thread = thread;
	collector->life = &collector->past->lives[thread->number];
	collector->open.count = 0;
	while (r >= 0 && (r = fx_stepper_next(stepper)) > 0 && collector->exporter.error == 0)
		;
	fx_stepper_end_slices(stepper);
	fx_stepper_end(stepper);
	fx_past_keep_wait(collector);
	return r < 0 ? r : collector->exporter.error;
}

static int past_see_threads(struct fx_past_collector *collector, struct fx_flows *flows)
{
	struct fx_timeline *timeline = collector->exporter.timeline;
	struct fx_stepper *stepper = malloc(sizeof(*stepper));
	int r = 0;

	if (!stepper)
		return -ENOMEM;
	memset(stepper, 0, sizeof(*stepper));
	stepper->exporter = &collector->exporter;
	stepper->flows = flows;
	for (size_t i = 0; i < timeline->threads.count && r == 0; i++) {
		if (timeline->threads.items[i]->count > 0)
			r = past_see_thread(collector, stepper, timeline->threads.items[i]);
	}
	free(stepper);
	return r < 0 ? r : fx_flows_error(flows);
}

/* --- The whole -------------------------------------------------------------------------------- */

int fx_why_past_collect(struct fx_why_past *past, struct fx_timeline *timeline,
			struct fx_flows *flows, const char *slice)
{
	struct fx_past_collector collector = {
	    .exporter = {.ops = &fx_past_ops, .timeline = timeline},
	    .past = past,
	    .slice = slice,
	};
	int r;

	*past = (struct fx_why_past){.timeline = timeline};
	fx_runs_init(&past->slices, &timeline->pool, &slices_kind);
	past->lives = calloc(timeline->threads.count + 1, sizeof(*past->lives));
	if (!past->lives)
		return -ENOMEM;
	for (size_t i = 0; i < timeline->threads.count; i++) {
		past->lives[i].begin = UINT64_MAX;
		past->lives[i].maker.thread = FX_WHY_NOBODY;
	}
	fx_runs_init(&collector.beginnings, &timeline->pool, &fx_past_beginnings_kind);
	r = past_see_threads(&collector, flows);
	if (r == 0)
		r = fx_past_resolve(&collector);
	fx_why_takes_arrange(&past->takes);
	fx_runs_release(&collector.beginnings);
	fx_waiting_free(&collector.waiting);
	fx_vector_free(&collector.open);
	fx_vector_free(&collector.kinds);
	return r;
}

void fx_why_past_over(struct fx_why_past *past, const uint64_t *ends)
{
	for (size_t i = 0; i < past->timeline->threads.count; i++) {
		struct fx_why_life *life = &past->lives[i];

		/* One before its begin is the end of another thread that had the same number. */
		if (life->begin != UINT64_MAX && ends[i] > life->begin)
			life->over = ends[i];
	}
}

void fx_why_past_free(struct fx_why_past *past)
{
	fx_vector_free(&past->waits);
	free(past->lives);
	fx_runs_release(&past->slices);
	fx_why_parties_free(&past->parties);
	fx_why_takes_free(&past->takes);
}
