/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "archives/facts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "archives/times.h"

/* A date that moves by more than this against the archive's clock was changed, and did not drift. */
#define FACTS_STEP_NS 1000000u

/* --- Numbers ---------------------------------------------------------------------------------- */

struct fx_facts_id *fx_facts_find(const struct fx_facts *facts, uint64_t id)
{
	struct fx_facts_id *found;

	HASH_FIND(hh, facts->ids, &id, sizeof(id), found);
	return found;
}

static struct fx_facts_id *facts_id(struct fx_facts *facts, uint64_t id)
{
	struct fx_facts_id *found = fx_facts_find(facts, id);

	if (found)
		return found;
	found = calloc(1, sizeof(*found));
	if (!found)
		return NULL;
	found->id = id;
	HASH_ADD(hh, facts->ids, id, sizeof(found->id), found);
	return found;
}

static int facts_thread(struct fx_facts *facts, uint64_t pid, uint64_t tid)
{
	struct fx_facts_id *process;

	if (pid == facts->last_owner && tid == facts->last_id)
		return 0;
	facts->last_owner = pid;
	facts->last_id = tid;
	if (tid != 0 && !facts_id(facts, tid))
		return -ENOMEM;
	if (pid == 0)
		return 0;
	process = facts_id(facts, pid);
	if (process)
		process->is_process = true;
	return process ? 0 : -ENOMEM;
}

static uint64_t facts_hash(const struct fxt_string *name)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325);

	for (uint32_t i = 0; i < name->length; i++)
		hash = (hash ^ (uint8_t)name->data[i]) * UINT64_C(0x100000001b3);
	return hash ? hash : 1;
}

static int facts_object(struct fx_facts *facts, const struct fxt_record *record)
{
	const struct fxt_kernel_object *object = &record->kernel_object;
	const struct fxt_arg *owner = fxt_record_find_arg(record, "process");
	struct fx_facts_id *process;

	if (object->type == FXT_OBJECT_THREAD)
		return facts_thread(facts, owner && owner->type == FXT_ARG_KOID ? owner->koid : 0,
				    object->koid);
	if (object->type != FXT_OBJECT_PROCESS || object->koid == 0)
		return 0;
	process = facts_id(facts, object->koid);
	if (!process)
		return -ENOMEM;
	process->is_process = true;
	process->names[1] = facts_hash(&object->name);
	if (!process->names[0])
		process->names[0] = process->names[1];
	return 0;
}

/* --- Clocks ----------------------------------------------------------------------------------- */

static uint64_t facts_distance(uint64_t a, uint64_t b)
{
	return a > b ? a - b : b - a;
}

static int facts_clock(struct fx_facts *facts, const struct fxt_record *record)
{
	const struct fx_clockpoint *last;
	struct fx_clock_record clock;

	if (!fx_clock_record_decode(record, &clock) || clock.ns > INT64_MAX ||
	    clock.realtime > INT64_MAX)
		return 0;
	if (!facts->has_clock)
		facts->clock = clock;
	facts->has_clock = true;
	if (clock.session != facts->clock.session)
		return 0;
	last = facts->dates.points.count > 0
		   ? &facts->dates.points.items[facts->dates.points.count - 1]
		   : NULL;
	if (last && clock.ns > last->from) {
		uint64_t passed = clock.ns - last->from;

		if (clock.realtime < last->to || facts_distance(clock.realtime - last->to, passed) >
						     FACTS_STEP_NS + passed / 1000)
			facts->dates.points.count = 0;
	}
	return fx_clockmap_add(&facts->dates, clock.ns, clock.realtime);
}

/* --- All -------------------------------------------------------------------------------------- */

static void facts_time(struct fx_facts *facts, const struct fxt_record *record)
{
	uint64_t rate = record->provider->ticks_per_second, begin, end;

	if (!fx_record_times(record, &begin, &end))
		return;
	begin = fxt_ticks_to_ns(begin, rate);
	end = fxt_ticks_to_ns(end, rate);
	if (begin > INT64_MAX || end > INT64_MAX)
		return;
	if (begin < facts->first_ns)
		facts->first_ns = begin;
	if (facts->last_ns == UINT64_MAX || end > facts->last_ns)
		facts->last_ns = end;
}

