/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "convert/arrange.h"
#include "convert/async.h"
#include "convert/convert.h"
#include "convert/flows.h"
#include "convert/sched.h"

enum { PROGRESS_INTERVAL = 1 << 16 }; /* events */

struct driver {
	struct fx_exporter *exporter;
	const struct fx_exporter_ops *ops;
	struct fx_timeline *timeline;
	struct fx_flows *flows;
	fx_progress *progress;
	void *opaque;
	uint64_t done; /* events */
	uint64_t total;

	/* The event at hand. */
	struct fx_thread *thread;
	struct fx_walk walk;
	struct fx_event event;
	struct fxt_record record;
	struct fxt_record end_record;
};

/* --- Order ------------------------------------------------------------------------------------ */

static int arrange_threads(struct driver *driver)
{
	struct fx_timeline *timeline = driver->timeline;
	int r = 0;

	for (size_t i = 0; i < timeline->threads.count && r == 0; i++) {
		struct fx_thread *thread = timeline->threads.items[i];

		r = fx_thread_arrange(timeline, thread);
		if (r == 0)
			r = fx_flows_collect(driver->flows, timeline, thread);
		driver->total += thread->count;
	}
	return r < 0 ? r : fx_flows_resolve(driver->flows);
}

/* --- Events of a thread ----------------------------------------------------------------------- */

static void convert_count_misfit(struct driver *driver, enum fx_misfit misfit)
{
	driver->timeline->misfits[misfit]++;
}

static void end_slice(struct driver *driver, const struct fx_placed *slice)
{
	if (slice->entry.end != UINT64_MAX && driver->ops->slice_end)
		driver->ops->slice_end(driver->exporter, driver->thread, slice->entry.end);
}

static void set_args(struct driver *driver)
{
	driver->event.args = driver->record.args;
	driver->event.nargs = driver->record.nargs;
}

/* Adds what the end record of a begin says. */
static int add_end_args(struct driver *driver, const struct fx_placed *slice)
{
	int r;

	if (slice->entry.kind != FX_ENTRY_BEGIN || slice->end_word == FX_NO_WORD)
		return 0;
	r = fx_timeline_decode(driver->timeline, slice->entry.provider, slice->end_word,
			       &driver->end_record);
	if (r < 0)
		return r == -EBADMSG ? 0 : r;
	driver->event.end_args = driver->end_record.args;
	driver->event.end_nargs = driver->end_record.nargs;
	return 0;
}

static int export_slice(struct driver *driver, const struct fx_placed *slice)
{
	int r = add_end_args(driver, slice);

	if (r < 0)
		return r;
	driver->event.end = slice->entry.end;
	driver->event.flags = slice->entry.flags;
	driver->ops->slice_begin(driver->exporter, &driver->event);
	return 0;
}

static bool is_numeric(const struct fxt_arg *arg)
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

static void convert_export_counter(struct driver *driver)
{
	struct fxt_record *record = &driver->record;
	uint32_t kept = 0;

	for (uint32_t i = 0; i < record->nargs; i++) {
		if (is_numeric(&record->args[i]))
			record->args[kept++] = record->args[i];
		else
			convert_count_misfit(driver, FX_MISFIT_COUNTER_VALUE);
	}
	driver->event.nargs = kept;
	if (kept > 0)
		driver->ops->counter(driver->exporter, &driver->event, record->event.counter_id);
}

static enum fxt_scope scope_of(const struct fxt_event *event)
{
	return event->has_scope && event->scope <= FXT_SCOPE_GLOBAL ? (enum fxt_scope)event->scope
								    : FXT_SCOPE_THREAD;
}

/*
 * The instant of a flow record that has a link of its own. It is named for the flow, so that it
 * does not count among the slices or instants of that name.
 */
