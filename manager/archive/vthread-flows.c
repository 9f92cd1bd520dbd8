/* SPDX-License-Identifier: MIT */
#include "manager/archive/vthread-flows.h"

#include <string.h>

#include "format/encode.h"
#include "manager/archive/held-record.h"
#include "manager/archive/loose-flows.h"

/* Writes the oldest flows of the virtual thread. `all': no more of its slices comes. */
static void vthread_settle(struct fx_stream *s, struct fx_vthread *v, size_t count, bool all)
{
	struct fx_loose_flow *flows = v->flows.flows.items;

	for (size_t i = 0; i < count; i++) {
		if (fx_vthread_line_is_open(&v->line, flows[i].ns, all))
			fx_loose_write(s, &flows[i].record);
		else
			fx_loose_write_anchored(s, &flows[i].record);
		fx_loose_free(s, &flows[i]);
	}
	v->flows.flows.count -= count;
	if (v->flows.flows.count)
		memmove(&flows[0], &flows[count], v->flows.flows.count * sizeof(*flows));
}

/* Forgets the older half of what it has begun and ended. */
static void vthread_fold(struct fx_stream *s, struct fx_vthread *v)
{
	size_t keep = v->line.steps.count / 2, count = 0;
	uint64_t ns = fx_vthread_line_fold_ns(&v->line, keep);

	while (count < v->flows.flows.count && v->flows.flows.items[count].ns < ns)
		count++;
	vthread_settle(s, v, count, false);
	s->vthreads.steps -= (uint32_t)(v->line.steps.count - keep);
	fx_vthread_line_fold(&v->line, keep);
}

void fx_vthread_flows_step(struct fx_rewriting *w, uint64_t ns, bool is_end)
{
	struct fx_vthread *v = fx_vthreads_find(&w->s->vthreads, w->vthread);
	size_t before;

	if (!v)
		return;
	before = v->line.steps.count;
	if (fx_vthread_line_note(&v->line, ns, is_end) < 0)
		w->s->starved = true;
	w->s->vthreads.steps += (uint32_t)v->line.steps.count - (uint32_t)before;
	if (v->line.steps.count >= FX_VTHREAD_STEPS || w->s->vthreads.steps > FX_VTHREAD_STEPS_ALL)
		vthread_fold(w->s, v);
}

/* The oldest of the virtual thread makes room. False: there is none to be had. */
static bool vthread_make_room(struct fx_stream *s, struct fx_vthread *v, int size)
{
	while (!fx_loose_has_room(s, &v->flows, size)) {
		if (!v->flows.flows.count)
			return false;
		vthread_settle(s, v, 1, false);
	}
	return true;
}

int fx_vthread_flows_take(struct fx_rewriting *w, uint64_t header)
{
	struct fx_vthread *v = fx_vthreads_find(&w->s->vthreads, w->vthread);
	struct fx_event_names names = fx_event_names_of(w, header);
	uint64_t words[FXT_MAX_RECORD_WORDS], ns = w->words[1];
	struct fx_held_record record = {.words = words, .unclean = w->unclean};
	int size = fx_held_record_encode(w, &names, words);

	if (size < 0)
		return size;
	record.size = (uint32_t)size;
	if (!v || ns < v->line.folded || !vthread_make_room(w->s, v, size) ||
	    fx_loose_hold(w->s, &v->flows, ns, record) < 0)
		fx_loose_write_anchored(w->s, &record);
	return 0;
}

void fx_vthread_flows_end(struct fx_stream *s)
{
	for (struct fx_vthread *v = s->vthreads.by_id; v; v = v->hh.next)
		vthread_settle(s, v, v->flows.flows.count, true);
}
