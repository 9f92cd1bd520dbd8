/* SPDX-License-Identifier: MIT */
#include "manager/archive/rewrite.h"

#include <errno.h>
#include <string.h>

#include "base/escape.h"
#include "format/encode.h"
#include "manager/archive/async-take.h"
#include "manager/archive/begun.h"
#include "manager/archive/kept.h"
#include "manager/archive/kernel.h"
#include "manager/archive/late.h"
#include "manager/archive/loose-flows.h"
#include "manager/archive/meanings.h"
#include "manager/archive/told.h"
#include "manager/archive/transfers.h"
#include "manager/archive/suppress.h"
#include "manager/archive/vthread-flows.h"

/* Looks at the text that comes next. */
static void note_text(struct fx_rewriting *w, size_t length)
{
	if (!w->unclean)
		w->unclean = fx_escape_needed((const char *)&w->words[w->at], length, 0);
}

/* Replaces a string ref and steps over the text of an inline one. 0, or -errno: unknown. */
static int rewrite_ref(struct fx_rewriting *w, size_t word, unsigned lsb)
{
	uint64_t mask = UINT64_C(0xffff) << lsb;
	uint32_t ref = (uint32_t)(w->words[word] >> lsb & 0xffff);
	int to = fx_names_ref(&w->s->names, fx_rewriting_locals(w), ref);

	if (to < 0)
		return to;
	w->words[word] = (w->words[word] & ~mask) | (uint64_t)to << lsb;
	if (ref & FXT_STRING_INLINE) {
		note_text(w, ref & ~FXT_STRING_INLINE);
		w->at += fx_bytes_words(ref & ~FXT_STRING_INLINE);
	}
	return 0;
}

#define REWRITE_REF(w, word, name) rewrite_ref((w), (word), FXT_##name##_LSB)

/* The same for the category of an event. */
static int rewrite_category(struct fx_rewriting *w, size_t word, unsigned lsb)
{
	const void *text = &w->words[w->at];
	uint32_t ref = (uint32_t)(w->words[word] >> lsb & 0xffff);
	int r = rewrite_ref(w, word, lsb);

	if (r == 0)
		fx_names_category(&w->s->names, fx_rewriting_locals(w), ref, text);
	return r;
}

#define REWRITE_CATEGORY(w, word, name) rewrite_category((w), (word), FXT_##name##_LSB)

/* A text that a virtual thread can be called by; NULL: none. */
static const char *vthread_name(const struct fx_rewriting *w, uint32_t ref)
{
	const struct fx_name *name =
	    ref ? fx_names_find(&w->s->names, fx_rewriting_locals(w), ref) : NULL;

	return name && name->kind == FX_NAME_TEXT && name->length ? name->text : NULL;
}

static int rewrite_vthread(struct fx_rewriting *w)
{
	uint64_t id = w->words[w->at + 1] & ~FX_VTHREAD;
	uint32_t name = (uint32_t)(w->words[w->at] >> FX_VTHREAD_NAME_SHIFT), shown;
	int r = fx_vthreads_shown(&w->s->vthreads, id, vthread_name(w, name), &shown);

	if (r < 0)
		return r;
	w->is_virtual = true;
	w->vthread = id;
	w->words[w->at++] = w->s->pid;
	w->words[w->at++] = shown;
	return 0;
}

/* An inline thread stays what it is, in the true process; readers learn whose it is before. Some records
 * are of no thread: 0. */
static int rewrite_inline_thread(struct fx_rewriting *w)
{
	uint64_t tid = w->words[w->at + 1];
	struct fx_stream_thread *t;

	if (w->s->is_kernel)
		return fx_kernel_thread(w);
	if (tid & FX_VTHREAD)
		return rewrite_vthread(w);
	t = fx_stream_thread(w->s, tid);
	if (!t && tid)
		return -EINVAL;
	if (t)
		fx_stream_thread_index(w->s, t);
	w->thread = t;
	w->words[w->at] = w->s->pid;
	if (t)
		w->words[w->at + 1] = t->shown;
	w->at += 2;
	return 0;
}

