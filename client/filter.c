/* SPDX-License-Identifier: MIT */
/* fxtrace filter IN -o OUT: an archive of some of the events of another. */
#include "config.h"

#include <argp.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <fxtrace/reader.h>

#include "archives/copy.h"
#include "client/archive.h"
#include "client/choice.h"
#include "client/commands.h"
#include "client/filters.h"
#include "client/usage.h"
#include "convert/timeline.h"
#include "format/clock-record.h"
#include "format/host-record.h"
#include "manager/archive/output.h"
#include "manager/settings/report.h"

struct sift {
	const char *program;
	const char *in, *out_path;
	struct fx_filters filters;
	struct fx_choice choice;
	struct fx_timeline names; /* of processes and threads alone */
	uint64_t first, newest;	  /* ns */
	struct fx_output *out;
	struct fx_copy *copy;
	uint64_t kept, dropped, arrows; /* events */
	FX_VECTOR(uint64_t) cut;	/* ids of arrows that lack an end, in order */
	bool has_arrows;
	bool is_weighed; /* they are known */
	struct fxt_fault fault;
	uint64_t faults;
	int error;
};

static const struct argp_option option_table[] = {
    {"output", 'o', "FILE", 0, "Write to FILE, compressed by its extension (.gz, .zst)", 1},
    FX_CHOICE_OPTIONS(2),
    FX_FILTER_OPTIONS(3),
    FX_USAGE_OPTIONS,
    {0},
};

