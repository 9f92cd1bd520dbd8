/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "convert/event-args.h"
#include "convert/perfetto/attributes.h"

enum { LOST_MAX = 16, ATTRIBUTES_MAX = 24 + LOST_MAX + FX_MISFIT_COUNT };

struct attributes {
	size_t count;
	char lost_keys[LOST_MAX][64];
	Fx__Pf__TraceAttribute items[ATTRIBUTES_MAX];
	Fx__Pf__TraceAttribute *list[ATTRIBUTES_MAX];
};

static Fx__Pf__TraceAttribute *attributes_add(struct attributes *attributes, const char *key)
{
	Fx__Pf__TraceAttribute *attribute = &attributes->items[attributes->count];

	fx__pf__trace_attribute__init(attribute);
	attribute->key = (char *)key;
	attributes->list[attributes->count++] = attribute;
	return attribute;
}

static void attributes_add_text(struct attributes *attributes, const char *key, const char *text)
{
	attributes_add(attributes, key)->string_value = (char *)text;
}

static void attributes_add_count(struct attributes *attributes, const char *key, uint64_t count)
{
	Fx__Pf__TraceAttribute *attribute = attributes_add(attributes, key);

	attribute->has_long_value = 1;
	attribute->long_value = (int64_t)count;
}

/* What could not be shown as it was recorded, where there is any. */
static void attributes_add_misfits(struct attributes *attributes,
				   const struct fx_timeline *timeline)
{
	static const char *const keys[] = {
#define FX_ATTRIBUTES_MISFIT_(name, text) "fxtrace_" #name,
	    FX_MISFITS(FX_ATTRIBUTES_MISFIT_)
#undef FX_ATTRIBUTES_MISFIT_
	};

	for (size_t i = 0; i < FX_MISFIT_COUNT; i++) {
		if (timeline->misfits[i] > 0)
			attributes_add_count(attributes, keys[i], timeline->misfits[i]);
	}
}

/* --- What events say -------------------------------------------------------------------------- */

void fx_facts_call(struct fx_facts *facts, const struct fx_event *event)
{
	const struct fxt_arg *unfinished = fx_event_arg(event, "unfinished");

	facts->unfinished +=
	    event->flags & FX_ENTRY_UNFINISHED ||
	    (unfinished && unfinished->type == FXT_ARG_BOOL && unfinished->boolean);
}

static void facts_note_loss(struct fx_facts *facts, const struct fx_event *event)
{
	const struct fxt_arg *cause = fx_event_arg(event, "cause");
	char word[sizeof(facts->lost[0].cause)];
	int64_t count = 0;
	size_t i = 0;

	if (!cause || cause->type != FXT_ARG_STRING || !fx_event_integer(event, "count", &count))
		return;
	snprintf(word, sizeof(word), "%.*s", (int)cause->string.length, cause->string.data);
	while (i < facts->lost_count && strcmp(facts->lost[i].cause, word) != 0)
		i++;
	if (i == LOST_MAX)
		return;
	facts->lost_count += i == facts->lost_count;
	memcpy(facts->lost[i].cause, word, sizeof(word));
	facts->lost[i].count += (uint64_t)count;
}

static void facts_note_end(struct fx_facts *facts, const struct fx_event *event)
{
	const struct fxt_arg *signal = fx_event_arg(event, "signal");
	int64_t status;

	if (fx_event_integer(event, "exited", &status))
		snprintf(facts->end, sizeof(facts->end), "exited with %" PRId64, status);
	else if (signal && signal->type == FXT_ARG_STRING)
		snprintf(facts->end, sizeof(facts->end), "killed by %.*s",
			 (int)signal->string.length, signal->string.data);
}