/* Replaces a thread ref of width 8. */
static int rewrite_thread(struct fx_rewriting *w, size_t word, unsigned lsb)
{
	uint64_t mask = UINT64_C(0xff) << lsb;
	uint32_t ref = (uint32_t)(w->words[word] >> lsb & 0xff);

	w->thread = NULL;
	w->is_virtual = false;
	if (ref == FXT_THREAD_INLINE)
		return rewrite_inline_thread(w);
	if (ref != FX_CHUNK_THREAD_INDEX || !w->chunk || !w->chunk->thread)
		return -ENOENT;
	w->thread = w->chunk->thread;
	ref = fx_stream_thread_index(w->s, w->thread);
	w->words[word] = (w->words[word] & ~mask) | (uint64_t)ref << lsb;
	return 0;
}

/* Converts the time in the next word, at least `floor`. */
static int rewrite_time(struct fx_rewriting *w, uint64_t floor)
{
	uint64_t ns = fx_stream_ns(w->s, w->words[w->at]);

	if (ns > INT64_MAX || ns < floor)
		return -ERANGE;
	w->words[w->at++] = ns;
	return 0;
}

static bool rewrite_is_number(uint64_t arg)
{
	return FXT_GET(arg, ARG_TYPE) >= FXT_ARG_INT32 && FXT_GET(arg, ARG_TYPE) <= FXT_ARG_DOUBLE;
}

/* Takes the argument that comes next out of an event. */
static void arg_take_out(struct fx_rewriting *w)
{
	size_t size = FXT_GET(w->words[w->at], ARG_SIZE);
	uint64_t header = w->words[0] & ~(FXT_PUT(RECORD_SIZE, ~0) | FXT_PUT(EVENT_NARGS, ~0));

	w->size -= size;
	memmove(&w->words[w->at], &w->words[w->at + size], (w->size - w->at) * FXT_WORD_SIZE);
	w->words[0] = header | FXT_PUT(RECORD_SIZE, w->size) |
		      FXT_PUT(EVENT_NARGS, FXT_GET(w->words[0], EVENT_NARGS) - 1);
}

/* `numbers': of others there can be no curve, and viewers take them for an error. */
static int rewrite_args(struct fx_rewriting *w, unsigned count, bool numbers)
{
	while (count--) {
		size_t head = w->at;
		uint64_t header = w->words[head];
		int r;

		if (numbers && !rewrite_is_number(header)) {
			arg_take_out(w);
			continue;
		}
		w->at++;
		if (w->is_own)
			fx_meanings_note(w, head, (uint32_t)FXT_GET(header, ARG_NAME));
		r = REWRITE_REF(w, head, ARG_NAME);
		if (r == 0 && FXT_GET(header, ARG_TYPE) == FXT_ARG_STRING)
			r = REWRITE_REF(w, head, ARG_STRING_VALUE);
		if (r < 0)
			return r;
		w->at = head + FXT_GET(header, ARG_SIZE);
	}
	return 0;
}

/* A begin, or on a virtual thread an end, that would lie deeper than viewers show. `t`: whose it is, if it is a thread's. */
static bool rewrite_is_too_deep(struct fx_rewriting *w, struct fx_stream_thread *t, uint64_t header,
				uint64_t ns)
{
	bool is_begin = FXT_GET(header, EVENT_TYPE) == FXT_EVENT_DURATION_BEGIN;

	if (!is_begin && FXT_GET(header, EVENT_TYPE) != FXT_EVENT_DURATION_END)
		return false;
	if (w->is_virtual)
		return fx_vthreads_is_too_deep(&w->s->vthreads, w->vthread, is_begin,
					       &w->s->counts.lost[FX_CAUSE_DEEP]);
	if (!t || !is_begin)
		return false;
	if (t->depth < FX_BEGUN_MAX &&
	    fx_nesting_begin(&t->nesting, &w->s->shared->nesting, ns, t->depth))
		return false;
	t->depth += t->depth >= FX_BEGUN_MAX;
	w->s->counts.lost[FX_CAUSE_DEEP]++;
	return true;
}

