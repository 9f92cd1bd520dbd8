/* SPDX-License-Identifier: MIT */
/* Names, scheduling, what is told of providers, and what is passed on as it is. */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "convert/indexing.h"
#include "format/clock-record.h"

int fx_index_sched(struct fx_indexer *indexer)
{
	const struct fxt_scheduling *sched = &indexer->record->scheduling;
	struct fx_timeline *timeline = indexer->timeline;
	struct fx_sched_entry *entry;
	uint64_t ts, word;
	int r;

	if (!fx_indexer_ns(indexer, sched->timestamp, &ts)) {
		fx_indexer_misfit(timeline, FX_MISFIT_BAD_TIME);
		return 0;
	}
	r = fx_indexer_keep(indexer, &word);
	if (r < 0)
		return r;
	entry = fx_runs_add(&timeline->scheds);
	if (!entry)
		return -ENOMEM;
	*entry = (struct fx_sched_entry){.ts = ts,
					 .word = word,
					 .outgoing = sched->outgoing.tid,
					 .incoming = sched->incoming.tid,
					 .provider = indexer->provider_number};
	fx_indexer_note_time(indexer, ts);
	return 0;
}

int fx_index_string(struct fx_indexer *indexer)
{
	const struct fxt_string_record *string = &indexer->record->string;
	uint64_t word = fx_records_word(indexer->timeline->records, indexer->record);
	uint32_t text =
	    fx_texts_add(indexer->timeline->strings, string->text.data, string->text.length);

	if (string->index == 0)
		return 0;
	if (!text)
		return -ENOMEM;
	return fx_timeline_provider_define(indexer->provider, string->index, word,
					   fx_texts_get(indexer->timeline->strings, text));
}

/* What is told of a process with its name. 0 or -ENOMEM. */
static int index_abouts(struct fx_indexer *indexer, struct fx_process *process)
{
	for (unsigned i = 0; i < FX_ABOUT_COUNT; i++) {
		const struct fxt_arg *arg = fxt_record_find_arg(indexer->record, fx_about_name(i));
		uint32_t id;

		/* It is another program's that is told anew. */
		if (i == FX_ABOUT_TITLE && !arg && process->about[FX_ABOUT_COMMAND])
			process->about[i] = NULL;
		if (!arg || arg->type != FXT_ARG_STRING || arg->string.length == 0)
			continue;
		id = fx_texts_add(indexer->timeline->strings, arg->string.data, arg->string.length);
		if (!id)
			return -ENOMEM;
		process->about[i] = fx_texts_get(indexer->timeline->strings, id);
	}
	return 0;
}

int fx_index_object(struct fx_indexer *indexer)
{
	const struct fxt_kernel_object *object = &indexer->record->kernel_object;
	const struct fxt_arg *owner = fxt_record_find_arg(indexer->record, "process");
	struct fx_timeline *timeline = indexer->timeline;
	const struct fx_text *name;
	uint32_t id;

	if (object->name.length == 0)
		return 0;
	id = fx_texts_add(timeline->strings, object->name.data, object->name.length);
	if (!id)
		return -ENOMEM;
	name = fx_texts_get(timeline->strings, id);
	if (object->type == FXT_OBJECT_PROCESS) {
		struct fx_process *process = fx_timeline_process(timeline, object->koid);

		if (!process)
			return -ENOMEM;
		process->name = name;
		if (!indexer->provider->process)
			indexer->provider->process = process;
		return index_abouts(indexer, process);
	} else if (object->type == FXT_OBJECT_THREAD && owner && owner->type == FXT_ARG_KOID) {
		struct fx_thread *thread = fx_timeline_thread(timeline, owner->koid, object->koid);

		if (!thread)
			return -ENOMEM;
		thread->name = name;
	}
	return 0;
}

/* The record has no time: it is shown where its provider was last seen. */
int fx_index_provider_event(struct fx_indexer *indexer)
{
	struct fx_timeline *timeline = indexer->timeline;
	uint64_t ts = indexer->provider->last_ts;
	char text[FXT_MAX_NAME_LENGTH + 80];
	uint32_t id;

	if (indexer->record->provider_record.event != FXT_PROVIDER_BUFFER_FULL)
		return 0;
	snprintf(text, sizeof(text), "buffer full: events of %s were dropped",
		 indexer->record->provider->name);
	id = fx_texts_add(timeline->strings, text, strlen(text));
	if (!id || fx_vector_reserve(&timeline->notes, 1) < 0)
		return -ENOMEM;
	timeline->notes.items[timeline->notes.count++] =
	    (struct fx_note){.ts = ts,
			     .text = fx_texts_get(timeline->strings, id),
			     .provider = indexer->provider_number};
	return 0;
}

int fx_index_blob(struct fx_indexer *indexer)
{
	const struct fxt_blob *blob = &indexer->record->blob;
	struct fx_timeline *timeline = indexer->timeline;
	struct fx_clock_record clock;

	if (fx_clock_record_decode(indexer->record, &clock)) {
		if (!timeline->has_unix_offset)
			timeline->unix_offset = (int64_t)(clock.realtime - clock.ns);
		timeline->has_unix_offset = true;
		return 0;
	}
	if (fx_host_record_is(indexer->record)) {
		if (!timeline->has_host)
			timeline->has_host =
			    fx_host_record_decode(indexer->record, &timeline->host);
		return 0;
	}
	if (blob->type != FXT_BLOB_PERFETTO) {
		fx_indexer_misfit(timeline, FX_MISFIT_ATTACHMENT);
		return 0;
	}
	if (blob->payload.size == 0)
		return 0;
	if (fx_vector_reserve(&timeline->embedded, blob->payload.size) < 0)
		return -ENOMEM;
	memcpy(timeline->embedded.items + timeline->embedded.count, blob->payload.data,
	       blob->payload.size);
	timeline->embedded.count += blob->payload.size;
	return 0;
}
