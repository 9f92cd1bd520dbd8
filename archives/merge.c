/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "archives/merge.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "archives/apart.h"
#include "archives/copy.h"
#include "archives/times.h"
#include "archives/turns.h"
#include "base/about.h"

#define NS_PER_SECOND UINT64_C(1000000000)

/* Ids of the arrows that are drawn here: those of tracers have other numbers in their upper bits. */
#define MERGE_ARROW (UINT64_C(0x3ffffe) << 41)

/* An archive as it is read for the second time. */
struct merge_source {
	struct fxt_reader *reader;
	const struct fxt_record *next;	     /* NULL: it is over */
	uint64_t time;			     /* of the newest record, in the new archive */
	bool is_identity;		     /* no time changes */
	uint32_t provider_from, provider_to; /* the newest */
	bool has_provider;
};

struct fx_merge {
	const struct fx_merge_input *inputs; /* borrowed */
	size_t count;
	struct fx_aligned *aligned;
	struct fx_apart *apart;
	struct fx_apart_numbers numbers;
	struct merge_source *sources;
	struct fx_turns turns; /* of the sources */
	struct fx_copy *copy;
	struct fx_links *links;
	struct fx_meetings *meetings;
	struct fx_link_ids backwards; /* messages whose arrows would run so */
	struct fx_link_ids odd;	      /* ids of several messages, which are kept apart */
	uint64_t linked;	      /* messages that have both ends */
	struct fx_merge_counts counts;
	struct fxt_record record;     /* as it is written */
	struct fx_clock_record clock; /* of it, if it is one */
	struct fxt_provider provider; /* of it */
	bool has_hosts;		      /* the archives come from several */
	char name[FXT_MAX_NAME_LENGTH + 1 + FX_HOST_VALUE_MAX];
	char started[24]; /* of the record at hand, if it says when a process began */
};

/* --- First: what is there --------------------------------------------------------------------- */

/* Gives each end of a connection the other, in an archive of another recording. */
static void merge_pair(struct fx_merge *m)
{
	uint64_t base = 0;

	for (size_t i = 0; i < m->count; i++) {
		struct fx_stream_end *end, *next;

		HASH_ITER (hh, m->aligned[i].facts.messages.ends, end, next) {
			end->owner = i;
			end->base = base;
			base += end->calls[FX_DIRECTION_RECEIVED].count;
			for (size_t j = 0; j < i && !end->is_odd && !end->other; j++) {
				struct fx_stream_end *other =
				    fx_messages_find(&m->aligned[j].facts.messages, end->other_key);

				if (!other || other->other ||
				    m->apart[i].group == m->apart[j].group)
					continue;
				end->other = other;
				other->other = end;
			}
		}
	}
}

static int merge_see_link(void *opaque, const struct fx_link *link)
{
	struct fx_merge *m = opaque;

	m->linked++;
	return fx_align_is_backwards(m->aligned, link) ? fx_link_ids_add(&m->backwards, link->id)
						       : 0;
}

static int merge_see_odd(void *opaque, uint64_t id)
{
	struct fx_merge *m = opaque;

	return fx_link_ids_add(&m->odd, id);
}

static struct fx_clockmap *merge_map_of(void *opaque, size_t archive)
{
	struct fx_merge *m = opaque;

	return &m->aligned[archive].map;
}

/* Whether two archives say that they come from different hosts. */
static bool merge_are_hosts_many(const struct fx_merge *m)
{
	const char *first = NULL;

	for (size_t i = 0; i < m->count; i++) {
		const char *host = m->aligned[i].facts.host.host;

		if (first && host[0] && strcmp(first, host) != 0)
			return true;
		if (host[0])
			first = host;
	}
	return false;
}