static void rewrite_note_vthread(struct fx_rewriting *w, uint64_t header, uint64_t ns)
{
	if (FXT_GET(header, EVENT_TYPE) == FXT_EVENT_DURATION_BEGIN ||
	    FXT_GET(header, EVENT_TYPE) == FXT_EVENT_DURATION_END)
		fx_vthread_flows_step(w, ns, FXT_GET(header, EVENT_TYPE) == FXT_EVENT_DURATION_END);
}

/* Remembers what the thread did last: marks.c looks for calls that are recorded and still open. 1, or 0: it is an
 * end of nothing. */
static int rewrite_note_event(struct fx_rewriting *w, uint64_t header, uint64_t end_ns)
{
	struct fx_stream_thread *t = fx_rewriting_thread(w);
	bool own = t && FXT_GET(header, EVENT_THREAD) == FX_CHUNK_THREAD_INDEX;

	if (own && FXT_GET(header, EVENT_TYPE) == FXT_EVENT_DURATION_END &&
	    !fx_begun_end(w, t, header, end_ns))
		return 0;
	if (rewrite_is_too_deep(w, own ? t : NULL, header, end_ns))
		return 0;
	fx_stream_counts_event(w->s);
	if (w->is_virtual) {
		rewrite_note_vthread(w, header, end_ns);
		return 1;
	}
	if (end_ns < w->s->first_end)
		w->s->first_end = end_ns;
	if (t && end_ns > t->last_end)
		t->last_end = end_ns;
	if (own && FXT_GET(header, EVENT_TYPE) == FXT_EVENT_DURATION_BEGIN)
		fx_begun_push(t, (struct fx_begun){
				     .ns = end_ns,
				     .address = fx_begun_function(w, header),
				     .category = (uint16_t)FXT_GET(w->words[0], EVENT_CATEGORY),
				     .name = (uint16_t)FXT_GET(w->words[0], EVENT_NAME),
				 });
	return 1;
}

/* Ids that the process makes by itself are no other's. */
static void rewrite_flow_id(struct fx_rewriting *w, uint64_t header)
{
	uint64_t *id = &w->words[w->size - 1];
	const struct fx_flow_of flow = {w->s->id, *id, w->words[1]};

	if (*id >> FX_FLOW_MAKER_SHIFT != w->s->id && !(*id & FX_FLOW_UNKNOWN))
		*id = fx_flow_ids_shown(
		    &w->s->shared->flow_ids, &flow,
		    (enum fx_flow_part)(FXT_GET(header, EVENT_TYPE) - FXT_EVENT_FLOW_BEGIN));
}

