/* SPDX-License-Identifier: MIT */
#include "manager/archive/stream.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <utlist.h>

#include "manager/archive/own.h"
#include "manager/archive/scope.h"
#include "manager/archive/transfer-known.h"

/* For words that ask for categories of single providers. */
static void provider_note(struct fx_stream *s)
{
	char name[FX_CATEGORY_NAME_MAX + 1];
	int n = snprintf(name, sizeof(name), "%.99s/", s->name);

	fx_known_add(&s->shared->known, &s->names.made, name, (size_t)n);
}

int fx_stream_create(struct fx_stream_shared *shared, uint32_t id, uint32_t pid, const char *name,
		     struct fx_stream **ret)
{
	const struct fx_stream_who who = {.pid = pid, .kernel_pid = pid, .first_tid = pid};

	return fx_stream_create_as(shared, id, &who, name, ret);
}

/* Code that the process makes may have a map, written since it began. */
static void map_expect(struct fx_stream *s, const struct fx_origin *origin)
{
	const char *started = origin->abouts.texts[FX_ABOUT_STARTED]; /* ns since the machine was */
	struct timespec now, up;
	uint64_t machine_ns;

	if (!started || clock_gettime(CLOCK_REALTIME, &now) < 0 ||
	    clock_gettime(CLOCK_BOOTTIME, &up) < 0)
		return;
	machine_ns = (uint64_t)(now.tv_sec - up.tv_sec) * UINT64_C(1000000000) +
		     (uint64_t)now.tv_nsec - (uint64_t)up.tv_nsec;
	fx_modules_expect_map(&s->modules, fx_origin_first_tid(origin), origin->uid,
			      machine_ns + strtoull(started, NULL, 10));
}

/* What comes of it is held from here on. */
static int scope_begin(struct fx_stream *s)
{
	int r = fx_scope_create(s->shared->functions.text, s->shared->max_levels, &s->scope);

	if (r == 0)
		r = fx_archive_set_apart(&s->shared->archive, s->id, fx_scope_output(s->scope));
	return r;
}

int fx_stream_create_as(struct fx_stream_shared *shared, uint32_t id,
			const struct fx_stream_who *who, const char *name, struct fx_stream **ret)
{
	struct fx_stream *s = calloc(1, sizeof(*s));

	if (!s)
		return -ENOMEM;
	s->shared = shared;
	s->id = id;
	s->pid = who->pid;
	s->kernel_pid = who->kernel_pid;
	s->first_tid = who->first_tid;
	s->origin = who->origin;
	s->is_kernel = who->is_kernel;
	s->next_index = 1;
	s->first_end = UINT64_MAX;
	s->vthreads =
	    (struct fx_vthreads){.archive = &shared->archive, .ids = shared->ids, .pid = who->pid};
	memcpy(s->name, name, strnlen(name, sizeof(s->name) - 1));
	fx_modules_init(&s->modules, shared->symbols, who->origin ? &who->origin->view : NULL);
	if (who->origin)
		map_expect(s, who->origin);
	fx_names_init(&s->names, &shared->archive, &s->modules, &shared->known,
		      shared->max_strings);
	s->names.functions = &shared->functions;
	provider_note(s);
	fx_archive_introduce(&shared->archive, id, s->name);
	/* The kernel provider is none of the processes that are traced. */
	if (!s->is_kernel)
		fx_archive_process(&shared->archive, s->pid, s->name,
				   who->origin ? &who->origin->abouts : NULL);
	if (fx_functions_nest(shared->functions.text) && scope_begin(s) < 0) {
		fx_stream_destroy(s);
		return -ENOMEM;
	}
	*ret = s;
	return 0;
}

void fx_stream_settle(struct fx_stream *s, uint64_t until_ns)
{
	struct fx_scope_left left = fx_scope_settle(s->scope, until_ns, &s->shared->archive, s->id);

	s->counts.events -= left.calls;
	s->shared->archive.events -= left.calls;
	s->counts.unwanted += left.calls;
	s->counts.unfinished -= left.unfinished;
}

