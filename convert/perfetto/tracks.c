/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "convert/perfetto/processes.h"
#include "convert/perfetto/tracks.h"
#include "convert/title.h"
#include "lists/hashes.h"

/* A track's uuid is its number among those of its kind, with the kind in the low bits. */
enum track_kind {
	TRACK_PROCESS = 1,
	TRACK_THREAD,
	TRACK_ASYNC,
	TRACK_COUNTER,
	TRACK_NOTES,
	TRACK_GLOBAL,
};

enum { TRACK_KIND_BITS = 3 };

/* The number of the track of notes on the whole trace. */
#define NO_PROCESS UINT32_MAX

struct counter_key {
	uint64_t counter_id;
	uint32_t process;
	uint32_t name;
	uint32_t arg;
	uint32_t padding;
};

struct fx_counter_track {
	struct counter_key key;
	uint64_t uuid;
	UT_hash_handle hh;
};

void fx_tracks_init(struct fx_tracks *tracks, struct fx_packets *packets)
{
	memset(tracks, 0, sizeof(*tracks));
	tracks->packets = packets;
}

void fx_tracks_release(struct fx_tracks *tracks)
{
	struct fx_counter_track *counter, *next;

	HASH_ITER (hh, tracks->counters, counter, next) {
		HASH_DEL(tracks->counters, counter);
		free(counter);
	}
	fx_vector_free(&tracks->notes_described);
}

static uint64_t make_uuid(enum track_kind kind, uint64_t number)
{
	return number << TRACK_KIND_BITS | kind;
}

static char *text_of(const struct fx_tracks *tracks, uint32_t id)
{
	return id ? (char *)fx_texts_get(tracks->packets->strings, id)->data : "";
}

static void write_track(struct fx_tracks *tracks, Fx__Pf__TrackDescriptor *track)
{
	Fx__Pf__TracePacket packet = FX__PF__TRACE_PACKET__INIT;

	packet.track_descriptor = track;
	fx_packets_write(tracks->packets, &packet);
}

/* A track with a name, below @parent (0: none). */
static void write_named_track(struct fx_tracks *tracks, uint64_t uuid, uint64_t parent,
			      const char *name)
{
	Fx__Pf__TrackDescriptor track = FX__PF__TRACK_DESCRIPTOR__INIT;

	track.has_uuid = 1;
	track.uuid = uuid;
	track.has_parent_uuid = parent != 0;
	track.parent_uuid = parent;
	track.name = (char *)name;
	write_track(tracks, &track);
}

uint64_t fx_track_of_process(const struct fx_process *process)
{
	return make_uuid(TRACK_PROCESS, process->number);
}

uint64_t fx_track_of_thread(const struct fx_thread *thread)
{
	return make_uuid(TRACK_THREAD, thread->number);
}

void fx_tracks_describe_process(struct fx_tracks *tracks, const struct fx_process *process)
{
	char number[40], title[FX_TITLE_MAX];
	uint64_t uuid = fx_track_of_process(process);

	if (fx_is_linux_id(process->pid)) {
		fx_process_write(tracks->packets, process, uuid);
		return;
	}
	snprintf(number, sizeof(number), "process %" PRIu64, process->pid);
	write_named_track(tracks, uuid, 0, fx_title_of(process, title) ? title : number);
}

void fx_tracks_describe_thread(struct fx_tracks *tracks, const struct fx_thread *thread)
{
	Fx__Pf__TrackDescriptor track = FX__PF__TRACK_DESCRIPTOR__INIT;
	Fx__Pf__ThreadDescriptor descriptor = FX__PF__THREAD_DESCRIPTOR__INIT;
	uint64_t uuid = fx_track_of_thread(thread);
	uint64_t parent = fx_track_of_process(thread->process);
	char name[40];

	if (!fx_is_linux_id(thread->key.tid) || !fx_is_linux_id(thread->key.pid)) {
		snprintf(name, sizeof(name), "thread %" PRIu64, thread->key.tid);
		write_named_track(tracks, uuid, parent, thread->name ? thread->name->data : name);
		return;
	}
	track.has_uuid = track.has_parent_uuid = 1;
	track.uuid = uuid;
	track.parent_uuid = parent;
	descriptor.has_pid = descriptor.has_tid = 1;
	descriptor.pid = (int32_t)thread->key.pid;
	descriptor.tid = (int32_t)thread->key.tid;
	descriptor.thread_name = thread->name ? (char *)thread->name->data : NULL;
	track.thread = &descriptor;
	write_track(tracks, &track);
}

uint64_t fx_tracks_global(struct fx_tracks *tracks)
{
	uint64_t uuid = make_uuid(TRACK_GLOBAL, 0);

	if (!tracks->global_described)
		write_named_track(tracks, uuid, 0, "Instants of the whole trace");
	tracks->global_described = true;
	return uuid;
}

