/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "convert/arrange.h"
#include "convert/async.h"
#include "convert/convert.h"
#include "convert/flows.h"
#include "convert/sched.h"
#include "convert/stepper.h"

enum { PROGRESS_INTERVAL = 1 << 16 }; /* events */

struct driver {
	struct fx_exporter *exporter;
	const struct fx_exporter_ops *ops;
	struct fx_timeline *timeline;
	fx_progress *progress;
	void *opaque;
	uint64_t done; /* events */
	uint64_t total;
	struct fx_stepper stepper;
};

/* --- Order ------------------------------------------------------------------------------------ */

int fx_convert_arrange(struct fx_timeline *timeline, struct fx_flows *flows)
{
	int r = 0;

	for (size_t i = 0; i < timeline->threads.count && r == 0; i++) {
		r = fx_thread_arrange(timeline, timeline->threads.items[i]);
		if (r == 0)
			r = fx_flows_collect(flows, timeline, timeline->threads.items[i]);
	}
	return r < 0 ? r : fx_flows_resolve(flows);
}

/* --- Events of a thread ----------------------------------------------------------------------- */

static void driver_show_progress(struct driver *driver)
{
	if (driver->progress && ++driver->done % PROGRESS_INTERVAL == 0)
		driver->progress(driver->opaque, driver->done, driver->total);
}

static int walk_thread(struct driver *driver)
{
	int r;

	while ((r = fx_stepper_next(&driver->stepper)) > 0) {
		driver_show_progress(driver);
		if (fx_sink_error(driver->exporter->sink) < 0)
			break;
	}
	fx_stepper_end_slices(&driver->stepper);
	return r < 0 ? r : 0;
}

static int convert_export_thread(struct driver *driver, struct fx_thread *thread)
{
	int r;

	if (thread->count == 0)
		return 0;
	r = fx_stepper_begin(&driver->stepper, thread, NULL);
	if (r == 0) {
		if (driver->ops->enter_thread)
			driver->ops->enter_thread(driver->exporter, thread);
		r = walk_thread(driver);
	}
	fx_stepper_end(&driver->stepper);
	fx_thread_release(thread);
	return r;
}

/* --- The whole -------------------------------------------------------------------------------- */

void fx_convert_names(struct fx_exporter *exporter)
{
	struct fx_timeline *timeline = exporter->timeline;

	for (size_t i = 0; i < timeline->processes.count; i++)
		exporter->ops->process(exporter, timeline->processes.items[i]);
	for (size_t i = 0; i < timeline->threads.count; i++)
		exporter->ops->thread(exporter, timeline->threads.items[i]);
}

static int export_threads(struct driver *driver)
{
	struct fx_timeline *timeline = driver->timeline;
	int r = 0;

	for (size_t i = 0; i < timeline->threads.count; i++)
		driver->total += timeline->threads.items[i]->count;
	for (size_t i = 0; i < timeline->threads.count && r == 0; i++)
		r = convert_export_thread(driver, timeline->threads.items[i]);
	return r;
}

static void convert_export_note(struct fx_exporter *exporter, const char *text)
{
	struct fx_timeline *timeline = exporter->timeline;
	uint32_t id = fx_texts_add(timeline->strings, text, strlen(text));

	if (id)
		exporter->ops->note(exporter,
				    &(struct fx_note){.ts = timeline->last_ts,
						      .text = fx_texts_get(timeline->strings, id)});
}

/* What is missing has to be seen where the events are seen. */
static void export_notes(struct fx_exporter *exporter)
{
	struct fx_timeline *timeline = exporter->timeline;
	char text[160];

	for (size_t i = 0; i < timeline->notes.count; i++)
		exporter->ops->note(exporter, &timeline->notes.items[i]);
	if (timeline->misfits[FX_MISFIT_TOO_DEEP] > 0) {
		snprintf(text, sizeof(text), "%llu events nested deeper than %d are not shown",
			 (unsigned long long)timeline->misfits[FX_MISFIT_TOO_DEEP], FX_MAX_DEPTH);
		convert_export_note(exporter, text);
	}
	if (timeline->fault.kind != FXT_FAULT_NONE) {
		snprintf(text, sizeof(text), "fault in the archive at offset 0x%llx: %s",
			 (unsigned long long)timeline->fault.offset,
			 fxt_fault_text(timeline->fault.kind));
		convert_export_note(exporter, text);
	}
}

static void convert_export_embedded(struct fx_exporter *exporter)
{
	struct fx_timeline *timeline = exporter->timeline;

	if (timeline->embedded.count == 0)
		return;
	if (exporter->ops->embedded)
		exporter->ops->embedded(exporter, timeline->embedded.items,
					timeline->embedded.count);
	else
		timeline->misfits[FX_MISFIT_OTHER_FORMAT]++;
}

int fx_convert_rest(struct fx_exporter *exporter)
{
	int r = fx_async_export(exporter);

	if (r == 0)
		r = fx_sched_export(exporter);
	convert_export_embedded(exporter);
	export_notes(exporter);
	return r < 0 ? r : exporter->error;
}

static int export_all(struct driver *driver)
{
	int r = fx_convert_arrange(driver->timeline, driver->stepper.flows);

	if (r < 0)
		return r;
	fx_convert_names(driver->exporter);
	r = export_threads(driver);
	if (r == 0)
		r = fx_flows_error(driver->stepper.flows);
	return r < 0 ? r : fx_convert_rest(driver->exporter);
}

int fx_convert(struct fx_exporter *exporter, fx_progress *progress, void *opaque)
{
	struct driver driver = {
	    .exporter = exporter,
	    .ops = exporter->ops,
	    .timeline = exporter->timeline,
	    .progress = progress,
	    .opaque = opaque,
	};
	int r = -ENOMEM;

	driver.stepper.exporter = exporter;
	driver.stepper.flows = fx_flows_new(exporter->timeline);
	exporter->ops->begin(exporter);
	if (driver.stepper.flows)
		r = export_all(&driver);
	exporter->ops->finish(exporter);
	fx_flows_free(driver.stepper.flows);
	return r;
}
