/* SPDX-License-Identifier: MIT */
/* fxtrace filter IN -o OUT: an archive of some of the events of another. */
#include "config.h"

#include <argp.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <fxtrace/reader.h>

#include "client/commands.h"
#include "client/filters.h"
#include "client/usage.h"
#include "convert/timeline.h"
#include "format/encode.h"
#include "manager/archive/output.h"

/* What the archive that is written has of a provider. */
struct sift_provider {
	uint32_t id;
	uint32_t strings[FXT_MAX(STRING_INDEX) + 1]; /* serials */
	struct fxt_thread threads[FXT_MAX(THREAD_INDEX) + 1];
	UT_hash_handle hh;
};

struct sift {
	const char *program;
	const char *in, *out_path;
	struct fx_filters filters;
	struct fx_timeline names; /* of processes and threads alone */
	uint64_t first;		  /* ns */
	struct sift_provider *providers, *current;
	struct fx_output *out;
	uint64_t kept, dropped, arrows; /* events */
	struct fxt_fault fault;
	uint64_t faults;
	int error;
};

static const struct argp_option option_table[] = {
    {"output", 'o', "FILE", 0, "Write to FILE, compressed by its extension (.gz, .zst)", 1},
    FX_FILTER_OPTIONS(2),
    FX_USAGE_OPTIONS,
    {0},
};

static const struct argp sift_parser;

static error_t sift_parse_option(int key, char *arg, struct argp_state *state)
{
	struct sift *sift = state->input;

	if (fx_filters_option(&sift->filters, sift->program, key, arg))
		return 0;
	switch (key) {
	case 'o':
		sift->out_path = arg;
		return 0;
	case ARGP_KEY_ARG:
		if (sift->in)
			fx_usage_error(sift->program, "more than one FILE given", arg);
		sift->in = arg;
		return 0;
	case ARGP_KEY_END:
		if (!sift->in)
			fx_usage_error(sift->program, "no FILE given", NULL);
		if (!sift->out_path)
			fx_usage_error(sift->program, "no output given", "-o FILE");
		fx_filters_check(&sift->filters, sift->program);
		return 0;
	default:
		return fx_usage_option(sift->program, &sift_parser, key, state);
	}
}