/* 1, 0: it is left out, and that was told where it had to be, or -errno. */
static int rewrite_event(struct fx_rewriting *w)
{
	uint64_t header = w->words[0], start;
	int r;

	/* Of types from the future nothing was checked but the size. */
	if (FXT_GET(header, EVENT_TYPE) > FXT_EVENT_FLOW_END)
		return -EPERM;
	if (FXT_GET(header, EVENT_TYPE) == FXT_EVENT_INSTANT && FXT_GET(header, EVENT_NARGS) == 2)
		fx_told_untraced(w);
	if (FXT_GET(header, EVENT_TYPE) == FXT_EVENT_COUNTER && !w->s->has_heap)
		w->s->has_heap = fx_rewriting_is_name(w, FXT_GET(header, EVENT_NAME), "heap") &&
				 fx_rewriting_is_name(w, FXT_GET(header, EVENT_CATEGORY), "heap");
	if (fx_kept_leaves_out(w))
		return 0;
	w->at = 1;
	fx_meanings_begin(w);
	r = rewrite_time(w, 0);
	start = w->words[1];
	if (r == 0)
		r = rewrite_thread(w, 0, FXT_EVENT_THREAD_LSB);
	if (r == 0)
		r = REWRITE_CATEGORY(w, 0, EVENT_CATEGORY);
	if (r == 0)
		r = REWRITE_REF(w, 0, EVENT_NAME);
	if (r == 0)
		r = rewrite_args(w, (unsigned)FXT_GET(header, EVENT_NARGS),
				 FXT_GET(header, EVENT_TYPE) == FXT_EVENT_COUNTER);
	if (r == 0 && FXT_GET(header, EVENT_TYPE) == FXT_EVENT_DURATION_COMPLETE) {
		uint64_t begin = start, end;
		bool whole;

		r = rewrite_time(w, start);
		end = w->words[w->at - 1];
		if (r == 0 && !w->is_virtual)
			fx_late_cut(w, start, &w->words[w->at - 1]);
		start = w->words[w->at - 1];
		whole =
		    r == 0 && (!w->thread || fx_stream_nests(w->s, w->thread, &w->words[1], start));
		if (r == 0 && w->transfer.way)
			fx_transfers_take(w, begin, end,
					  whole && w->words[1] == begin && start == end);
		if (r == 0 && !whole)
			return 0;
		if (r == 0 && w->thread)
			fx_begun_end_within(w->s, w->thread, w->words[1], start);
	}
	if (r == 0 && FXT_GET(header, EVENT_TYPE) >= FXT_EVENT_ASYNC_BEGIN &&
	    FXT_GET(header, EVENT_TYPE) <= FXT_EVENT_ASYNC_END) {
		r = fx_async_take(w, header);
		if (r == 0)
			return 0;
	}
	if (r < 0)
		return r;
	if (FXT_GET(header, EVENT_TYPE) >= FXT_EVENT_FLOW_BEGIN)
		rewrite_flow_id(w, header);
	r = rewrite_note_event(w, header, start);
	if (r > 0)
		fx_meanings_add(w);
	if (r > 0 && w->thread && FXT_GET(header, EVENT_TYPE) == FXT_EVENT_INSTANT)
		w->thread->anchor_ns = start;
	if (r <= 0 || FXT_GET(header, EVENT_TYPE) < FXT_EVENT_FLOW_BEGIN)
		return r;
	return w->is_virtual ? fx_vthread_flows_take(w, header) : fx_loose_take(w, header);
}

/* Blobs of such names are the manager's own word, on clocks and hosts. */
#define OWN_BLOBS "fxtrace:"

static bool blob_is_forged(const struct fx_rewriting *w)
{
	uint32_t ref = (uint32_t)FXT_GET(w->words[0], BLOB_NAME);
	const struct fx_name *name;

	if (ref & FXT_STRING_INLINE)
		return (ref & ~FXT_STRING_INLINE) >= strlen(OWN_BLOBS) &&
		       memcmp(&w->words[1], OWN_BLOBS, strlen(OWN_BLOBS)) == 0;
	name = fx_names_find(&w->s->names, fx_rewriting_locals(w), ref);
	return name && name->kind == FX_NAME_TEXT &&
	       strncmp(name->text, OWN_BLOBS, strlen(OWN_BLOBS)) == 0;
}

static int rewrite_blob(struct fx_rewriting *w)
{
	if (FXT_GET(w->words[0], BLOB_TYPE) == FXT_BLOB_PERFETTO || blob_is_forged(w))
		return -EPERM;
	w->at = 1;
	return REWRITE_REF(w, 0, BLOB_NAME);
}

static int rewrite_userspace_object(struct fx_rewriting *w)
{
	uint64_t header = w->words[0];
	int r;

	w->at = 2;
	if (FXT_GET(header, USERSPACE_OBJECT_PROCESS) == FXT_THREAD_INLINE)
		w->words[w->at++] = w->s->pid;
	else if ((r = rewrite_thread(w, 0, FXT_USERSPACE_OBJECT_PROCESS_LSB)) < 0)
		return r;
	r = REWRITE_REF(w, 0, USERSPACE_OBJECT_NAME);
	return r < 0 ? r
		     : rewrite_args(w, (unsigned)FXT_GET(header, USERSPACE_OBJECT_NARGS), false);
}

/* Neither a process nor a thread. */
static int rewrite_kernel_object(struct fx_rewriting *w)
{
	uint64_t header = w->words[0];
	int r;

	if (!(w->words[1] & FX_KOID_OBJECT))
		return -EPERM;
	w->at = 2;
	r = REWRITE_REF(w, 0, KERNEL_OBJECT_NAME);
	return r < 0 ? r : rewrite_args(w, (unsigned)FXT_GET(header, KERNEL_OBJECT_NARGS), false);
}