static void export_flow(struct driver *driver)
{
	static const char prefix[] = "flow: ";
	struct fx_texts *texts = driver->timeline->strings;
	const struct fx_flow_link *link = driver->event.links;
	struct fxt_string name = {.data = ""};
	char text[200];
	uint32_t id;

	snprintf(text, sizeof(text), "%s%s", prefix,
		 link->name ? fx_texts_get(texts, link->name)->data : "");
	id = fx_texts_add(texts, text, strlen(text));
	if (!id) {
		driver->exporter->error = -ENOMEM;
		return;
	}
	name.data = fx_texts_get(texts, id)->data;
	name.length = fx_texts_get(texts, id)->length;
	name.serial = id;
	driver->event.name = &name;
	driver->ops->instant(driver->exporter, &driver->event);
}

static const struct fxt_string no_string = {.data = ""};

static int export_decoded(struct driver *driver, const struct fx_placed *placed)
{
	struct fx_event *event = &driver->event;

	switch (placed->entry.kind) {
	case FX_ENTRY_COMPLETE:
	case FX_ENTRY_BEGIN:
		return export_slice(driver, placed);
	case FX_ENTRY_INSTANT:
		event->scope = scope_of(&driver->record.event);
		driver->ops->instant(driver->exporter, event);
		return 0;
	case FX_ENTRY_COUNTER:
		convert_export_counter(driver);
		return 0;
	case FX_ENTRY_FLOW:
		if (event->link_count > 0)
			export_flow(driver);
		return 0;
	case FX_ENTRY_LOG:
		event->category = event->name = &no_string;
		driver->ops->log(driver->exporter, event, &driver->record.log.message);
		return 0;
	case FX_ENTRY_BLOB:
		event->category = &driver->record.large_blob.category;
		event->name = &driver->record.large_blob.name;
		event->payload = driver->record.large_blob.payload.size;
		driver->ops->instant(driver->exporter, event);
		return 0;
	default:
		return 0;
	}
}

static int convert_export_entry(struct driver *driver)
{
	const struct fx_placed *ended, *placed;
	const struct fx_entry *entry;
	int r;

	while ((ended = fx_walk_pop(&driver->walk)))
		end_slice(driver, ended);
	placed = fx_walk_place(&driver->walk);
	entry = &placed->entry;
	if (entry->flags & FX_ENTRY_LEFT_OUT)
		return 0;
	driver->event = (struct fx_event){
	    .thread = driver->thread,
	    .ts = entry->ts,
	    .category = &driver->record.event.category,
	    .name = &driver->record.event.name,
	};
	driver->event.links =
	    fx_flows_take(driver->flows, driver->thread, placed->index, &driver->event.link_count);
	r = fx_timeline_decode(driver->timeline, entry->provider, entry->word, &driver->record);
	if (r == -EBADMSG && fx_entry_is_slice(entry))
		fx_walk_pop_any(&driver->walk); /* it was not begun */
	if (r < 0)
		return r == -EBADMSG ? 0 : r;
	set_args(driver);
	return export_decoded(driver, placed);
}

static void convert_convert_show_progress(struct driver *driver)
{
	if (driver->progress && ++driver->done % PROGRESS_INTERVAL == 0)
		driver->progress(driver->opaque, driver->done, driver->total);
}

static int walk_thread(struct driver *driver)
{
	const struct fx_placed *ended;
	const struct fx_entry *ahead;
	int r;

	while ((r = fx_walk_next(&driver->walk)) > 0) {
		ahead = fx_walk_ahead(&driver->walk);
		if (ahead)
			fx_timeline_prefetch(driver->timeline, ahead);
		r = convert_export_entry(driver);
		if (r < 0)
			break;
		convert_convert_show_progress(driver);
		if (fx_sink_error(driver->exporter->sink) < 0)
			break;
	}
	while ((ended = fx_walk_pop_any(&driver->walk)))
		end_slice(driver, ended);
	driver->timeline->misfits[FX_MISFIT_TOO_DEEP] += driver->walk.too_deep;
	return r < 0 ? r : 0;
}