int fx_merge_open(const struct fx_merge_input *inputs, size_t count, struct fx_merge **ret,
		  size_t *ret_at)
{
	struct fx_merge *m = calloc(1, sizeof(*m));
	int r = 0;

	*ret = m;
	*ret_at = 0;
	if (!m)
		return -ENOMEM;
	m->inputs = inputs;
	m->aligned = calloc(count, sizeof(*m->aligned));
	m->apart = calloc(count, sizeof(*m->apart));
	m->sources = calloc(count, sizeof(*m->sources));
	m->links = fx_links_new();
	m->meetings = fx_meetings_new();
	if (!m->aligned || !m->apart || !m->sources || !m->links || !m->meetings) {
		fx_merge_free(m);
		*ret = NULL;
		return -ENOMEM;
	}
	m->count = count;
	for (size_t i = 0; i < count && r == 0; i++) {
		*ret_at = i;
		m->aligned[i].has_offset = inputs[i].has_offset;
		m->aligned[i].offset = inputs[i].offset;
		m->apart[i].facts = &m->aligned[i].facts;
		r = fx_facts_read(inputs[i].path, m->links, m->meetings, i, &m->aligned[i].facts);
	}
	if (r == 0)
		r = fx_align(m->aligned, count, m->links);
	if (r == 0)
		r = fx_links_walk(m->links, merge_see_link, merge_see_odd, m);
	if (r == 0)
		r = fx_meetings_seal(m->meetings, merge_map_of, m);
	if (r < 0)
		return r;
	fx_apart(m->apart, count);
	merge_pair(m);
	m->has_hosts = merge_are_hosts_many(m);
	for (size_t i = 0; i < count; i++) {
		*ret_at = i;
		m->sources[i].is_identity = fx_clockmap_is_identity(&m->aligned[i].map);
		if (m->aligned[i].how == FX_ALIGN_NONE)
			return -ENODATA;
	}
	return 0;
}

struct fx_merge_result fx_merge_result(const struct fx_merge *m, size_t at)
{
	const struct fx_clockmap *map = &m->aligned[at].map;
	struct fx_merge_result result = {.aligned = &m->aligned[at], .shift = m->apart[at].shift};

	if (map->points.count > 0)
		result.moved = (int64_t)(map->points.items[0].to - map->points.items[0].from);
	return result;
}

void fx_merge_free(struct fx_merge *m)
{
	if (!m)
		return;
	for (size_t i = 0; i < m->count; i++) {
		fx_facts_free(&m->aligned[i].facts);
		fx_clockmap_free(&m->aligned[i].map);
		fxt_reader_close(m->sources[i].reader);
	}
	fx_apart_free(m->apart, m->count, &m->numbers);
	fx_links_free(m->links);
	fx_meetings_free(m->meetings);
	fx_link_ids_free(&m->backwards);
	fx_link_ids_free(&m->odd);
	fx_turns_release(&m->turns);
	free(m->aligned);
	free(m->apart);
	free(m->sources);
	free(m);
}

/* --- Records as they are in the new archive --------------------------------------------------- */

static void merge_thread(const struct fx_apart *a, struct fxt_thread *thread)
{
	thread->pid = fx_apart_id(a, thread->pid);
	thread->tid = fx_apart_id(a, thread->tid);
}

/* Of what is in several archives the id is the same in all. */
static bool merge_is_common(const struct fx_merge *m, const struct fxt_record *record)
{
	bool is_sent;

	return fx_link_read(record, &is_sent) && !m->odd.is_full &&
	       !fx_link_ids_has(&m->odd, record->event.id);
}

static void merge_event_ids(const struct fx_merge *m, const struct fx_apart *a,
			    struct fxt_record *record)
{
	struct fxt_event *event = &record->event;

	merge_thread(a, &event->thread);
	if (event->type >= FXT_EVENT_ASYNC_BEGIN && event->type <= FXT_EVENT_FLOW_END &&
	    !merge_is_common(m, record))
		event->id ^= a->mask;
}