static error_t sift_parse_option(int key, char *arg, struct argp_state *state)
{
	struct sift *sift = state->input;

	if (fx_filters_option(&sift->filters, sift->program, key, arg) ||
	    fx_choice_option(&sift->choice, sift->program, key, arg))
		return 0;
	switch (key) {
	case 'o':
		sift->out_path = arg;
		return 0;
	case ARGP_KEY_ARG:
		fx_archive_argument(sift->program, &sift->in, arg);
		return 0;
	case ARGP_KEY_END:
		if (!sift->in)
			sift->in = FX_ARCHIVE_USUAL;
		if (!sift->out_path)
			fx_usage_error(sift->program, "no output given", "-o FILE");
		fx_filters_check(&sift->filters, sift->program);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp sift_parser = {
    .options = option_table,
    .parser = sift_parse_option,
    .args_doc = "[FILE]",
    .doc = "Writes an archive of those events of the trace archive FILE (fxtrace.fxt) that the "
	   "options let pass, "
	   "with the names that these need.",
};

/* --- First: names and the first event --------------------------------------------------------- */

static int sift_name(struct sift *sift, const struct fxt_record *record)
{
	const struct fxt_kernel_object *object = &record->kernel_object;
	const struct fxt_arg *owner = fxt_record_find_arg(record, "process");
	uint32_t id = fx_texts_add(sift->names.strings, object->name.data, object->name.length);
	const struct fx_text *name = id ? fx_texts_get(sift->names.strings, id) : NULL;

	if (!name)
		return object->name.length ? -ENOMEM : 0;
	if (object->type == FXT_OBJECT_PROCESS) {
		struct fx_process *process = fx_timeline_process(&sift->names, object->koid);

		if (!process)
			return -ENOMEM;
		process->name = name;
	} else if (object->type == FXT_OBJECT_THREAD && owner && owner->type == FXT_ARG_KOID) {
		struct fx_thread *thread =
		    fx_timeline_thread(&sift->names, owner->koid, object->koid);

		if (!thread)
			return -ENOMEM;
		thread->name = name;
	}
	return 0;
}

static bool sift_is_arrow(const struct fxt_record *record)
{
	return record->kind == FXT_KIND_EVENT && record->event.type >= FXT_EVENT_FLOW_BEGIN &&
	       record->event.type <= FXT_EVENT_FLOW_END;
}

static int sift_look(struct sift *sift, const struct fxt_record *record)
{
	if (record->kind == FXT_KIND_EVENT) {
		uint64_t rate = record->provider->ticks_per_second;
		uint64_t ns = fxt_ticks_to_ns(record->event.timestamp, rate), end = ns;

		if (record->event.type == FXT_EVENT_DURATION_COMPLETE)
			end = fxt_ticks_to_ns(record->event.end_time, rate);
		if (ns < sift->first)
			sift->first = ns;
		if (end > sift->newest)
			sift->newest = end;
		sift->has_arrows |= sift_is_arrow(record);
	}
	return record->kind == FXT_KIND_KERNEL_OBJECT ? sift_name(sift, record) : 0;
}

/* --- What passes ------------------------------------------------------------------------------ */

static bool sift_thread_passes(struct sift *sift, uint64_t pid, uint64_t tid)
{
	struct fx_thread *thread = fx_timeline_thread(&sift->names, pid, tid);

	if (!thread)
		sift->error = -ENOMEM;
	return thread && fx_filter_thread(&sift->filters.filter, thread) &&
	       !(sift->choice.no_follow && thread->process->number > 0);
}

/* A process passes if its name or id does, whatever is said of threads. */
static bool sift_process_passes(struct sift *sift, uint64_t pid)
{
	struct fx_filter all = {.processes = sift->filters.filter.processes};
	struct fx_thread thread = {.process = fx_timeline_process(&sift->names, pid)};

	if (!thread.process)
		sift->error = -ENOMEM;
	return thread.process && fx_filter_thread(&all, &thread) &&
	       !(sift->choice.no_follow && thread.process->number > 0);
}

static bool sift_time_passes(const struct sift *sift, const struct fxt_record *record,
			     uint64_t ticks, uint64_t end_ticks)
{
	uint64_t rate = record->provider->ticks_per_second;
	uint64_t ts = fxt_ticks_to_ns(ticks, rate), end = fxt_ticks_to_ns(end_ticks, rate);
	const struct fx_filter *filter = &sift->filters.filter;

	return end - sift->first >= filter->from && ts - sift->first <= filter->to;
}

static bool sift_text_passes(struct sift *sift, const struct fx_patterns *patterns,
			     const struct fxt_string *string)
{
	uint32_t id;

	if (patterns->count == 0)
		return true;
	if (string->length == 0)
		return fx_patterns_match(patterns, "");
	id = fx_texts_add(sift->names.strings, string->data, string->length);
	if (!id)
		sift->error = -ENOMEM;
	return id && fx_patterns_match(patterns, fx_texts_get(sift->names.strings, id)->data);
}

/* --- Arrows ----------------------------------------------------------------------------------- */

/* Whether an end of an arrow at this time belongs to the newest record of its thread, as readers see it. */
static bool sift_is_anchor(const struct fx_entry *last, uint64_t ts)
{
	switch (last->kind) {
	case FX_ENTRY_COMPLETE:
		return last->ts == ts || last->end == ts;
	case FX_ENTRY_BEGIN:
	case FX_ENTRY_INSTANT:
		return last->ts == ts;
	case FX_ENTRY_FLOW:
		return last->ts == ts && (last->flags & FX_ENTRY_ANCHORED);
	default:
		return false;
	}
}

/* What has just been looked at is its thread's newest. */
static void sift_remember(struct sift *sift, const struct fxt_record *record, bool passes)
{
	const struct fxt_event *event = &record->event;
	uint64_t rate = record->provider->ticks_per_second;
	struct fx_thread *thread =
	    fx_timeline_thread(&sift->names, event->thread.pid, event->thread.tid);
	struct fx_entry entry = {.ts = fxt_ticks_to_ns(event->timestamp, rate),
				 .kind = FX_ENTRY_COUNTER,
				 .flags = passes ? 0 : FX_ENTRY_LEFT_OUT};

	if (event->type == FXT_EVENT_DURATION_COMPLETE) {
		entry.kind = FX_ENTRY_COMPLETE;
		entry.end = fxt_ticks_to_ns(event->end_time, rate);
	} else if (event->type == FXT_EVENT_DURATION_BEGIN) {
		entry.kind = FX_ENTRY_BEGIN;
	} else if (event->type == FXT_EVENT_INSTANT) {
		entry.kind = FX_ENTRY_INSTANT;
	}
	if (thread)
		thread->last = entry;
	else
		sift->error = -ENOMEM;
}

/*
 * An end of an arrow is kept if what it belongs to is. That is not known where it lies somewhere in a call: such a call
 * is kept if it is not chosen by a text, and at that time.
 */
static bool sift_end_passes(struct sift *sift, const struct fxt_record *record)
{
	const struct fxt_event *event = &record->event;
	const struct fx_filter *filter = &sift->filters.filter;
	uint64_t ts = fxt_ticks_to_ns(event->timestamp, record->provider->ticks_per_second);
	struct fx_thread *thread =
	    fx_timeline_thread(&sift->names, event->thread.pid, event->thread.tid);
	bool is_anchored, passes;

	if (!thread) {
		sift->error = -ENOMEM;
		return false;
	}
	is_anchored = sift_is_anchor(&thread->last, ts);
	if (is_anchored)
		passes = !(thread->last.flags & FX_ENTRY_LEFT_OUT);
	else
		passes = filter->names.count == 0 && filter->categories.count == 0 &&
			 !sift->choice.has_categories && !sift->choice.has_calls &&
			 sift_thread_passes(sift, event->thread.pid, event->thread.tid) &&
			 sift_time_passes(sift, record, event->timestamp, event->timestamp);
	thread->last = (struct fx_entry){.ts = ts,
					 .kind = FX_ENTRY_FLOW,
					 .flags = (is_anchored ? FX_ENTRY_ANCHORED : 0) |
						  (passes ? 0 : FX_ENTRY_LEFT_OUT)};
	return passes;
}

static int sift_compare_ids(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/* An arrow is kept with all of its ends, or not at all. */
static bool sift_arrow_passes(struct sift *sift, const struct fxt_record *record)
{
	bool passes = sift_end_passes(sift, record);

	if (sift->is_weighed)
		return passes && !(sift->cut.count > 0 &&
				   bsearch(&record->event.id, sift->cut.items, sift->cut.count,
					   sizeof(*sift->cut.items), sift_compare_ids));
	if (passes)
		return true;
	if (fx_vector_reserve(&sift->cut, 1) < 0)
		sift->error = -ENOMEM;
	else
		sift->cut.items[sift->cut.count++] = record->event.id;
	return false;
}

/* --- Events ----------------------------------------------------------------------------------- */

static bool sift_category_passes(struct sift *sift, const struct fxt_event *event)
{
	const struct fx_process *process;

	if (!sift->choice.has_categories)
		return true;
	process = fx_timeline_process(&sift->names, event->thread.pid);
	if (!process)
		sift->error = -ENOMEM;
	return process &&
	       fx_choice_category(&sift->choice, process->name ? process->name->data : NULL,
				  &event->category);
}

/* Where begin and end are records of their own, only that is asked in which the two are equal. */
static bool sift_event_passes(struct sift *sift, const struct fxt_record *record)
{
	const struct fxt_event *event = &record->event;
	const struct fx_filter *filter = &sift->filters.filter;
	uint64_t end = event->timestamp;

	if (!sift_text_passes(sift, &filter->categories, &event->category) ||
	    !sift_text_passes(sift, &filter->names, &event->name) ||
	    !sift_category_passes(sift, event) || fx_choice_leaves_out(&sift->choice, record))
		return false;
	switch (event->type) {
	case FXT_EVENT_ASYNC_BEGIN:
	case FXT_EVENT_ASYNC_INSTANT:
	case FXT_EVENT_ASYNC_END:
		return sift_process_passes(sift, event->thread.pid);
	case FXT_EVENT_DURATION_BEGIN:
	case FXT_EVENT_DURATION_END:
		return sift_thread_passes(sift, event->thread.pid, event->thread.tid);
	case FXT_EVENT_DURATION_COMPLETE:
		end = event->end_time;
		break;
	default:
		break;
	}
	return sift_thread_passes(sift, event->thread.pid, event->thread.tid) &&
	       sift_time_passes(sift, record, event->timestamp, end);
}

static bool sift_any_event_passes(struct sift *sift, const struct fxt_record *record)
{
	bool passes;

	if (sift_is_arrow(record))
		return sift_arrow_passes(sift, record);
	passes = sift_event_passes(sift, record);
	sift_remember(sift, record, passes);
	return passes;
}

static bool sift_passes(struct sift *sift, const struct fxt_record *record)
{
	const struct fx_filter *filter = &sift->filters.filter;
	bool by_text =
	    filter->names.count > 0 || filter->categories.count > 0 || sift->choice.has_categories;
	struct fx_clock_record clock;
	const struct fxt_arg *owner;

	switch (record->kind) {
	case FXT_KIND_EVENT:
		return sift_any_event_passes(sift, record);
	case FXT_KIND_LOG:
		return !by_text &&
		       sift_thread_passes(sift, record->log.thread.pid, record->log.thread.tid) &&
		       sift_time_passes(sift, record, record->log.timestamp, record->log.timestamp);
	case FXT_KIND_KERNEL_OBJECT:
		owner = fxt_record_find_arg(record, "process");
		if (record->kernel_object.type == FXT_OBJECT_THREAD && owner)
			return sift_thread_passes(sift, owner->koid, record->kernel_object.koid);
		return sift_process_passes(sift, record->kernel_object.koid);
	case FXT_KIND_MODULE:
	case FXT_KIND_MMAP:
		return sift_process_passes(sift, record->profiler.thread.pid);
	case FXT_KIND_BLOB:
		return fx_clock_record_decode(record, &clock) || fx_host_record_is(record);
	case FXT_KIND_PROVIDER_EVENT:
		return record->provider_record.id == record->provider->id;
	case FXT_KIND_LEGACY_SWITCH:
	case FXT_KIND_CONTEXT_SWITCH:
	case FXT_KIND_THREAD_WAKEUP:
		return !by_text && filter->processes.count == 0 && filter->threads.count == 0 &&
		       !sift->choice.no_follow &&
		       sift_time_passes(sift, record, record->scheduling.timestamp,
					record->scheduling.timestamp);
	default:
		return false;
	}
}

/* --- Writing ---------------------------------------------------------------------------------- */

/* Which arrows lack an end, before any is written. */
static int sift_weigh(struct sift *sift, const struct fxt_record *record)
{
	if (record->kind == FXT_KIND_EVENT)
		sift_any_event_passes(sift, record);
	return sift->error;
}

static int sift_copy(struct sift *sift, const struct fxt_record *record)
{
	const struct fx_copy_way way = {.provider = record->provider->id};
	int written = 0;

	if (sift_passes(sift, record))
		written = fx_copy_record(sift->copy, record, &way);
	if (record->kind == FXT_KIND_EVENT)
		*(written > 0 ? &sift->kept : &sift->dropped) += 1;
	sift->arrows += written == 0 && sift_is_arrow(record);
	if (sift->error < 0)
		return sift->error;
	return written < 0 ? written : 0;
}

/* --- The whole -------------------------------------------------------------------------------- */

static void sift_note_fault(void *opaque, const struct fxt_fault *fault)
{
	struct sift *sift = opaque;

	if (sift->faults++ == 0)
		sift->fault = *fault;
}

/* Reads all of the archive. */
static int sift_pass(struct sift *sift, int (*step)(struct sift *, const struct fxt_record *))
{
	const struct fxt_record *record;
	struct fxt_reader *reader;
	int r = fx_choice_rewind(&sift->choice);

	if (r == 0)
		r = fxt_reader_open_path(sift->in, &reader);
	if (r < 0)
		return r;
	sift->faults = 0;
	for (size_t i = 0; i < sift->names.threads.count; i++)
		sift->names.threads.items[i]->last = (struct fx_entry){.kind = FX_ENTRY_COUNTER};
	fxt_reader_set_fault_handler(reader, sift_note_fault, sift);
	while ((r = fxt_reader_next(reader, &record)) > 0) {
		r = step(sift, record);
		if (r < 0)
			break;
	}
	fxt_reader_close(reader);
	return r < 0 ? r : fx_choice_error(&sift->choice);
}

static int sift_complain(const struct sift *sift, const char *file, int error)
{
	return fx_archive_complain(sift->program, file, error,
				   sift->faults > 0 ? &sift->fault : NULL);
}

static int sift_into(struct sift *sift)
{
	int r = fx_output_begin(sift->out);

	if (r < 0)
		return r;
	sift->copy = fx_copy_new(sift->out);
	r = sift->copy ? sift_pass(sift, sift_copy) : -ENOMEM;
	fx_copy_free(sift->copy);
	return r;
}

static void sift_last(struct sift *sift)
{
	uint64_t span = sift->newest - sift->first, last = sift->choice.last;

	if (last && last < span && span - last > sift->filters.filter.from)
		sift->filters.filter.from = span - last;
}

static int sift_all(struct sift *sift)
{
	int closed, r = sift_pass(sift, sift_look);

	sift_last(sift);
	if (r == 0)
		r = fx_choice_look(&sift->choice, sift->in);
	if (r == 0 && sift->has_arrows)
		r = sift_pass(sift, sift_weigh);
	if (r == 0 && sift->cut.count > 0)
		qsort(sift->cut.items, sift->cut.count, sizeof(*sift->cut.items), sift_compare_ids);
	sift->is_weighed = true;
	if (r < 0)
		return sift_complain(sift, sift->in, r);
	if (fx_archive_is_same(sift->in, sift->out_path))
		fx_usage_error(sift->program, "would be written over itself", sift->in);
	r = fx_output_open_whole(sift->out_path, &sift->out);
	if (r < 0)
		return sift_complain(sift, sift->out_path, r);
	r = sift_into(sift);
	if (r == 0)
		fx_output_keep(sift->out);
	closed = fx_output_close(sift->out, NULL);
	if (closed < 0)
		return sift_complain(sift, sift->out_path, closed);
	if (r < 0 || sift->faults > 0)
		return sift_complain(sift, sift->in, r);
	fprintf(stderr,
		"%s: %s: %" PRIu64 " events kept, %" PRIu64 " left out, %" PRIu64
		" of them of arrows\n",
		sift->program, sift->out_path, sift->kept, sift->dropped, sift->arrows);
	return FX_EXIT_OK;
}

int fx_cmd_filter(int argc, char **argv)
{
	struct sift sift = {.program = argv[0], .filters = FX_FILTERS_INIT, .first = UINT64_MAX};
	int status = FX_EXIT_FAILURE;

	fx_usage_parse(argv[0], &sift_parser, argc, argv, 0, &sift);
	fx_runs_pool_init(&sift.names.pool);
	sift.names.strings = fx_texts_new();
	if (sift.names.strings)
		status = sift_all(&sift);
	else
		fx_report_as(sift.program, "%s", strerror(ENOMEM));
	fx_timeline_close(&sift.names);
	fx_choice_free(&sift.choice);
	fx_vector_free(&sift.cut);
	return status;
}