static int convert_export_thread(struct driver *driver, struct fx_thread *thread)
{
	int r;

	if (thread->count == 0)
		return 0;
	driver->thread = thread;
	r = fx_walk_begin(&driver->walk, driver->timeline, thread);
	if (r == 0) {
		if (driver->ops->enter_thread)
			driver->ops->enter_thread(driver->exporter, thread);
		r = walk_thread(driver);
	}
	fx_walk_end(&driver->walk);
	fx_thread_release(thread);
	return r;
}

/* --- The whole -------------------------------------------------------------------------------- */

static void export_names(struct driver *driver)
{
	struct fx_timeline *timeline = driver->timeline;

	for (size_t i = 0; i < timeline->processes.count; i++)
		driver->ops->process(driver->exporter, timeline->processes.items[i]);
	for (size_t i = 0; i < timeline->threads.count; i++)
		driver->ops->thread(driver->exporter, timeline->threads.items[i]);
}

static int export_threads(struct driver *driver)
{
	struct fx_timeline *timeline = driver->timeline;
	int r = 0;

	for (size_t i = 0; i < timeline->threads.count && r == 0; i++)
		r = convert_export_thread(driver, timeline->threads.items[i]);
	return r;
}

static void convert_export_note(struct driver *driver, const char *text)
{
	struct fx_timeline *timeline = driver->timeline;
	uint32_t id = fx_texts_add(timeline->strings, text, strlen(text));

	if (id)
		driver->ops->note(driver->exporter,
				  &(struct fx_note){.ts = timeline->last_ts,
						    .text = fx_texts_get(timeline->strings, id)});
}

/* What is missing has to be seen where the events are seen. */
static void export_notes(struct driver *driver)
{
	struct fx_timeline *timeline = driver->timeline;
	char text[160];

	for (size_t i = 0; i < timeline->notes.count; i++)
		driver->ops->note(driver->exporter, &timeline->notes.items[i]);
	if (timeline->misfits[FX_MISFIT_TOO_DEEP] > 0) {
		snprintf(text, sizeof(text), "%llu events nested deeper than %d are not shown",
			 (unsigned long long)timeline->misfits[FX_MISFIT_TOO_DEEP], FX_MAX_DEPTH);
		convert_export_note(driver, text);
	}
	if (timeline->fault.kind != FXT_FAULT_NONE) {
		snprintf(text, sizeof(text), "fault in the archive at offset 0x%llx: %s",
			 (unsigned long long)timeline->fault.offset,
			 fxt_fault_text(timeline->fault.kind));
		convert_export_note(driver, text);
	}
}

static void convert_export_embedded(struct driver *driver)
{
	struct fx_timeline *timeline = driver->timeline;

	if (timeline->embedded.count == 0)
		return;
	if (driver->ops->embedded)
		driver->ops->embedded(driver->exporter, timeline->embedded.items,
				      timeline->embedded.count);
	else
		convert_count_misfit(driver, FX_MISFIT_OTHER_FORMAT);
}

static int export_all(struct driver *driver)
{
	int r = arrange_threads(driver);

	if (r < 0)
		return r;
	export_names(driver);
	r = export_threads(driver);
	if (r == 0)
		r = fx_async_export(driver->exporter);
	if (r == 0)
		r = fx_sched_export(driver->exporter);
	convert_export_embedded(driver);
	export_notes(driver);
	return r < 0 ? r : driver->exporter->error;
}

int fx_convert(struct fx_exporter *exporter, fx_progress *progress, void *opaque)
{
	struct driver driver = {
	    .exporter = exporter,
	    .ops = exporter->ops,
	    .timeline = exporter->timeline,
	    .flows = fx_flows_new(),
	    .progress = progress,
	    .opaque = opaque,
	};
	int r = -ENOMEM;

	exporter->ops->begin(exporter);
	if (driver.flows)
		r = export_all(&driver);
	exporter->ops->finish(exporter);
	fx_flows_free(driver.flows);
	return r;
}