static void merge_ids(const struct fx_merge *m, const struct fx_apart *a, struct fxt_record *record)
{
	switch (record->kind) {
	case FXT_KIND_EVENT:
		merge_event_ids(m, a, record);
		break;
	case FXT_KIND_USERSPACE_OBJECT:
		merge_thread(a, &record->userspace_object.process);
		break;
	case FXT_KIND_KERNEL_OBJECT:
		if (record->kernel_object.type == FXT_OBJECT_PROCESS ||
		    record->kernel_object.type == FXT_OBJECT_THREAD)
			record->kernel_object.koid = fx_apart_id(a, record->kernel_object.koid);
		break;
	case FXT_KIND_LEGACY_SWITCH:
	case FXT_KIND_CONTEXT_SWITCH:
	case FXT_KIND_THREAD_WAKEUP:
		merge_thread(a, &record->scheduling.outgoing);
		merge_thread(a, &record->scheduling.incoming);
		break;
	case FXT_KIND_LOG:
		merge_thread(a, &record->log.thread);
		break;
	case FXT_KIND_MODULE:
	case FXT_KIND_MMAP:
	case FXT_KIND_BACKTRACE:
		merge_thread(a, &record->profiler.thread);
		break;
	case FXT_KIND_LARGE_EVENT:
		merge_thread(a, &record->large_blob.thread);
		break;
	default:
		break;
	}
	for (uint32_t i = 0; i < record->nargs; i++) {
		if (record->args[i].type == FXT_ARG_KOID)
			record->args[i].koid = fx_apart_id(a, record->args[i].koid);
	}
}

static uint64_t merge_time(struct fx_merge *m, size_t at, uint64_t ticks)
{
	uint64_t ns = fxt_ticks_to_ns(ticks, m->sources[at].next->provider->ticks_per_second);

	return fx_clockmap_to(&m->aligned[at].map, ns);
}

/* Whether it is the name of a process that gets the name of its host. */
static bool merge_is_marked(const struct fx_merge *m, size_t at, const struct fxt_record *record)
{
	return m->has_hosts && m->aligned[at].facts.host.host[0] &&
	       record->kind == FXT_KIND_KERNEL_OBJECT &&
	       record->kernel_object.type == FXT_OBJECT_PROCESS &&
	       record->kernel_object.name.length > 0 &&
	       record->kernel_object.name.length <= FXT_MAX_NAME_LENGTH;
}

/* NAME@HOST */
static void merge_mark(struct fx_merge *m, size_t at)
{
	const struct fxt_string *name = &m->record.kernel_object.name;
	int length = snprintf(m->name, sizeof(m->name), "%.*s@%s", (int)name->length, name->data,
			      m->aligned[at].facts.host.host);

	m->record.kernel_object.name = fx_string_inline(m->name, (size_t)length);
}

/* When a process began, which is a text. */
static void merge_started(struct fx_merge *m, size_t at)
{
	for (uint32_t i = 0; i < m->record.nargs; i++) {
		struct fxt_arg *arg = &m->record.args[i];
		const char *name = fx_about_name(FX_ABOUT_STARTED);
		unsigned long long ns;

		if (arg->type != FXT_ARG_STRING || arg->name.length != strlen(name) ||
		    memcmp(arg->name.data, name, arg->name.length) != 0 ||
		    arg->string.length >= sizeof(m->started))
			continue;
		memcpy(m->started, arg->string.data, arg->string.length);
		m->started[arg->string.length] = 0;
		ns = strtoull(m->started, NULL, 10);
		snprintf(m->started, sizeof(m->started), "%llu",
			 (unsigned long long)fx_clockmap_to(&m->aligned[at].map, ns));
		arg->string = fx_string_inline(m->started, strlen(m->started));
	}
}

/* Whether it is the name of a process, whose clock is to be said. */
static bool merge_tells_clock(const struct fx_merge *m, size_t at, const struct fxt_record *record)
{
	enum fx_alignment how = m->aligned[at].how;

	return (how == FX_ALIGN_DATES || how == FX_ALIGN_BOTH || how == FX_ALIGN_MESSAGES ||
		how == FX_ALIGN_OFFSET) &&
	       record->kind == FXT_KIND_KERNEL_OBJECT &&
	       record->kernel_object.type == FXT_OBJECT_PROCESS &&
	       record->kernel_object.name.length > 0 && record->nargs + 2 <= FXT_MAX_ARGS;
}