static int rewrite_log(struct fx_rewriting *w)
{
	int r;

	w->at = 1;
	r = rewrite_time(w, 0);
	if (r == 0)
		r = rewrite_thread(w, 0, FXT_LOG_THREAD_LSB);
	if (r == 0)
		note_text(w, FXT_GET(w->words[0], LOG_LENGTH));
	return r;
}

/* Modules are passed on, so that an archive can be symbolised elsewhere as well. */
static int rewrite_profiler(struct fx_rewriting *w)
{
	int r;

	if (FXT_GET(w->words[0], PROFILER_TYPE) > FXT_PROFILER_BACKTRACE)
		return -EPERM;
	w->at = 1;
	r = rewrite_time(w, 0);
	if (r == 0)
		r = rewrite_thread(w, 0, FXT_PROFILER_THREAD_LSB);
	if (r == 0 && FXT_GET(w->words[0], PROFILER_TYPE) == FXT_PROFILER_MODULE)
		note_text(w, FXT_GET(w->words[0], MODULE_NAME_LENGTH));
	return r;
}

/* The kernel provider's: threads are numbers, whatever their processes are. */
static int rewrite_scheduling(struct fx_rewriting *w)
{
	uint64_t header = w->words[0];
	int r;

	w->at = 1;
	r = rewrite_time(w, 0);
	if (r < 0)
		return r;
	switch (FXT_GET(header, SCHED_TYPE)) {
	case FXT_SCHED_CONTEXT_SWITCH:
		r = fx_kernel_tid(w);
		if (r == 0)
			r = fx_kernel_tid(w);
		return r < 0 ? r
			     : rewrite_args(w, (unsigned)FXT_GET(header, CONTEXT_SWITCH_NARGS),
					    false);
	case FXT_SCHED_THREAD_WAKEUP:
		r = fx_kernel_tid(w);
		return r < 0
			   ? r
			   : rewrite_args(w, (unsigned)FXT_GET(header, THREAD_WAKEUP_NARGS), false);
	}
	return -EPERM;
}

/* The kernel provider's name of a thread or a process, or of its own thread. As fx_rewrite_record(). */
static int rewrite_kernel_name(struct fx_rewriting *w)
{
	uint64_t header = w->words[0];
	int r;

	if (fx_kernel_is_provider(w))
		return 0;
	if (!fx_kernel_object(w))
		return fx_told_kernel_object(w);
	w->at = 2;
	r = REWRITE_REF(w, 0, KERNEL_OBJECT_NAME);
	if (r == 0)
		r = rewrite_args(w, (unsigned)FXT_GET(header, KERNEL_OBJECT_NARGS), false);
	return r < 0 ? r : 1;
}

static int rewrite_large(struct fx_rewriting *w)
{
	bool event = FXT_GET(w->words[0], LARGE_BLOB_FORMAT) == FXT_LARGE_BLOB_EVENT;
	uint64_t format;
	int r;

	if (FXT_GET(w->words[0], LARGE_TYPE) != FXT_LARGE_BLOB ||
	    FXT_GET(w->words[0], LARGE_BLOB_FORMAT) > FXT_LARGE_BLOB_ATTACHMENT)
		return -EPERM;
	format = w->words[1];
	w->at = 2;
	r = REWRITE_CATEGORY(w, 1, LARGE_EVENT_CATEGORY);
	if (r == 0)
		r = REWRITE_REF(w, 1, LARGE_EVENT_NAME);
	if (r < 0 || !event)
		return r;
	r = rewrite_time(w, 0);
	if (r == 0)
		r = rewrite_thread(w, 1, FXT_LARGE_EVENT_THREAD_LSB);
	if (r == 0)
		r = rewrite_args(w, (unsigned)FXT_GET(format, LARGE_EVENT_NARGS), false);
	if (r == 0)
		fx_stream_counts_event(w->s);
	return r;
}