void fx_facts_instant(struct fx_facts *facts, const struct fx_timeline *timeline,
		      const struct fx_event *event)
{
	if (fxt_string_equals(event->category, "fxtrace") &&
	    fxt_string_equals(event->name, "records dropped")) {
		facts_note_loss(facts, event);
		return;
	}
	facts->instants++;
	if (fxt_string_equals(event->name, "process exits") &&
	    fxt_string_equals(event->category, "process") &&
	    event->thread->process == timeline->processes.items[0])
		facts_note_end(facts, event);
}

/* --- All -------------------------------------------------------------------------------------- */

static void attributes_add_losses(struct attributes *attributes, const struct fx_facts *facts)
{
	uint64_t lost = 0;

	for (size_t i = 0; i < facts->lost_count; i++)
		lost += facts->lost[i].count;
	attributes_add_count(attributes, "fxtrace_lost", lost);
	for (size_t i = 0; i < facts->lost_count; i++) {
		snprintf(attributes->lost_keys[i], sizeof(attributes->lost_keys[i]),
			 "fxtrace_lost_%s", facts->lost[i].cause);
		attributes_add_count(attributes, attributes->lost_keys[i], facts->lost[i].count);
	}
}

/* Of the process with which the recording began. */
static void attributes_add_first(struct attributes *attributes, const struct fx_process *process,
				 const struct fx_facts *facts)
{
	static const char *const keys[FX_ABOUT_COUNT] = {
	    [FX_ABOUT_COMMAND] = "fxtrace_first_command",
	    [FX_ABOUT_EXECUTABLE] = "fxtrace_first_executable",
	    [FX_ABOUT_DIRECTORY] = "fxtrace_first_directory",
	    [FX_ABOUT_USER] = "fxtrace_first_user",
	};

	if (process->name)
		attributes_add_text(attributes, "fxtrace_first_process", process->name->data);
	attributes_add_count(attributes, "fxtrace_first_pid", process->pid);
	for (unsigned i = 0; i < FX_ABOUT_COUNT; i++) {
		if (keys[i] && process->about[i])
			attributes_add_text(attributes, keys[i], process->about[i]->data);
	}
	if (facts->end[0])
		attributes_add_text(attributes, "fxtrace_first_end", facts->end);
}

void fx_attributes_write(struct fx_packets *packets, const struct fx_timeline *timeline,
			 const struct fx_facts *facts)
{
	Fx__Pf__TracePacket packet = FX__PF__TRACE_PACKET__INIT;
	Fx__Pf__TraceAttributes message = FX__PF__TRACE_ATTRIBUTES__INIT;
	struct attributes attributes = {0};

	attributes_add_text(&attributes, "fxtrace_version", PACKAGE_VERSION);
	if (timeline->host.host[0])
		attributes_add_text(&attributes, "fxtrace_host", timeline->host.host);
	if (timeline->processes.count > 0)
		attributes_add_first(&attributes, timeline->processes.items[0], facts);
	if (timeline->first_ts != UINT64_MAX)
		attributes_add_count(&attributes, "fxtrace_duration_ns",
				     timeline->last_ts - timeline->first_ts);
	attributes_add_count(&attributes, "fxtrace_processes", timeline->processes.count);
	attributes_add_count(&attributes, "fxtrace_threads", timeline->threads.count);
	attributes_add_count(&attributes, "fxtrace_calls", facts->calls);
	attributes_add_count(&attributes, "fxtrace_unfinished", facts->unfinished);
	attributes_add_count(&attributes, "fxtrace_instants", facts->instants);
	attributes_add_count(&attributes, "fxtrace_counter_values", facts->counter_values);
	attributes_add_losses(&attributes, facts);
	attributes_add_count(&attributes, "fxtrace_notes", timeline->notes.count);
	attributes_add_count(&attributes, "fxtrace_faults", timeline->fault_count);
	attributes_add_misfits(&attributes, timeline);
	message.attribute = attributes.list;
	message.n_attribute = attributes.count;
	packet.trace_attributes = &message;
	fx_packets_write(packets, &packet);
}