static void merge_tell_clock(struct fx_merge *m, size_t at)
{
	static const char names[2][16] = {"clock", "clock_error_ns"};
	const char *how = fx_alignment_text(m->aligned[at].how);
	struct fxt_arg *arg = &m->record.args[m->record.nargs++];

	*arg = (struct fxt_arg){.type = FXT_ARG_STRING,
				.name = fx_string_inline(names[0], strlen(names[0])),
				.string = fx_string_inline(how, strlen(how))};
	if (!isfinite(m->aligned[at].error) || m->aligned[at].error < 0)
		return;
	m->record.args[m->record.nargs++] =
	    (struct fxt_arg){.type = FXT_ARG_UINT64,
			     .name = fx_string_inline(names[1], strlen(names[1])),
			     .uint64 = (uint64_t)ceil(m->aligned[at].error)};
}

/* Of a collective: who came last to it; NULL: it is none, or that is not known. */
static const struct fx_meeting *merge_meeting(const struct fx_merge *m,
					      const struct fxt_record *record)
{
	struct fx_coming coming;

	if (!fx_coming_read(record, &coming) || record->nargs + 2 > FXT_MAX_ARGS)
		return NULL;
	return fx_meetings_find(m->meetings, coming.id);
}

/* The rank that came last, and how long this one had been there by then: arguments of the call. */
static void merge_tell_meeting(struct fx_merge *m, const struct fx_meeting *meeting)
{
	static const char names[2][16] = {"last_rank", "before_it_ns"};
	uint64_t begun = m->record.event.timestamp;

	m->record.args[m->record.nargs++] =
	    (struct fxt_arg){.type = FXT_ARG_INT32,
			     .name = fx_string_inline(names[0], strlen(names[0])),
			     .int32 = meeting->rank};
	m->record.args[m->record.nargs++] =
	    (struct fxt_arg){.type = FXT_ARG_UINT64,
			     .name = fx_string_inline(names[1], strlen(names[1])),
			     .uint64 = meeting->ns > begun ? meeting->ns - begun : 0};
}

/* The record at hand, with times and ids of the new archive. */
static void merge_translate(struct fx_merge *m, size_t at)
{
	struct fxt_record *record = &m->record;
	const struct fx_meeting *meeting;
	uint64_t begin, end;

	*record = *m->sources[at].next;
	m->provider = *record->provider;
	m->provider.ticks_per_second = NS_PER_SECOND;
	record->provider = &m->provider;
	if (fx_record_times(record, &begin, &end))
		fx_record_set_times(record, merge_time(m, at, begin), merge_time(m, at, end));
	merge_ids(m, &m->apart[at], record);
	if (record->kind == FXT_KIND_KERNEL_OBJECT)
		merge_started(m, at);
	if (merge_is_marked(m, at, record))
		merge_mark(m, at);
	if (merge_tells_clock(m, at, record))
		merge_tell_clock(m, at);
	meeting = merge_meeting(m, record);
	if (meeting)
		merge_tell_meeting(m, meeting);
}

/* --- Arrows of messages ----------------------------------------------------------------------- */

static bool merge_is_in_order(struct fx_merge *m, const struct fx_stream_end *from,
			      const struct fx_message *out, const struct fx_stream_end *to,
			      const struct fx_message *in)
{
	return fx_clockmap_to(&m->aligned[from->owner].map, out->ns) <=
	       fx_clockmap_to(&m->aligned[to->owner].map, in->ns);
}

/* The end of an arrow at a call that has just been written. */
static int merge_arrow(struct fx_merge *m, size_t at, const struct fx_copy_way *way,
		       enum fxt_event_type type, uint64_t number)
{
	static const char text[] = "message";
	struct fxt_record record = {.kind = FXT_KIND_EVENT, .provider = &m->provider};
	const struct fxt_event *call = &m->sources[at].next->event;
	struct fx_copy_way changed = *way;
	int r;