/* Whether it is a call of a function that is of no use; w->function is one that may be. */
static bool rewrite_is_unwanted(struct fx_rewriting *w)
{
	w->function = fx_names_judge(&w->s->names, fx_rewriting_locals(w),
				     (uint32_t)FXT_GET(w->words[0], EVENT_NAME));
	if (w->function &&
	    !fx_rewriting_is_name(w, FXT_GET(w->words[0], EVENT_CATEGORY), "function"))
		w->function = NULL;
	return w->function && w->function->unwanted;
}

/* Whether it is a call of a function that is too short for it; if what calls lie in matters, that is decided with the rest. */
static bool rewrite_is_brief(struct fx_rewriting *w)
{
	struct fx_stream_shared *shared = w->s->shared;
	uint64_t start, end;

	if (!shared->has_min || w->s->scope || !w->function ||
	    FXT_GET(w->words[0], EVENT_TYPE) != FXT_EVENT_DURATION_COMPLETE)
		return false;
	start = fx_timebase_ns(&shared->timebase, w->words[1]);
	end = fx_timebase_ns(&shared->timebase, w->words[w->size - 1]);
	if (!fx_stream_is_brief(w->s, w->function, start, end))
		return false;
	w->s->counts.brief++;
	return true;
}

/* A call that may be of a function that drowns the others. */
static void rewrite_note_crowd(struct fx_rewriting *w)
{
	struct fx_timebase *timebase = &w->s->shared->timebase;
	struct fx_stream_thread *t = fx_rewriting_thread(w);

	if (t && FXT_GET(w->words[0], EVENT_TYPE) == FXT_EVENT_DURATION_COMPLETE)
		fx_suppress_note(w->s, t, (uint32_t)FXT_GET(w->words[0], EVENT_NAME),
				 fx_timebase_ns(timebase, w->words[1]),
				 fx_timebase_ns(timebase, w->words[w->size - 1]));
}

int fx_rewrite_record(struct fx_rewriting *w)
{
	int r;

	switch (FXT_GET(w->words[0], RECORD_TYPE)) {
	case FXT_RECORD_STRING:
		return fx_names_define(&w->s->names, fx_rewriting_locals(w), w->words);
	case FXT_RECORD_THREAD:
		return fx_told_thread(w);
	case FXT_RECORD_KERNEL_OBJECT:
		if (w->s->is_kernel)
			return rewrite_kernel_name(w);
		if (FXT_GET(w->words[0], KERNEL_OBJECT_TYPE) == FXT_OBJECT_PROCESS ||
		    FXT_GET(w->words[0], KERNEL_OBJECT_TYPE) == FXT_OBJECT_THREAD)
			return fx_told_kernel_object(w);
		r = rewrite_kernel_object(w);
		break;
	case FXT_RECORD_EVENT:
		if (rewrite_is_unwanted(w)) {
			w->s->counts.unwanted++;
			if (w->function->suppressed)
				fx_suppress_count(w->s, (uint32_t)FXT_GET(w->words[0], EVENT_NAME),
						  w->words, w->size);
			return 0;
		}
		if (w->function && w->s->shared->crowd.share)
			rewrite_note_crowd(w);
		if (fx_begun_is_end_alone(w) || fx_late_is(w) || rewrite_is_brief(w))
			return 0;
		return rewrite_event(w);
	case FXT_RECORD_BLOB:
		r = rewrite_blob(w);
		break;
	case FXT_RECORD_USERSPACE_OBJECT:
		r = rewrite_userspace_object(w);
		break;
	case FXT_RECORD_LOG:
		if (fx_kept_leaves_out(w))
			return 0;
		r = rewrite_log(w);
		break;
	case FXT_RECORD_PROFILER:
		r = fx_told_module(w);
		if (r == 0)
			r = rewrite_profiler(w);
		break;
	case FXT_RECORD_LARGE:
		r = rewrite_large(w);
		break;
	case FXT_RECORD_SCHEDULING:
		r = w->s->is_kernel ? rewrite_scheduling(w) : -EPERM;
		break;
	default: /* metadata, initialization, and types from the future */
		r = -EPERM;
	}
	return r < 0 ? r : 1;
}