void fx_stream_clear(struct fx_stream *s)
{
	struct fx_stream_thread *t, *next_thread;
	struct fx_stream_chunk *c, *next_chunk;
	struct fx_kept_flow *flow, *next_flow;

	HASH_ITER (hh, s->threads, t, next_thread) {
		HASH_DEL(s->threads, t);
		fx_nesting_clear(&t->nesting, &s->shared->nesting);
		if (t->loose)
			fx_loose_clear(t->loose);
		free(t->loose);
		free(t->begun);
		fx_peaks_clear(&t->begun_levels);
		free(t->crowd);
		free(t);
	}
	HASH_ITER (hh, s->chunks, c, next_chunk) {
		HASH_DEL(s->chunks, c);
		fx_locals_destroy(&s->names, &c->locals);
		free(c);
	}
	HASH_ITER (hh, s->flows_out, flow, next_flow) {
		HASH_DEL(s->flows_out, flow);
		free(flow);
	}
	fx_asyncs_clear(&s->asyncs);
	fx_loose_clear(&s->loose_left);
	s->loose_due = NULL;
	s->loose_is_due = false;
	s->loose_count = 0;
	s->loose_words = 0;
	fx_vthreads_clear(&s->vthreads);
	fx_locals_destroy(&s->names, &s->whole.locals);
	free(s->meanings);
	s->meanings = NULL;
	free(s->shapes);
	s->shapes = NULL;
	fx_transfer_stream_free(s->transfers);
	s->transfers = NULL;
	fx_names_destroy(&s->names);
	fx_modules_destroy(&s->modules);
	fx_fragments_destroy(&s->fragments);
	free(s->slots);
	free(s->crowd.items);
	s->crowd = (struct fx_crowd_counts){0};
	free(s->exec);
	free(s->stash);
	s->slots = NULL;
	s->exec = NULL;
	s->stash = NULL;
	s->stash_words = 0;
	s->slot_count = 0;
}

void fx_stream_destroy(struct fx_stream *s)
{
	if (!s)
		return;
	fx_stream_clear(s);
	if (s->scope)
		fx_archive_rejoin(&s->shared->archive, s->id);
	fx_scope_destroy(s->scope);
	free(s);
}

/* --- Threads --------------------------------------------------------------------------------- */

void fx_stream_leave_loose(struct fx_stream *s, struct fx_stream_thread *t)
{
	uint32_t lost;

	if (!t->loose)
		return;
	if (s->loose_due == t)
		s->loose_due = NULL;
	fx_loose_move(&t->loose, &s->loose_left, &lost);
	s->loose_count -= lost;
	while (lost--)
		fx_stream_lose(s, -ENOMEM);
	s->loose_is_due = true;
}

static void thread_forget(struct fx_stream *s, struct fx_stream_thread *t)
{
	/* The thread that had the slot has ended, in the middle of something perhaps. */
	fx_archive_select(&s->shared->archive, s->id);
	fx_stream_end_begun(s, t, 0, t->last_end);
	fx_stream_leave_loose(s, t);
	DL_DELETE(s->idle, t);
	HASH_DEL(s->threads, t);
	if (t->index)
		s->by_index[t->index] = NULL;
	fx_nesting_clear(&t->nesting, &s->shared->nesting);
	free(t->begun);
	fx_peaks_clear(&t->begun_levels);
	free(t);
}

void fx_stream_thread_hold(struct fx_stream *s, struct fx_stream_thread *t)
{
	if (t->held++ == 0)
		DL_DELETE(s->idle, t);
}

void fx_stream_thread_release(struct fx_stream *s, struct fx_stream_thread *t)
{
	if (--t->held == 0)
		DL_APPEND(s->idle, t);
}

/* As the kernel has it; of what has ended, and in a namespace of its own cannot be asked for, one that is made up. */
static uint32_t thread_identity(struct fx_stream *s, uint32_t tid)
{
	uint32_t known = tid;

	if (tid == s->first_tid)
		return s->pid;
	if (s->origin)
		known = fx_origin_tid(s->origin, tid);
	if (!known)
		known = s->shared->ids ? fx_identity_thread(s->shared->ids) : tid;
	return known;
}