	changed.changed = true;
	m->provider = *m->sources[at].next->provider;
	m->provider.ticks_per_second = NS_PER_SECOND;
	record.event.type = type;
	record.event.thread = call->thread;
	merge_thread(&m->apart[at], &record.event.thread);
	record.event.timestamp =
	    merge_time(m, at, type == FXT_EVENT_FLOW_BEGIN ? call->timestamp : call->end_time);
	record.event.category.data = record.event.name.data = text;
	record.event.category.length = record.event.name.length = sizeof(text) - 1;
	record.event.category.ref = record.event.name.ref = FXT_STRING_INLINE | (sizeof(text) - 1);
	record.event.id = MERGE_ARROW | number;
	m->counts.arrows += type == FXT_EVENT_FLOW_END;
	r = fx_copy_record(m->copy, &record, &changed);
	return r < 0 ? r : 0;
}

/* Of each call at the other end whose last byte this one has sent. */
static int merge_sent(struct fx_merge *m, size_t at, const struct fx_copy_way *way,
		      const struct fx_stream_end *end, const struct fx_message *call,
		      uint64_t bytes)
{
	const fx_message_list *received = &end->other->calls[FX_DIRECTION_RECEIVED];
	const struct fx_message *in = fx_messages_reach(received, call->position - bytes + 1);
	int r = 0;

	for (; in && in < received->items + received->count && r == 0; in++) {
		if (in->position > call->position)
			break;
		if (fx_messages_reach(&end->calls[FX_DIRECTION_SENT], in->position)->position ==
			call->position &&
		    merge_is_in_order(m, end, call, end->other, in))
			r = merge_arrow(m, at, way, FXT_EVENT_FLOW_BEGIN,
					end->other->base + (uint64_t)(in - received->items));
	}
	return r;
}

static int merge_received(struct fx_merge *m, size_t at, const struct fx_copy_way *way,
			  const struct fx_stream_end *end, const struct fx_message *call)
{
	const fx_message_list *received = &end->calls[FX_DIRECTION_RECEIVED];
	const struct fx_message *in = fx_messages_reach(received, call->position);
	const struct fx_message *out =
	    fx_messages_reach(&end->other->calls[FX_DIRECTION_SENT], call->position);

	if (!in || !out || in->position != call->position ||
	    !merge_is_in_order(m, end->other, out, end, in))
		return 0;
	return merge_arrow(m, at, way, FXT_EVENT_FLOW_END,
			   end->base + (uint64_t)(in - received->items));
}

static int merge_messages(struct fx_merge *m, size_t at, const struct fx_copy_way *way)
{
	const struct fx_stream_end *end;
	struct fx_stream_call call;
	struct fx_message message;

	if (!m->aligned[at].facts.messages.ends || !fx_stream_call_read(m->sources[at].next, &call))
		return 0;
	end = fx_messages_find(&m->aligned[at].facts.messages, call.key);
	if (!end || !end->other)
		return 0;
	message = (struct fx_message){.position = call.position, .ns = call.ns};
	if (call.direction == FX_DIRECTION_RECEIVED)
		return merge_received(m, at, way, end, &message);
	return call.bytes > call.position ? 0 : merge_sent(m, at, way, end, &message, call.bytes);
}

/* --- Writing ---------------------------------------------------------------------------------- */

/* Clock records are those of the first recording, whose times they tell. */
static bool merge_clock(struct fx_merge *m, size_t at)
{
	if (m->apart[at].group != 0)
		return false;
	m->clock.ns = fx_clockmap_to(&m->aligned[at].map, m->clock.ns);
	/* A clock that was changed is no machine's. */
	if (!m->sources[0].is_identity)
		m->clock.boot[0] = m->clock.boot[1] = 0;
	m->record.blob.payload.data = &m->clock;
	return true;
}

static int merge_provider(struct fx_merge *m, size_t at, uint32_t id, uint32_t *ret)
{
	struct merge_source *source = &m->sources[at];
	int r = 0;

	if (!source->has_provider || source->provider_from != id)
		r = fx_apart_provider(&m->apart[m->apart[at].group], &m->numbers, id,
				      &source->provider_to);
	source->provider_from = id;
	source->has_provider = r == 0;
	*ret = source->provider_to;
	return r;
}