static bool tracks_ends_with(const char *text, const char *end)
{
	size_t length = strlen(text), end_length = strlen(end);

	return length >= end_length && strcmp(text + length - end_length, end) == 0;
}

static Fx__Pf__CounterDescriptor__Unit guess_unit(const char *name, const char *arg)
{
	if (tracks_ends_with(arg, "bytes") || tracks_ends_with(name, "bytes"))
		return FX__PF__COUNTER_DESCRIPTOR__UNIT__UNIT_SIZE_BYTES;
	if (tracks_ends_with(arg, "_ns"))
		return FX__PF__COUNTER_DESCRIPTOR__UNIT__UNIT_TIME_NS;
	return FX__PF__COUNTER_DESCRIPTOR__UNIT__UNIT_UNSPECIFIED;
}

static void describe_counter(struct fx_tracks *tracks, const struct fx_counter_track *counter)
{
	Fx__Pf__TrackDescriptor track = FX__PF__TRACK_DESCRIPTOR__INIT;
	Fx__Pf__CounterDescriptor descriptor = FX__PF__COUNTER_DESCRIPTOR__INIT;
	const char *name = text_of(tracks, counter->key.name);
	const char *arg = text_of(tracks, counter->key.arg);
	size_t size = strlen(name) + strlen(arg) + 32;
	char *text = malloc(size);

	if (!text) {
		tracks->packets->error = -ENOMEM;
		return;
	}
	if (counter->key.counter_id)
		snprintf(text, size, "%s %s #%" PRIu64, name, arg, counter->key.counter_id);
	else
		snprintf(text, size, "%s %s", name, arg);
	descriptor.unit = guess_unit(name, arg);
	descriptor.has_unit = descriptor.unit != FX__PF__COUNTER_DESCRIPTOR__UNIT__UNIT_UNSPECIFIED;
	track.has_uuid = track.has_parent_uuid = 1;
	track.uuid = counter->uuid;
	track.parent_uuid = make_uuid(TRACK_PROCESS, counter->key.process);
	track.name = text;
	track.counter = &descriptor;
	write_track(tracks, &track);
	free(text);
}

uint64_t fx_tracks_counter(struct fx_tracks *tracks, const struct fx_event *event, uint64_t id,
			   const struct fxt_arg *arg)
{
	struct counter_key key = {
	    .counter_id = id,
	    .process = event->thread->process->number,
	    .name = event->name->serial,
	    .arg = arg->name.serial,
	};
	struct fx_counter_track *counter;

	HASH_FIND(hh, tracks->counters, &key, sizeof(key), counter);
	if (counter)
		return counter->uuid;
	counter = calloc(1, sizeof(*counter));
	if (!counter) {
		tracks->packets->error = -ENOMEM;
		return 0;
	}
	counter->key = key;
	counter->uuid = make_uuid(TRACK_COUNTER, ++tracks->counter_count);
	HASH_ADD(hh, tracks->counters, key, sizeof(counter->key), counter);
	describe_counter(tracks, counter);
	return counter->uuid;
}

uint64_t fx_tracks_async(struct fx_tracks *tracks, const struct fx_async_track *track)
{
	uint64_t uuid = make_uuid(TRACK_ASYNC, track->number);

	if (track->number <= tracks->async_track_count)
		return uuid;
	tracks->async_track_count = track->number;
	write_named_track(tracks, uuid, fx_track_of_process(track->process),
			  text_of(tracks, track->name));
	return uuid;
}

/* Whether the track was described, to be set; NULL: no memory. */
static bool *notes_mark(struct fx_tracks *tracks, const struct fx_process *process)
{
	size_t wanted;

	if (!process)
		return &tracks->trace_notes_described;
	wanted = (size_t)process->number + 1;
	if (tracks->notes_described.count < wanted) {
		size_t missing = wanted - tracks->notes_described.count;

		if (fx_vector_reserve(&tracks->notes_described, missing) < 0)
			return NULL;
		memset(tracks->notes_described.items + tracks->notes_described.count, 0,
		       missing * sizeof(bool));
		tracks->notes_described.count = wanted;
	}
	return &tracks->notes_described.items[process->number];
}

uint64_t fx_tracks_notes(struct fx_tracks *tracks, const struct fx_process *process)
{
	uint64_t uuid = make_uuid(TRACK_NOTES, process ? process->number : NO_PROCESS);
	uint64_t parent = process ? fx_track_of_process(process) : 0;
	bool *described = notes_mark(tracks, process);

	if (!described) {
		tracks->packets->error = -ENOMEM;
		return 0;
	}
	if (!*described)
		write_named_track(tracks, uuid, parent, "fxtrace");
	*described = true;
	return uuid;
}
