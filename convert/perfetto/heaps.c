/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "convert/perfetto/heaps.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lists/hashes.h"
#include "convert/heap.h"
#include "convert/perfetto/stacks.h"
#include "convert/perfetto/tracks.h"

enum {
	HEAPS_MOMENTS = 16, /* evenly spread; the last is the end */
	HEAPS_CLOCK_MONOTONIC_COARSE = 4,
	HEAPS_CLOCK_BOOTTIME = 6,
};

struct heaps_key {
	uint32_t process, place; /* numbers of a process and of a stack's text */
};

/* What a stack of a process has done until a moment. */
struct heaps_state {
	uint64_t allocated, freed, allocations, frees;
	unsigned moment;
};

struct heaps_site {
	struct heaps_key key;
	struct heaps_state now;
	FX_VECTOR(struct heaps_state) states; /* of the moments until which something had changed */
	UT_hash_handle hh;
};

void fx_heaps_init(struct fx_heaps *heaps, struct fx_packets *packets, struct fx_timeline *timeline)
{
	*heaps = (struct fx_heaps){.packets = packets, .timeline = timeline};
}

void fx_heaps_release(struct fx_heaps *heaps)
{
	for (size_t i = 0; i < heaps->order.count; i++) {
		fx_vector_free(&heaps->order.items[i]->states);
		free(heaps->order.items[i]);
	}
	fx_vector_free(&heaps->order);
	fx_vector_free(&heaps->open);
	fx_vector_free(&heaps->text);
	fx_heap_free(heaps->heap);
}

static void heaps_fail(struct fx_heaps *heaps, int error)
{
	if (heaps->error == 0)
		heaps->error = error;
}

/* --- Stacks ----------------------------------------------------------------------------------- */

static void heaps_add_line(struct fx_heaps *heaps, const char *data, size_t length)
{
	if (fx_vector_reserve(&heaps->text, length + 1) < 0) {
		heaps_fail(heaps, -ENOMEM);
		return;
	}
	memcpy(heaps->text.items + heaps->text.count, data, length);
	heaps->text.count += length;
	heaps->text.items[heaps->text.count++] = '\n';
}

/* The first of the functions, as many as a stack may have with its innermost. */
static size_t heaps_stack_length(const char *text, size_t length)
{
	const char *at = text, *newline = NULL;

	for (unsigned lines = 1; lines < FX_STACK_FRAMES; lines++) {
		newline = memchr(at, '\n', length - (size_t)(at - text));
		if (!newline)
			return length;
		at = newline + 1;
	}
	return (size_t)(at - text) - 1;
}

static void heaps_add_open(struct fx_heaps *heaps)
{
	size_t count = heaps->open.count, least = 0;

	if (count > FX_STACK_FRAMES - 1)
		least = count - (FX_STACK_FRAMES - 1);
	while (count-- > least) {
		uint32_t name = heaps->open.items[count];
		const struct fx_text *text;

		if (!name)
			continue;
		text = fx_texts_get(heaps->timeline->strings, name);
		heaps_add_line(heaps, text->data, text->length);
	}
}

/* The number of the text that has the call's functions in its lines, the innermost first. */
static uint32_t heaps_place(struct fx_heaps *heaps, const struct fx_event *event)
{
	const struct fxt_arg *stack = fx_stacks_of(event);
	uint32_t place;

	heaps->text.count = 0;
	heaps_add_line(heaps, event->name->data, event->name->length);
	if (stack && stack->string.length > 0)
		heaps_add_line(heaps, stack->string.data,
			       heaps_stack_length(stack->string.data, stack->string.length));
	else
		heaps_add_open(heaps);
	if (heaps->error < 0)
		return 0;
	place = fx_texts_add(heaps->timeline->strings, heaps->text.items, heaps->text.count - 1);
	if (!place)
		heaps_fail(heaps, -ENOMEM);
	return place;
}

/* --- Calls ------------------------------------------------------------------------------------ */

static bool heaps_is_ready(struct fx_heaps *heaps)
{
	if (!heaps->heap)
		heaps->heap = fx_heap_new();
	if (!heaps->heap)
		heaps_fail(heaps, -ENOMEM);
	return heaps->error == 0;
}

void fx_heaps_enter_thread(struct fx_heaps *heaps)
{
	heaps->open.count = 0;
}

void fx_heaps_begin(struct fx_heaps *heaps, const struct fx_event *event)
{
	/* Neither a call of the heap nor an exec has none. */
	if (event->nargs + event->end_nargs > 0 && heaps_is_ready(heaps)) {
		bool is_call = fx_heap_is_call(event);
		uint32_t place = is_call ? heaps_place(heaps, event) : 0;

		heaps->has_calls |= is_call;
		if (fx_heap_call(heaps->heap, event, place) < 0)
			heaps_fail(heaps, -ENOMEM);
	}
	if (fx_vector_reserve(&heaps->open, 1) < 0)
		heaps_fail(heaps, -ENOMEM);
	else
		heaps->open.items[heaps->open.count++] = event->name->serial;
}

