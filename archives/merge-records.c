/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "archives/merge-internal.h"
#include "archives/times.h"
#include "base/about.h"

void fx_merge_thread(const struct fx_apart *a, struct fxt_thread *thread)
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

	fx_merge_thread(a, &event->thread);
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
		fx_merge_thread(a, &record->userspace_object.process);
		break;
	case FXT_KIND_KERNEL_OBJECT:
		if (record->kernel_object.type == FXT_OBJECT_PROCESS ||
		    record->kernel_object.type == FXT_OBJECT_THREAD)
			record->kernel_object.koid = fx_apart_id(a, record->kernel_object.koid);
		break;
	case FXT_KIND_LEGACY_SWITCH:
	case FXT_KIND_CONTEXT_SWITCH:
	case FXT_KIND_THREAD_WAKEUP:
		fx_merge_thread(a, &record->scheduling.outgoing);
		fx_merge_thread(a, &record->scheduling.incoming);
		break;
	case FXT_KIND_LOG:
		fx_merge_thread(a, &record->log.thread);
		break;
	case FXT_KIND_MODULE:
	case FXT_KIND_MMAP:
	case FXT_KIND_BACKTRACE:
		fx_merge_thread(a, &record->profiler.thread);
		break;
	case FXT_KIND_LARGE_EVENT:
		fx_merge_thread(a, &record->large_blob.thread);
		break;
	default:
		break;
	}
	for (uint32_t i = 0; i < record->nargs; i++) {
		if (record->args[i].type == FXT_ARG_KOID)
			record->args[i].koid = fx_apart_id(a, record->args[i].koid);
	}
}

uint64_t fx_merge_time(struct fx_merge *m, size_t at, uint64_t ticks)
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

void fx_merge_translate(struct fx_merge *m, size_t at)
{
	struct fxt_record *record = &m->record;
	const struct fx_meeting *meeting;
	uint64_t begin, end;

	*record = *m->sources[at].next;
	m->provider = *record->provider;
	m->provider.ticks_per_second = FX_MERGE_NS_PER_SECOND;
	record->provider = &m->provider;
	if (fx_record_times(record, &begin, &end))
		fx_record_set_times(record, fx_merge_time(m, at, begin), fx_merge_time(m, at, end));
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

bool fx_merge_changes(const struct fx_merge *m, size_t at, const struct fxt_record *record)
{
	return !m->sources[at].is_identity || m->apart[at].shift || m->apart[at].mask ||
	       record->provider->ticks_per_second != FX_MERGE_NS_PER_SECOND ||
	       merge_is_marked(m, at, record) || merge_tells_clock(m, at, record) ||
	       merge_meeting(m, record);
}
