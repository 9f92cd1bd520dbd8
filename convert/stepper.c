/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "convert/names.h"
#include "convert/stepper.h"

static void stepper_count_misfit(struct fx_stepper *stepper, enum fx_misfit misfit)
{
	stepper->timeline->misfits[misfit]++;
}

static void stepper_end_slice(struct fx_stepper *stepper, const struct fx_placed *slice)
{
	if (slice->entry.end != UINT64_MAX && stepper->ops->slice_end)
		stepper->ops->slice_end(stepper->exporter, stepper->thread, slice->entry.end);
}

static void stepper_set_args(struct fx_stepper *stepper)
{
	stepper->event.args = stepper->record.args;
	stepper->event.nargs = stepper->record.nargs;
}

/* Adds what the end record of a begin says. */
static int stepper_add_end_args(struct fx_stepper *stepper, const struct fx_placed *slice)
{
	int r;

	if (slice->entry.kind != FX_ENTRY_BEGIN || slice->end_word == FX_NO_WORD)
		return 0;
	r = fx_timeline_decode(stepper->timeline, slice->entry.provider, slice->end_word,
			       &stepper->end_record);
	if (r < 0)
		return r == -EBADMSG ? 0 : r;
	stepper->event.end_word = slice->end_word;
	stepper->event.end_args = stepper->end_record.args;
	stepper->event.end_nargs = stepper->end_record.nargs;
	return 0;
}

static int stepper_export_slice(struct fx_stepper *stepper, const struct fx_placed *slice)
{
	int r = stepper_add_end_args(stepper, slice);

	if (r < 0)
		return r;
	stepper->event.end = slice->entry.end;
	stepper->event.flags = slice->entry.flags;
	stepper->ops->slice_begin(stepper->exporter, &stepper->event);
	return 0;
}

static bool stepper_is_numeric(const struct fxt_arg *arg)
{
	switch (arg->type) {
	case FXT_ARG_INT32:
	case FXT_ARG_UINT32:
	case FXT_ARG_INT64:
	case FXT_ARG_UINT64:
	case FXT_ARG_DOUBLE:
		return true;
	default:
		return false;
	}
}

static void stepper_export_counter(struct fx_stepper *stepper)
{
	struct fxt_record *record = &stepper->record;
	uint32_t kept = 0;

	for (uint32_t i = 0; i < record->nargs; i++) {
		if (stepper_is_numeric(&record->args[i]))
			record->args[kept++] = record->args[i];
		else
			stepper_count_misfit(stepper, FX_MISFIT_COUNTER_VALUE);
	}
	stepper->event.nargs = kept;
	if (kept > 0)
		stepper->ops->counter(stepper->exporter, &stepper->event, record->event.counter_id);
}

static enum fxt_scope stepper_scope(const struct fxt_event *event)
{
	return event->has_scope && event->scope <= FXT_SCOPE_GLOBAL ? (enum fxt_scope)event->scope
								    : FXT_SCOPE_THREAD;
}

/*
 * The instant of a flow record that has a link of its own. It is named for the flow, so that it
 * does not count among the slices or instants of that name.
 */
static void stepper_export_flow(struct fx_stepper *stepper)
{
	static const char prefix[] = "flow: ";
	struct fx_texts *texts = stepper->timeline->strings;
	const struct fx_flow_link *link = stepper->event.links;
	struct fxt_string name = {.data = ""};
	char text[200];
	uint32_t id;

	snprintf(text, sizeof(text), "%s%s", prefix,
		 link->name ? fx_texts_get(texts, link->name)->data : "");
	id = fx_texts_add(texts, text, strlen(text));
	if (!id) {
		stepper->exporter->error = -ENOMEM;
		return;
	}
	name.data = fx_texts_get(texts, id)->data;
	name.length = fx_texts_get(texts, id)->length;
	name.serial = id;
	stepper->event.name = &name;
	stepper->ops->instant(stepper->exporter, &stepper->event);
}

static const struct fxt_string stepper_no_string = {.data = ""};

static int stepper_export_decoded(struct fx_stepper *stepper, const struct fx_placed *placed)
{
	struct fx_event *event = &stepper->event;

	switch (placed->entry.kind) {
	case FX_ENTRY_COMPLETE:
	case FX_ENTRY_BEGIN:
		return stepper_export_slice(stepper, placed);
	case FX_ENTRY_INSTANT:
		event->scope = stepper_scope(&stepper->record.event);
		stepper->ops->instant(stepper->exporter, event);
		return 0;
	case FX_ENTRY_COUNTER:
		stepper_export_counter(stepper);
		return 0;
	case FX_ENTRY_FLOW:
		if (event->link_count > 0)
			stepper_export_flow(stepper);
		return 0;
	case FX_ENTRY_LOG:
		event->category = event->name = &stepper_no_string;
		stepper->ops->log(stepper->exporter, event, &stepper->record.log.message);
		return 0;
	case FX_ENTRY_BLOB:
		event->category = &stepper->record.large_blob.category;
		event->name = &stepper->record.large_blob.name;
		event->payload = stepper->record.large_blob.payload.size;
		stepper->ops->instant(stepper->exporter, event);
		return 0;
	default:
		return 0;
	}
}