/* What has an id that is common to several archives: the end of a message, or a collective. */
static int facts_link(struct fx_facts *facts, const struct fxt_record *record)
{
	struct fx_coming coming;
	bool is_sent;

	if (fx_coming_read(record, &coming)) {
		coming.archive = (uint32_t)facts->number;
		return fx_meetings_add(facts->meetings, &coming);
	}
	if (!fx_link_read(record, &is_sent))
		return 0;
	return fx_links_add(
	    facts->links, facts->number, is_sent, record->event.id,
	    fxt_ticks_to_ns(record->event.timestamp, record->provider->ticks_per_second));
}

static int facts_record(struct fx_facts *facts, const struct fxt_record *record)
{
	int r;

	facts_time(facts, record);
	switch (record->kind) {
	case FXT_KIND_EVENT:
		facts->events++;
		r = facts_thread(facts, record->event.thread.pid, record->event.thread.tid);
		if (r == 0)
			r = facts_link(facts, record);
		return r < 0 ? r : fx_messages_add(&facts->messages, record);
	case FXT_KIND_THREAD:
		return facts_thread(facts, record->thread.pid, record->thread.tid);
	case FXT_KIND_KERNEL_OBJECT:
		return facts_object(facts, record);
	case FXT_KIND_LEGACY_SWITCH:
	case FXT_KIND_CONTEXT_SWITCH:
	case FXT_KIND_THREAD_WAKEUP:
		r = facts_thread(facts, record->scheduling.outgoing.pid,
				 record->scheduling.outgoing.tid);
		return r < 0 ? r
			     : facts_thread(facts, record->scheduling.incoming.pid,
					    record->scheduling.incoming.tid);
	case FXT_KIND_LOG:
		return facts_thread(facts, record->log.thread.pid, record->log.thread.tid);
	case FXT_KIND_MODULE:
	case FXT_KIND_MMAP:
	case FXT_KIND_BACKTRACE:
		return facts_thread(facts, record->profiler.thread.pid,
				    record->profiler.thread.tid);
	case FXT_KIND_LARGE_EVENT:
		return facts_thread(facts, record->large_blob.thread.pid,
				    record->large_blob.thread.tid);
	case FXT_KIND_BLOB:
		if (!facts->host.host[0])
			fx_host_record_decode(record, &facts->host);
		return facts_clock(facts, record);
	default:
		return 0;
	}
}

static void facts_fault(void *opaque, const struct fxt_fault *fault)
{
	struct fx_facts *facts = opaque;

	if (facts->fault_count++ == 0)
		facts->fault = *fault;
}

int fx_facts_read(const char *path, struct fx_links *links, struct fx_meetings *meetings,
		  size_t number, struct fx_facts *ret)
{
	const struct fxt_record *record;
	struct fxt_reader *reader;
	int r = fxt_reader_open_path(path, &reader);

	*ret = (struct fx_facts){.first_ns = UINT64_MAX,
				 .last_ns = UINT64_MAX,
				 .links = links,
				 .meetings = meetings,
				 .number = number};
	if (r < 0)
		return r;
	fxt_reader_set_fault_handler(reader, facts_fault, ret);
	while ((r = fxt_reader_next(reader, &record)) > 0) {
		r = facts_record(ret, record);
		if (r < 0)
			break;
	}
	fxt_reader_close(reader);
	fx_messages_seal(&ret->messages);
	return r;
}

void fx_facts_free(struct fx_facts *facts)
{
	struct fx_facts_id *id, *next;

	HASH_ITER (hh, facts->ids, id, next) {
		HASH_DEL(facts->ids, id);
		free(id);
	}
	fx_clockmap_free(&facts->dates);
	fx_messages_free(&facts->messages);
}