static void thread_renew(struct fx_stream *s, struct fx_stream_thread *t)
{
	fx_nesting_clear(&t->nesting, &s->shared->nesting);
	if (s->origin)
		fx_origin_forget_tid(s->origin, t->tid);
	t->shown = fx_identity_thread(s->shared->ids);
	if (t->index)
		s->by_index[t->index] = NULL;
	t->index = 0;
	t->introduced = false;
}

struct fx_stream_thread *fx_stream_thread(struct fx_stream *s, uint64_t tid)
{
	uint32_t key = (uint32_t)tid;
	struct fx_stream_thread *t;

	if (tid == 0 || tid > INT32_MAX)
		return NULL;
	HASH_FIND(hh, s->threads, &key, sizeof(key), t);
	if (t) {
		fx_stream_thread_hold(s, t);
		fx_stream_thread_release(s, t);
		return t;
	}
	if (HASH_COUNT(s->threads) >= FX_STREAM_THREADS_MAX) {
		if (!s->idle)
			return NULL;
		thread_forget(s, s->idle);
	}
	t = calloc(1, sizeof(*t));
	if (t) {
		t->tid = key;
		t->shown = thread_identity(s, key);
		HASH_ADD(hh, s->threads, tid, sizeof(t->tid), t);
	}
	if (!t || t->lost) {
		free(t);
		s->starved = true;
		return NULL;
	}
	DL_APPEND(s->idle, t);
	s->others += t->tid != s->first_tid;
	return t;
}

const struct fx_stream_thread *fx_stream_thread_known(const struct fx_stream *s, uint64_t tid)
{
	struct fx_stream_thread *t;
	uint32_t key = (uint32_t)tid;

	HASH_FIND(hh, s->threads, &key, sizeof(key), t);
	return t;
}

void fx_stream_thread_begins(struct fx_stream *s, struct fx_stream_thread *t)
{
	if (!t->begun_writing || t->tid == s->first_tid)
		return;
	fx_stream_end_begun(s, t, 0, t->last_end);
	fx_stream_leave_loose(s, t);
	t->stop = (struct fx_stop){0};
	s->others++;
	/* What is the newest thread's is not the other one's. */
	if (s->shared->ids)
		thread_renew(s, t);
}

void fx_stream_chunk_own(struct fx_stream *s, struct fx_stream_chunk *c, struct fx_stream_thread *t)
{
	struct fx_stream_thread *before = c->thread;

	c->thread = t;
	if (t) {
		fx_stream_thread_hold(s, t);
		t->begun_writing = true;
		c->stops = t->stop.count;
	}
	if (before)
		fx_stream_thread_release(s, before);
}

/* How many begun slices lie in one another where a call begins, or in it. */
static uint32_t begun_around(const struct fx_stream_thread *t, uint64_t start)
{
	uint32_t most = t->begun_room < FX_BEGUN_MAX ? t->begun_room : FX_BEGUN_MAX;
	uint32_t depth = t->depth < most ? t->depth : most;
	uint32_t since = fx_peaks_since(&t->begun_levels, start);

	while (depth > since && t->begun[depth - 1].ns > start)
		depth--;
	return depth > since ? depth : since;
}

/* What began in a slice that has ended, and goes on behind it, begins with its end. */
static bool ended_cut(struct fx_stream_thread *t, uint64_t *start, uint64_t end)
{
	for (uint32_t i = t->ended.count; i-- > 0;) {
		const struct fx_interval *slice = &t->ended.slices[i];

		if (slice->end <= *start)
			return false;
		if (slice->start < *start && slice->end < end) {
			*start = slice->end;
			return true;
		}
	}
	return false;
}