static int merge_write_record(struct fx_merge *m, size_t at)
{
	const struct merge_source *source = &m->sources[at];
	const struct fxt_record *record = source->next;
	struct fx_copy_way way = {.source = (unsigned)at};
	int r = merge_provider(m, at,
			       record->kind == FXT_KIND_PROVIDER_EVENT ? record->provider_record.id
								       : record->provider->id,
			       &way.provider);
	bool is_sent;

	if (r < 0)
		return r;
	way.changed = !source->is_identity || m->apart[at].shift || m->apart[at].mask ||
		      record->provider->ticks_per_second != NS_PER_SECOND ||
		      merge_is_marked(m, at, record) || merge_tells_clock(m, at, record) ||
		      merge_meeting(m, record);
	if (m->backwards.ids.count > 0 && fx_link_read(record, &is_sent) &&
	    fx_link_ids_has(&m->backwards, record->event.id)) {
		m->counts.backwards += is_sent;
		return 0;
	}
	if (fx_host_record_is(record) && m->apart[at].group != 0)
		return 0;
	if (fx_clock_record_decode(record, &m->clock)) {
		way.changed = true;
		merge_translate(m, at);
		if (!merge_clock(m, at))
			return 0;
		record = &m->record;
	} else if (way.changed) {
		merge_translate(m, at);
		record = &m->record;
	}
	r = fx_copy_record(m->copy, record, &way);
	if (r < 0)
		return r;
	m->counts.events += r > 0 && record->kind == FXT_KIND_EVENT;
	m->counts.left_out +=
	    r == 0 && (record->kind == FXT_KIND_EVENT || record->kind == FXT_KIND_UNKNOWN ||
		       record->size > FX_OUTPUT_RECORD_MAX);
	return merge_messages(m, at, &way);
}

/* Reads on. Its time never goes back, so that archives take turns in long runs. 0 or -errno. */
static int merge_advance(struct fx_merge *m, size_t at)
{
	struct merge_source *source = &m->sources[at];
	uint64_t begin, end, ns;
	int r = fxt_reader_next(source->reader, &source->next);

	if (r <= 0) {
		source->next = NULL;
		return r;
	}
	if (fx_record_times(source->next, &begin, &end)) {
		ns = merge_time(m, at, end);
		if (ns > source->time)
			source->time = ns;
	}
	return 0;
}

/* The record of the archive whose turn it is. */
static int merge_step(struct fx_merge *m, size_t at)
{
	int r = merge_write_record(m, at);

	if (r == 0)
		r = merge_advance(m, at);
	if (r == 0 && m->sources[at].next)
		fx_turns_next(&m->turns, m->sources[at].time);
	else if (r == 0)
		fx_turns_over(&m->turns);
	return r;
}

static int merge_all(struct fx_merge *m, struct fx_output *out, size_t *ret_at)
{
	const struct fx_turn *turn;
	int r = 0;

	for (size_t i = 0; i < m->count && r == 0; i++) {
		*ret_at = i;
		r = fxt_reader_open_path(m->inputs[i].path, &m->sources[i].reader);
		if (r == 0)
			r = merge_advance(m, i);
		if (r == 0 && m->sources[i].next)
			r = fx_turns_add(&m->turns, i, m->sources[i].time);
	}
	for (turn = fx_turns_first(&m->turns); turn && r == 0; turn = fx_turns_first(&m->turns)) {
		*ret_at = turn->number;
		r = merge_step(m, turn->number);
	}
	return r < 0 ? r : fx_output_error(out);
}

int fx_merge_write(struct fx_merge *m, struct fx_output *out, struct fx_merge_counts *ret,
		   size_t *ret_at)
{
	int r = -ENOMEM;

	*ret_at = 0;
	m->counts = (struct fx_merge_counts){.arrows = m->linked - m->backwards.ids.count};
	m->copy = fx_copy_new(out);
	if (m->copy)
		r = merge_all(m, out, ret_at);
	fx_copy_free(m->copy);
	m->copy = NULL;
	*ret = m->counts;
	return r;
}