void fx_heaps_end(struct fx_heaps *heaps)
{
	if (heaps->open.count > 0)
		heaps->open.count--;
}

void fx_heaps_instant(struct fx_heaps *heaps, const struct fx_event *event)
{
	if (heaps_is_ready(heaps) && fx_heap_instant(heaps->heap, event) < 0)
		heaps_fail(heaps, -ENOMEM);
}

/* --- What became of the blocks ---------------------------------------------------------------- */

static struct heaps_site *heaps_site_of(struct fx_heaps *heaps, const struct fx_heap_step *step)
{
	const struct heaps_key key = {step->process, step->place};
	struct heaps_site *site;

	HASH_FIND(hh, heaps->sites, &key, sizeof(key), site);
	if (site || fx_vector_reserve(&heaps->order, 1) < 0)
		return site;
	site = calloc(1, sizeof(*site));
	if (!site)
		return NULL;
	site->key = key;
	heaps->order.items[heaps->order.count++] = site;
	HASH_ADD(hh, heaps->sites, key, sizeof(site->key), site);
	return site;
}

static uint64_t heaps_moment_ts(const struct fx_timeline *timeline, unsigned moment)
{
	uint64_t span = timeline->last_ts - timeline->first_ts;

	return timeline->first_ts + span / HEAPS_MOMENTS * (moment + 1) +
	       (moment + 1 == HEAPS_MOMENTS ? span % HEAPS_MOMENTS : 0);
}

/* The first moment that comes not before this time. */
static unsigned heaps_moment_of(const struct fx_timeline *timeline, uint64_t ts)
{
	uint64_t part = (timeline->last_ts - timeline->first_ts) / HEAPS_MOMENTS;
	uint64_t moment = HEAPS_MOMENTS;

	if (part > 0)
		moment = ts > timeline->first_ts ? (ts - timeline->first_ts - 1) / part : 0;
	return moment < HEAPS_MOMENTS ? (unsigned)moment : HEAPS_MOMENTS - 1;
}

/* The state at the end of the step's moment is the last that is put there. */
static bool heaps_note(struct heaps_site *site, unsigned moment)
{
	size_t count = site->states.count;

	if (count == 0 || site->states.items[count - 1].moment != moment) {
		if (fx_vector_reserve(&site->states, 1) < 0)
			return false;
		site->states.count++;
	}
	site->now.moment = moment;
	site->states.items[site->states.count - 1] = site->now;
	return true;
}

static void heaps_take_step(void *opaque, const struct fx_heap_step *step)
{
	struct fx_heaps *heaps = opaque;
	struct heaps_site *site;

	if (step->kind == FX_HEAP_UNKNOWN || !step->place || heaps->error < 0)
		return;
	site = heaps_site_of(heaps, step);
	if (site && step->kind == FX_HEAP_ALLOCATED) {
		site->now.allocations++;
		site->now.allocated += step->size;
	} else if (site) {
		site->now.frees++;
		site->now.freed += step->size;
	}
	if (!site || !heaps_note(site, heaps_moment_of(heaps->timeline, step->ts)))
		heaps_fail(heaps, -ENOMEM);
}

/* --- Profiles --------------------------------------------------------------------------------- */

/* Times of profiles are of this clock, which the archive does not have; readers make the same of it. */
static void heaps_write_clocks(struct fx_packets *packets, uint64_t ts)
{
	Fx__Pf__TracePacket packet = FX__PF__TRACE_PACKET__INIT;
	Fx__Pf__ClockSnapshot snapshot = FX__PF__CLOCK_SNAPSHOT__INIT;
	Fx__Pf__Clock clocks[2], *list[2] = {&clocks[0], &clocks[1]};

	for (size_t i = 0; i < 2; i++) {
		fx__pf__clock__init(&clocks[i]);
		clocks[i].has_clock_id = clocks[i].has_timestamp = 1;
		clocks[i].timestamp = ts;
	}
	clocks[0].clock_id = HEAPS_CLOCK_BOOTTIME;
	clocks[1].clock_id = HEAPS_CLOCK_MONOTONIC_COARSE;
	snapshot.clocks = list;
	snapshot.n_clocks = 2;
	packet.has_timestamp = packet.has_timestamp_clock_id = 1;
	packet.timestamp = ts;
	packet.timestamp_clock_id = HEAPS_CLOCK_BOOTTIME;
	packet.clock_snapshot = &snapshot;
	fx_packets_write(packets, &packet);
}

/* What the site had done by a moment; NULL: nothing that the moment before did not have. */
static const struct heaps_state *heaps_state_at(const struct heaps_site *site, unsigned moment)
{
	for (size_t i = 0; i < site->states.count; i++) {
		if (site->states.items[i].moment == moment)
			return &site->states.items[i];
	}
	return NULL;
}