static const struct argp sift_parser = {
    .options = option_table,
    .parser = sift_parse_option,
    .args_doc = "FILE",
    .doc = "Writes an archive of those events of the trace archive FILE that the options let pass, "
	   "with the names that these need.\vArrows between calls are left out.",
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

static int sift_look(struct sift *sift, const struct fxt_record *record)
{
	if (record->kind == FXT_KIND_EVENT) {
		uint64_t ns =
		    fxt_ticks_to_ns(record->event.timestamp, record->provider->ticks_per_second);

		if (ns < sift->first)
			sift->first = ns;
	}
	return record->kind == FXT_KIND_KERNEL_OBJECT ? sift_name(sift, record) : 0;
}

/* --- What passes ------------------------------------------------------------------------------ */

static bool sift_thread_passes(struct sift *sift, uint64_t pid, uint64_t tid)
{
	struct fx_thread *thread = fx_timeline_thread(&sift->names, pid, tid);

	if (!thread)
		sift->error = -ENOMEM;
	return thread && fx_filter_thread(&sift->filters.filter, thread);
}

/* A process passes if its name or id does, whatever is said of threads. */
static bool sift_process_passes(struct sift *sift, uint64_t pid)
{
	struct fx_filter all = {.processes = sift->filters.filter.processes};
	struct fx_thread thread = {.process = fx_timeline_process(&sift->names, pid)};

	if (!thread.process)
		sift->error = -ENOMEM;
	return thread.process && fx_filter_thread(&all, &thread);
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

/* Where begin and end are records of their own, only that is asked in which the two are equal. */
static bool sift_event_passes(struct sift *sift, const struct fxt_record *record)
{
	const struct fxt_event *event = &record->event;
	const struct fx_filter *filter = &sift->filters.filter;
	uint64_t end = event->timestamp;

	if (!sift_text_passes(sift, &filter->categories, &event->category) ||
	    !sift_text_passes(sift, &filter->names, &event->name))
		return false;
	switch (event->type) {
	case FXT_EVENT_ASYNC_BEGIN:
	case FXT_EVENT_ASYNC_INSTANT:
	case FXT_EVENT_ASYNC_END:
		return sift_process_passes(sift, event->thread.pid);
	case FXT_EVENT_FLOW_BEGIN:
	case FXT_EVENT_FLOW_STEP:
	case FXT_EVENT_FLOW_END:
		sift->arrows++;
		return false;
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

static bool sift_passes(struct sift *sift, const struct fxt_record *record)
{
	const struct fx_filter *filter = &sift->filters.filter;
	bool by_text = filter->names.count > 0 || filter->categories.count > 0;
	const struct fxt_arg *owner;

	switch (record->kind) {
	case FXT_KIND_EVENT:
		return sift_event_passes(sift, record);
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
	case FXT_KIND_PROVIDER_EVENT:
		return sift->current && sift->current->id == record->provider->id;
	case FXT_KIND_LEGACY_SWITCH:
	case FXT_KIND_CONTEXT_SWITCH:
	case FXT_KIND_THREAD_WAKEUP:
		return !by_text && filter->processes.count == 0 && filter->threads.count == 0 &&
		       sift_time_passes(sift, record, record->scheduling.timestamp,
					record->scheduling.timestamp);
	default:
		return false;
	}
}

/* --- Writing, with what a record refers to ---------------------------------------------------- */

static struct fx_encoder sift_room(struct sift *sift)
{
	struct fx_encoder encoder;

	fx_encoder_init(&encoder, fx_output_reserve(sift->out, FXT_MAX_RECORD_WORDS),
			FXT_MAX_RECORD_WORDS);
	return encoder;
}

static void sift_introduce(struct sift *sift, const struct fxt_provider *provider)
{
	struct fx_encoder encoder = sift_room(sift);

	fx_encode_provider_info(&encoder, provider->id, provider->name, strlen(provider->name));
	fx_encode_initialization(&encoder, provider->ticks_per_second);
	fx_output_commit(sift->out, encoder.used);
}

/* What follows is of this provider. */
static void sift_select(struct sift *sift, const struct fxt_provider *provider)
{
	struct sift_provider *known;

	if (sift->current && sift->current->id == provider->id)
		return;
	HASH_FIND(hh, sift->providers, &provider->id, sizeof(provider->id), known);
	if (known) {
		struct fx_encoder encoder = sift_room(sift);

		fx_encode_provider_section(&encoder, provider->id);
		fx_output_commit(sift->out, encoder.used);
	} else {
		known = calloc(1, sizeof(*known));
		if (!known) {
			sift->error = -ENOMEM;
			return;
		}
		known->id = provider->id;
		HASH_ADD(hh, sift->providers, id, sizeof(known->id), known);
		sift_introduce(sift, provider);
	}
	sift->current = known;
}

static void sift_string(struct sift *sift, const struct fxt_string *string)
{
	struct fx_encoder encoder;

	if (string->ref == FXT_STRING_EMPTY || (string->ref & FXT_STRING_INLINE) ||
	    string->serial == 0 || sift->current->strings[string->ref] == string->serial)
		return;
	sift->current->strings[string->ref] = string->serial;
	encoder = sift_room(sift);
	fx_encode_string(&encoder, string->ref, string->data, string->length);
	fx_output_commit(sift->out, encoder.used);
}

static void sift_thread(struct sift *sift, const struct fxt_thread *thread)
{
	struct fxt_thread *known = &sift->current->threads[thread->ref];
	struct fx_encoder encoder;

	if (thread->ref == FXT_THREAD_INLINE ||
	    (known->ref && known->pid == thread->pid && known->tid == thread->tid))
		return;
	*known = *thread;
	encoder = sift_room(sift);
	fx_encode_thread(&encoder, thread->ref, thread->pid, thread->tid);
	fx_output_commit(sift->out, encoder.used);
}

static void sift_write(struct sift *sift, const struct fxt_record *record)
{
	sift_select(sift, record->provider);
	if (sift->error < 0 || record->size > FX_OUTPUT_RECORD_MAX)
		return;
	if (record->kind == FXT_KIND_EVENT) {
		sift_thread(sift, &record->event.thread);
		sift_string(sift, &record->event.category);
		sift_string(sift, &record->event.name);
	} else if (record->kind == FXT_KIND_LOG) {
		sift_thread(sift, &record->log.thread);
	} else if (record->kind == FXT_KIND_KERNEL_OBJECT) {
		sift_string(sift, &record->kernel_object.name);
	} else if (record->kind == FXT_KIND_MODULE || record->kind == FXT_KIND_MMAP) {
		sift_thread(sift, &record->profiler.thread);
	} else if (record->kind == FXT_KIND_LEGACY_SWITCH) {
		sift_thread(sift, &record->scheduling.outgoing);
		sift_thread(sift, &record->scheduling.incoming);
	}
	for (uint32_t i = 0; i < record->nargs; i++) {
		sift_string(sift, &record->args[i].name);
		if (record->args[i].type == FXT_ARG_STRING)
			sift_string(sift, &record->args[i].string);
	}
	memcpy(fx_output_reserve(sift->out, record->size), record->words,
	       record->size * FXT_WORD_SIZE);
	fx_output_commit(sift->out, record->size);
}

static int sift_copy(struct sift *sift, const struct fxt_record *record)
{
	bool passes = sift_passes(sift, record);

	if (passes)
		sift_write(sift, record);
	if (record->kind == FXT_KIND_EVENT)
		*(passes ? &sift->kept : &sift->dropped) += 1;
	return sift->error < 0 ? sift->error : fx_output_error(sift->out);
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
	int r = fxt_reader_open_path(sift->in, &reader);

	if (r < 0)
		return r;
	sift->faults = 0;
	fxt_reader_set_fault_handler(reader, sift_note_fault, sift);
	while ((r = fxt_reader_next(reader, &record)) > 0) {
		r = step(sift, record);
		if (r < 0)
			break;
	}
	fxt_reader_close(reader);
	return r;
}

static int sift_complain(const struct sift *sift, const char *file, int error)
{
	char text[160];

	if (sift->faults > 0 && (error == 0 || error == -EBADMSG)) {
		fxt_fault_format(&sift->fault, text, sizeof(text));
		fprintf(stderr, "%s: %s: offset 0x%" PRIx64 ": %s\n", sift->program, file,
			sift->fault.offset, text);
	} else {
		fprintf(stderr, "%s: %s: %s\n", sift->program, file, strerror(-error));
	}
	return FX_EXIT_FAILURE;
}

/* An archive that is read cannot be written over. */
static bool sift_is_same(const struct sift *sift)
{
	struct stat in, out;

	return stat(sift->in, &in) == 0 && stat(sift->out_path, &out) == 0 &&
	       in.st_dev == out.st_dev && in.st_ino == out.st_ino;
}

static int sift_into(struct sift *sift)
{
	struct fx_encoder encoder;
	int r = fx_output_begin(sift->out);

	if (r < 0)
		return r;
	encoder = sift_room(sift);
	fx_encode_magic(&encoder);
	fx_output_commit(sift->out, encoder.used);
	return sift_pass(sift, sift_copy);
}

static int sift_all(struct sift *sift)
{
	int closed, r = sift_pass(sift, sift_look);

	if (r < 0)
		return sift_complain(sift, sift->in, r);
	if (sift_is_same(sift))
		fx_usage_error(sift->program, "would be written over itself", sift->in);
	r = fx_output_open(sift->out_path, &sift->out);
	if (r < 0)
		return sift_complain(sift, sift->out_path, r);
	r = sift_into(sift);
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
	struct sift_provider *provider, *next;
	int status = FX_EXIT_FAILURE;

	argp_parse(&sift_parser, argc, argv, ARGP_NO_ERRS | ARGP_NO_HELP, NULL, &sift);
	fx_runs_pool_init(&sift.names.pool);
	sift.names.strings = fx_texts_new();
	if (sift.names.strings)
		status = sift_all(&sift);
	HASH_ITER (hh, sift.providers, provider, next) {
		HASH_DEL(sift.providers, provider);
		free(provider);
	}
	fx_timeline_close(&sift.names);
	return status;
}