bool fx_stream_nests(struct fx_stream *s, struct fx_stream_thread *t, uint64_t *start, uint64_t end)
{
	bool is_cut = t->ended.count && ended_cut(t, start, end);
	enum fx_nesting_verdict verdict =
	    fx_nesting_take(&t->nesting, &s->shared->nesting, start, end,
			    t->begun_room ? begun_around(t, *start) : 0);
	bool is_in = verdict == FX_NESTING_WHOLE || verdict == FX_NESTING_CUT;

	s->counts.lost[FX_CAUSE_DEEP] += verdict == FX_NESTING_DEEP;
	s->counts.lost[FX_CAUSE_CROSSING] += verdict == FX_NESTING_CUT || verdict == FX_NESTING_OUT;
	s->counts.lost[FX_CAUSE_OUTLASTING] += is_cut && verdict == FX_NESTING_WHOLE;
	if (t->loose && !s->scope && is_in && fx_loose_note(t->loose, *start, end)) {
		s->loose_due = t;
		s->loose_is_due = true;
	}
	return is_in;
}

static void thread_introduce(struct fx_stream *s, struct fx_stream_thread *t)
{
	fx_archive_thread_name(&s->shared->archive, s->pid, t->shown,
			       t->name[0] ? t->name : s->name);
	t->introduced = true;
}

void fx_stream_thread_rename(struct fx_stream *s, struct fx_stream_thread *t, const char *name,
			     size_t length)
{
	char fresh[sizeof(t->name)] = {0};

	memcpy(fresh, name, strnlen(name, length < sizeof(fresh) - 1 ? length : sizeof(fresh) - 1));
	if (fresh[0] == 0 || memcmp(fresh, t->name, sizeof(fresh)) == 0)
		return;
	memcpy(t->name, fresh, sizeof(fresh));
	if (t->introduced)
		thread_introduce(s, t);
}

unsigned fx_stream_thread_index(struct fx_stream *s, struct fx_stream_thread *t)
{
	struct fx_stream_thread *before;

	if (t->index)
		return t->index;
	if (!t->introduced)
		thread_introduce(s, t);
	before = s->by_index[s->next_index];
	if (before)
		before->index = 0;
	t->index = s->next_index;
	s->by_index[t->index] = t;
	s->next_index = s->next_index % FXT_MAX_THREAD_INDEX + 1;
	fx_archive_thread(&s->shared->archive, t->index, s->pid, t->shown);
	return t->index;
}

/* --- The manager's own events ----------------------------------------------------------------- */

struct fxt_record fx_stream_event(struct fx_stream *s, struct fx_stream_thread *t,
				  enum fxt_event_type type, uint64_t ns)
{
	struct fxt_record record = {.kind = FXT_KIND_EVENT};

	record.event.type = type;
	record.event.timestamp = ns;
	record.event.thread.ref = (uint8_t)fx_stream_thread_index(s, t);
	record.event.category = fx_own_text(FX_MANAGER_CATEGORY);
	return record;
}

void fx_stream_unfinished(struct fx_stream *s, struct fxt_record *record)
{
	record->args[record->nargs++] = (struct fxt_arg){
	    .type = FXT_ARG_BOOL, .name = fx_own_text("unfinished"), .boolean = true};
	fx_archive_record(&s->shared->archive, record);
	s->counts.unfinished++;
}

static struct fxt_string begun_or(uint16_t ref, const char *otherwise)
{
	return ref & FXT_STRING_INLINE ? fx_own_text(otherwise) : fx_string_indexed(ref);
}

/* Innermost first, functions and the program's own slices: none may go on after the calls that it lies in. */
void fx_stream_end_begun(struct fx_stream *s, struct fx_stream_thread *t, uint32_t depth,
			 uint64_t end)
{
	while (t->depth > depth) {
		uint32_t at = --t->depth;
		struct fx_begun begun = {.category = FXT_STRING_INLINE, .name = FXT_STRING_INLINE};
		struct fxt_record record;

		if (at >= FX_BEGUN_MAX)
			continue;
		record = fx_stream_event(s, t, FXT_EVENT_DURATION_END, end);
		if (at < t->begun_room)
			begun = t->begun[at];
		record.event.category = begun_or(begun.category, FX_MANAGER_CATEGORY);
		record.event.name = begun_or(begun.name, "(unknown)");
		fx_stream_unfinished(s, &record);
	}
}

bool fx_stream_is_ready(struct fx_stream *s)
{
	return fx_modules_are_ready(&s->modules);
}