static void heaps_set_sample(Fx__Pf__HeapSample *sample, const struct heaps_site *site,
			     const struct heaps_state *state)
{
	fx__pf__heap_sample__init(sample);
	sample->has_callstack_id = 1;
	sample->callstack_id = site->key.place;
	sample->has_self_allocated = sample->has_self_freed = 1;
	sample->self_allocated = state->allocated;
	sample->self_freed = state->freed;
	sample->has_alloc_count = sample->has_free_count = 1;
	sample->alloc_count = state->allocations;
	sample->free_count = state->frees;
}

struct heaps_dump {
	const struct fx_process *process;
	Fx__Pf__HeapSample *samples, **list;
	size_t count;
	uint64_t index; /* of the next packet with a profile */
};

static void heaps_write_dump(struct fx_heaps *heaps, struct heaps_dump *dump, uint64_t ts)
{
	Fx__Pf__TracePacket packet = FX__PF__TRACE_PACKET__INIT;
	Fx__Pf__ProfilePacket profile = FX__PF__PROFILE_PACKET__INIT;
	Fx__Pf__ProcessHeapSamples samples = FX__PF__PROCESS_HEAP_SAMPLES__INIT;
	Fx__Pf__ProcessHeapSamples *list[] = {&samples};

	samples.has_pid = samples.has_timestamp = samples.has_sampling_interval_bytes = 1;
	samples.pid = dump->process->pid;
	samples.timestamp = ts;
	samples.heap_name = (char *)"libc.malloc";
	samples.sampling_interval_bytes = 1;
	samples.samples = dump->list;
	samples.n_samples = dump->count;
	profile.process_dumps = list;
	profile.n_process_dumps = 1;
	profile.has_index = 1;
	profile.index = dump->index++;
	packet.profile_packet = &profile;
	fx_packets_write_next(heaps->packets, ts, &packet);
}

/* The sites of one process: a sequence of its own, with a profile for each moment at which something is new. */
static void heaps_write_process(struct fx_heaps *heaps, struct heaps_dump *dump,
				struct heaps_site **sites, size_t count)
{
	fx_packets_begin_sequence(heaps->packets, fx_track_of_process(dump->process),
				  heaps->timeline->first_ts);
	dump->index = 0;
	for (unsigned moment = 0; moment < HEAPS_MOMENTS; moment++) {
		uint64_t ts = heaps_moment_ts(heaps->timeline, moment);

		dump->count = 0;
		for (size_t i = 0; i < count; i++) {
			const struct heaps_state *state = heaps_state_at(sites[i], moment);

			if (!state)
				continue;
			fx_stacks_write(heaps->packets, sites[i]->key.place, ts);
			heaps_set_sample(&dump->samples[dump->count], sites[i], state);
			dump->list[dump->count] = &dump->samples[dump->count];
			dump->count++;
		}
		if (dump->count > 0)
			heaps_write_dump(heaps, dump, ts);
	}
}

static int heaps_compare(const void *a, const void *b)
{
	const struct heaps_site *left = *(struct heaps_site *const *)a;
	const struct heaps_site *right = *(struct heaps_site *const *)b;

	if (left->key.process != right->key.process)
		return left->key.process < right->key.process ? -1 : 1;
	return left->key.place < right->key.place ? -1 : left->key.place > right->key.place;
}

static void heaps_write_all(struct fx_heaps *heaps, struct heaps_dump *dump)
{
	struct heaps_site **sites = heaps->order.items;
	size_t count = heaps->order.count, first = 0, next;

	qsort(sites, count, sizeof(*sites), heaps_compare);
	heaps_write_clocks(heaps->packets, heaps->timeline->first_ts);
	for (; first < count; first = next) {
		uint32_t process = sites[first]->key.process;

		for (next = first + 1; next < count && sites[next]->key.process == process; next++)
			;
		dump->process = heaps->timeline->processes.items[process];
		if (fx_is_linux_id(dump->process->pid))
			heaps_write_process(heaps, dump, sites + first, next - first);
	}
}

void fx_heaps_write(struct fx_heaps *heaps)
{
	struct heaps_dump dump = {0};
	int r = 0;

	if (heaps->has_calls && heaps->error == 0)
		r = fx_heap_run(heaps->heap, heaps_take_step, heaps);
	if (r < 0)
		heaps_fail(heaps, r);
	HASH_CLEAR(hh, heaps->sites);
	if (heaps->order.count == 0 || heaps->error < 0)
		return;
	dump.samples = calloc(heaps->order.count, sizeof(*dump.samples));
	dump.list = calloc(heaps->order.count, sizeof(*dump.list));
	if (dump.samples && dump.list)
		heaps_write_all(heaps, &dump);
	else
		heaps_fail(heaps, -ENOMEM);
	free(dump.list);
	free(dump.samples);
}
