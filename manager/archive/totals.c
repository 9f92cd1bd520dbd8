/* SPDX-License-Identifier: MIT */
#include "manager/archive/totals.h"

#include "manager/archive/kept.h"

static void counts_add(struct fx_stream_counts *to, const struct fx_stream_counts *from)
{
	to->events += from->events;
	to->unwanted += from->unwanted;
	fx_loss_add(&to->brief, from->brief);
	to->loose += from->loose;
	to->older += from->older;
	fx_loss_add(&to->dropped, from->dropped);
	for (unsigned i = 0; i < FX_CAUSES; i++)
		fx_loss_add(&to->lost[i], from->lost[i]);
	to->unfinished += from->unfinished;
}

/* The shortest history of those that wrapped; if none did, the longest of all. */
static void history_add(struct fx_totals *totals, const struct fx_stream *s,
			const struct fx_stream_end *end)
{
	struct fx_timebase *timebase = &s->shared->timebase;
	uint64_t to = fx_timebase_ns(timebase, end->ticks);
	uint64_t from = end->wrapped ? fx_kept_since(s) : timebase->first.ns;
	uint64_t history = to > from ? to - from : 0;

	if (s->shared->last_ns && history > s->shared->last_ns) {
		history = s->shared->last_ns;
		totals->shortened = true;
	}
	if (end->wrapped && (!totals->wrapped || history < totals->history_ns))
		totals->history_ns = history;
	if (!end->wrapped && !totals->wrapped && history > totals->history_ns)
		totals->history_ns = history;
	totals->wrapped |= end->wrapped;
}

void fx_totals_begin(struct fx_totals *totals, bool exec)
{
	totals->processes += !exec;
}

void fx_totals_end(struct fx_totals *totals, const struct fx_stream *s,
		   const struct fx_stream_end *end, bool exec)
{
	counts_add(&totals->counts, &s->counts);
	if (s->is_kernel)
		return;
	/* What was never there is told, and not counted among what was. */
	totals->processes -= end->absent && !exec;
	/* Its first thread is there whether it records or not, and exec() leaves it. */
	totals->threads += end->absent ? 0 : s->others + !exec;
	if (s->counts.events || s->counts.older)
		history_add(totals, s, end);
	totals->silent += s->counts.events == 0;
	totals->broken += end->broken != NULL;
}