static void stepper_blank(struct fx_stepper *stepper)
{
	struct fx_event *event = &stepper->event;

	/* One by one: a compiler clears the whole by an instruction that takes longer than all the rest. */
	event->thread = stepper->thread;
	event->end = 0;
	event->category = &stepper->record.event.category;
	event->name = &stepper->record.event.name;
	event->args = event->end_args = NULL;
	event->nargs = event->end_nargs = 0;
	event->end_word = FX_NO_WORD;
	event->payload = 0;
	event->links = NULL;
	event->link_count = 0;
	event->flags = 0;
	event->scope = FXT_SCOPE_THREAD;
	stepper->is_blank = true;
}

static void stepper_set_place(struct fx_stepper *stepper, const struct fx_entry *entry)
{
	stepper->event.ts = entry->ts;
	stepper->event.provider = entry->provider;
	stepper->event.word = entry->word;
}

/* Hands over a complete event that has nothing but names, and no links; false: it is none. */
static inline bool stepper_export_plain(struct fx_stepper *stepper, const struct fx_entry *entry)
{
	struct fx_timeline *timeline = stepper->timeline;
	struct fx_names names;

	if (entry->kind != FX_ENTRY_COMPLETE ||
	    !fx_names_of(timeline->records, timeline->providers.items[entry->provider], entry->word,
			 &names))
		return false;
	if (!stepper->is_blank)
		stepper_blank(stepper);
	stepper_set_place(stepper, entry);
	stepper->event.end = entry->end;
	stepper->event.flags = entry->flags;
	stepper->event.category = names.category;
	stepper->event.name = names.name;
	stepper->ops->slice_begin(stepper->exporter, &stepper->event);
	return true;
}

static int stepper_export_any(struct fx_stepper *stepper, const struct fx_placed *placed,
			      const struct fx_flow_link *links, size_t link_count)
{
	const struct fx_entry *entry = &placed->entry;
	int r;

	stepper_blank(stepper);
	stepper_set_place(stepper, entry);
	stepper->is_blank = false;
	stepper->event.links = links;
	stepper->event.link_count = link_count;
	r = fx_timeline_decode(stepper->timeline, entry->provider, entry->word, &stepper->record);
	if (r == -EBADMSG && fx_entry_is_slice(entry))
		fx_walk_pop_any(&stepper->walk); /* it was not begun */
	if (r < 0)
		return r == -EBADMSG ? 0 : r;
	stepper_set_args(stepper);
	return stepper_export_decoded(stepper, placed);
}

static int stepper_export_entry(struct fx_stepper *stepper)
{
	const struct fx_placed *ended, *placed;
	const struct fx_flow_link *links = NULL;
	size_t link_count = 0;

	while ((ended = fx_walk_pop(&stepper->walk)))
		stepper_end_slice(stepper, ended);
	placed = fx_walk_place(&stepper->walk);
	if (placed->entry.flags & FX_ENTRY_LEFT_OUT)
		return 0;
	if (stepper->thread->has_flows)
		links = fx_flows_take(stepper->flows, stepper->thread, placed->index, &link_count);
	if (link_count == 0 && stepper_export_plain(stepper, &placed->entry))
		return 0;
	return stepper_export_any(stepper, placed, links, link_count);
}

int fx_stepper_begin(struct fx_stepper *stepper, struct fx_thread *thread,
		     const struct fx_walk_place *place)
{
	stepper->thread = thread;
	stepper->ops = stepper->exporter->ops;
	stepper->timeline = stepper->exporter->timeline;
	stepper->is_blank = false;
	if (!place)
		return fx_walk_begin(&stepper->walk, stepper->timeline, thread);
	return fx_walk_begin_at(&stepper->walk, stepper->timeline, thread, place);
}

int fx_stepper_next(struct fx_stepper *stepper)
{
	const struct fx_entry *ahead;
	int r = fx_walk_next(&stepper->walk);

	if (r <= 0)
		return r;
	ahead = fx_walk_ahead(&stepper->walk);
	if (ahead)
		fx_records_prefetch(stepper->timeline->records, ahead->word);
	r = stepper_export_entry(stepper);
	return r < 0 ? r : 1;
}

void fx_stepper_end_slices(struct fx_stepper *stepper)
{
	const struct fx_placed *ended;

	while ((ended = fx_walk_pop_any(&stepper->walk)))
		stepper_end_slice(stepper, ended);
	stepper->timeline->misfits[FX_MISFIT_TOO_DEEP] += stepper->walk.too_deep;
}

void fx_stepper_end(struct fx_stepper *stepper)
{
	fx_walk_end(&stepper->walk);
}
