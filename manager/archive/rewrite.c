/* SPDX-License-Identifier: MIT */
/*
 * Records of a provider's buffer made into records of the archive. A record keeps its size, unless
 * text in it has to be escaped (base/escape.h): only references, times and process ids in it change. What has nothing but those is rewritten on its
 * way into the output; the rest in a scratch copy, so that strings it needs can be written first.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"
#include "base/escape.h"
#include "format/encode.h"
#include "format/validate.h"
#include "manager/archive/stream.h"

/* A record under way: its words are the scratch copy. */
struct rewrite {
	struct fx_stream *s;
	struct fx_stream_chunk *chunk; /* NULL in the durable area */
	uint64_t *words;
	size_t size;
	size_t at;			 /* the word that comes next */
	bool unclean;			 /* text in it has to be escaped */
	struct fx_stream_thread *thread; /* whose event it is; NULL: of none */
};

static struct fx_locals *locals_of(const struct rewrite *w)
{
	return w->chunk ? &w->chunk->locals : NULL;
}

/* Looks at the text that comes next. */
static void note_text(struct rewrite *w, size_t length)
{
	if (!w->unclean)
		w->unclean = fx_escape_needed((const char *)&w->words[w->at], length, 0);
}

/* Replaces a string ref and steps over the text of an inline one. 0, or -errno: unknown. */
static int rewrite_ref(struct rewrite *w, size_t word, unsigned lsb)
{
	uint64_t mask = UINT64_C(0xffff) << lsb;
	uint32_t ref = (uint32_t)(w->words[word] >> lsb & 0xffff);
	int to = fx_names_ref(&w->s->names, locals_of(w), ref);

	if (to < 0)
		return to;
	w->words[word] = (w->words[word] & ~mask) | (uint64_t)to << lsb;
	if (ref & FXT_STRING_INLINE) {
		note_text(w, ref & ~FXT_STRING_INLINE);
		w->at += fx_stream_words(ref & ~FXT_STRING_INLINE);
	}
	return 0;
}

#define REWRITE_REF(w, word, name) rewrite_ref((w), (word), FXT_##name##_LSB)

/* The same for the category of an event. */
static int rewrite_category(struct rewrite *w, size_t word, unsigned lsb)
{
	const void *text = &w->words[w->at];
	uint32_t ref = (uint32_t)(w->words[word] >> lsb & 0xffff);
	int r = rewrite_ref(w, word, lsb);

	if (r == 0)
		fx_names_category(&w->s->names, locals_of(w), ref, text);
	return r;
}

#define REWRITE_CATEGORY(w, word, name) rewrite_category((w), (word), FXT_##name##_LSB)

/* An inline thread stays what it is, in the true process; readers learn whose it is before. Some records
 * are of no thread: 0. */
static int rewrite_inline_thread(struct rewrite *w)
{
	uint64_t tid = w->words[w->at + 1];
	struct fx_stream_thread *t = fx_stream_thread(w->s, tid);

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
static int rewrite_thread(struct rewrite *w, size_t word, unsigned lsb)
{
	uint64_t mask = UINT64_C(0xff) << lsb;
	uint32_t ref = (uint32_t)(w->words[word] >> lsb & 0xff);

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
static int rewrite_time(struct rewrite *w, uint64_t floor)
{
	uint64_t ns = fx_timebase_ns(&w->s->shared->timebase, w->words[w->at]);

	if (ns > INT64_MAX || ns < floor)
		return -ERANGE;
	w->words[w->at++] = ns;
	return 0;
}

static bool rewrite_is_number(uint64_t arg)
{
	return FXT_GET(arg, ARG_TYPE) >= FXT_ARG_INT32 && FXT_GET(arg, ARG_TYPE) <= FXT_ARG_DOUBLE;
}

static int rewrite_args(struct rewrite *w, unsigned count, bool numbers)
{
	while (count--) {
		size_t head = w->at;
		uint64_t header = w->words[head];
		int r;

		if (numbers && !rewrite_is_number(header))
			return -EINVAL;
		w->at++;
		r = REWRITE_REF(w, head, ARG_NAME);
		if (r == 0 && FXT_GET(header, ARG_TYPE) == FXT_ARG_STRING)
			r = REWRITE_REF(w, head, ARG_STRING_VALUE);
		if (r < 0)
			return r;
		w->at = head + FXT_GET(header, ARG_SIZE);
	}
	return 0;
}

static bool rewrite_is_name(const struct rewrite *w, uint32_t ref, const char *text)
{
	const struct fx_name *name = fx_names_find(&w->s->names, locals_of(w), ref);

	return name && name->kind == FX_NAME_TEXT && strcmp(name->text, text) == 0;
}

/* --- Begins and ends ------------------------------------------------------------------------- */

/* The function whose begin or end the record is in pairs mode; 0: the program's own slice. */
static uint64_t pair_function(const struct rewrite *w, uint64_t header)
{
	const struct fx_name *name =
	    fx_names_find(&w->s->names, locals_of(w), FXT_GET(header, EVENT_NAME));

	return w->s->shared->pairs && name && name->kind == FX_NAME_ADDRESS ? name->address : 0;
}

/* In pairs mode: the end of a call that found no room when it ended. Whose, the provider does not know any more. */
static bool is_owed(const struct rewrite *w, uint64_t header)
{
	return w->s->shared->pairs && FXT_GET(header, EVENT_NAME) == 0 &&
	       FXT_GET(header, EVENT_TYPE) == FXT_EVENT_DURATION_END &&
	       rewrite_is_name(w, FXT_GET(header, EVENT_CATEGORY), "function");
}

/* Remembers what has begun, so that it can be ended by its name. What handlers have recorded may come later. */
static void begun_push(struct fx_stream_thread *t, struct fx_begun begun)
{
	uint32_t at = t->depth++;

	if (at == t->begun_room && at < FX_BEGUN_MAX) {
		uint32_t room = at ? 2 * at : 8;
		struct fx_begun *begun = realloc(t->begun, room * sizeof(*begun));

		if (!begun)
			return;
		t->begun = begun;
		t->begun_room = room;
	}
	if (at >= t->begun_room)
		return;
	for (; at && t->begun[at - 1].ns > begun.ns; at--)
		t->begun[at] = t->begun[at - 1];
	t->begun[at] = begun;
}

/* What an end says of itself. */
struct ended {
	uint64_t ns, function;
	bool is_owed; /* by the innermost call */
	uint16_t category, name;
};

static bool is_ended(const struct fx_begun *begun, const struct ended *e)
{
	if (begun->ns > e->ns)
		return false;
	if (e->is_owed || e->function)
		return begun->address && (e->is_owed || begun->address == e->function);
	return !begun->address && begun->category == e->category && begun->name == e->name;
}

/* Which of the begins it ends, counted from 1; 0: none. A slice of the program's own ends no call. */
static uint32_t begun_find(const struct fx_stream_thread *t, const struct ended *e)
{
	uint32_t at = t->depth;

	if (at > t->begun_room)
		return at;
	for (; at; at--) {
		const struct fx_begun *begun = &t->begun[at - 1];

		if (is_ended(begun, e))
			return at;
		if (begun->address && begun->ns <= e->ns && !e->function && !e->is_owed)
			return 0;
	}
	return 0;
}

/* Ends what lies inside and has begun before; what comes late and began after it goes on. */
static void begun_close(struct rewrite *w, struct fx_stream_thread *t, uint32_t at, uint64_t ns)
{
	uint32_t inner = at;

	while (inner < t->depth && inner < t->begun_room && t->begun[inner].ns <= ns)
		inner++;
	if (inner == t->depth) {
		fx_stream_end_begun(w->s, t, at, ns);
		t->depth--;
		return;
	}
	t->depth--;
	if (t->depth < t->begun_room)
		memmove(&t->begun[at - 1], &t->begun[at], (t->depth - at + 1) * sizeof(*t->begun));
}

/*
 * An end is of the begin that it names, so that no slices cross whatever was lost. False: that one is lost, as was
 * counted then, or has been ended with the call that it lies in.
 */
static bool end_begun(struct rewrite *w, struct fx_stream_thread *t, uint64_t header, uint64_t ns)
{
	const struct ended e = {
	    .ns = ns,
	    .function = pair_function(w, header),
	    .is_owed = is_owed(w, header),
	    .category = (uint16_t)FXT_GET(w->words[0], EVENT_CATEGORY),
	    .name = (uint16_t)FXT_GET(w->words[0], EVENT_NAME),
	};
	uint32_t at = begun_find(t, &e);

	if (!at)
		return false;
	if (at <= t->begun_room && (e.is_owed || e.function)) {
		w->words[0] &= ~(FXT_PUT(EVENT_CATEGORY, ~0) | FXT_PUT(EVENT_NAME, ~0));
		w->words[0] |= FXT_PUT(EVENT_CATEGORY, t->begun[at - 1].category) |
			       FXT_PUT(EVENT_NAME, t->begun[at - 1].name);
	}
	begun_close(w, t, at, ns);
	return true;
}

/* Remembers what the thread did last: marks.c looks for calls that are recorded and still open. 1, or 0: it is an
 * end of nothing. */
static int rewrite_note_event(struct rewrite *w, uint64_t header, uint64_t end_ns)
{
	struct fx_stream_thread *t = w->chunk ? w->chunk->thread : NULL;
	bool own = t && FXT_GET(header, EVENT_THREAD) == FX_CHUNK_THREAD_INDEX;

	if (own && FXT_GET(header, EVENT_TYPE) == FXT_EVENT_DURATION_END &&
	    !end_begun(w, t, header, end_ns))
		return 0;
	w->s->counts.events++;
	if (end_ns < w->s->first_end)
		w->s->first_end = end_ns;
	if (t && end_ns > t->last_end)
		t->last_end = end_ns;
	if (own && FXT_GET(header, EVENT_TYPE) == FXT_EVENT_DURATION_BEGIN)
		begun_push(t, (struct fx_begun){
				  .ns = end_ns,
				  .address = pair_function(w, header),
				  .category = (uint16_t)FXT_GET(w->words[0], EVENT_CATEGORY),
				  .name = (uint16_t)FXT_GET(w->words[0], EVENT_NAME),
			      });
	return 1;
}

/* An instant by which a process tells that what it starts cannot be traced. */
static void note_untraced(const struct rewrite *w)
{
	struct fxt_record record;
	const struct fxt_arg *args = record.args;

	if (!rewrite_is_name(w, FXT_GET(w->words[0], EVENT_NAME), "not traced") ||
	    !rewrite_is_name(w, FXT_GET(w->words[0], EVENT_CATEGORY), "process") ||
	    fxt_record_decode(w->words, w->size, &record, NULL) <= 0)
		return;
	if (args[0].type == FXT_ARG_STRING && args[1].type == FXT_ARG_STRING &&
	    args[0].string.data && args[1].string.data)
		fx_untraced_add(&w->s->shared->untraced, args[0].string.data, args[0].string.length,
				args[1].string.data, args[1].string.length);
}

/* What is written of a call that was open at a stop ends there, as its callers do. */
static void cut_at_stop(const struct rewrite *w, uint64_t start, uint64_t *end)
{
	const struct fx_stream_thread *t = w->chunk ? w->chunk->thread : NULL;

	if (t && start <= t->stop.ns && *end > t->stop.ns)
		*end = t->stop.ns;
}

/* 1, 0: it is left out, and that was told where it had to be, or -errno. */
static int rewrite_event(struct rewrite *w)
{
	uint64_t header = w->words[0], start;
	int r;

	/* Of types from the future nothing was checked but the size. */
	if (FXT_GET(header, EVENT_TYPE) > FXT_EVENT_FLOW_END)
		return -EPERM;
	if (FXT_GET(header, EVENT_TYPE) == FXT_EVENT_INSTANT && FXT_GET(header, EVENT_NARGS) == 2)
		note_untraced(w);
	if (FXT_GET(header, EVENT_TYPE) == FXT_EVENT_COUNTER && !w->s->has_heap)
		w->s->has_heap = rewrite_is_name(w, FXT_GET(header, EVENT_NAME), "heap") &&
				 rewrite_is_name(w, FXT_GET(header, EVENT_CATEGORY), "heap");
	w->at = 1;
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
		r = rewrite_time(w, start);
		if (r == 0)
			cut_at_stop(w, start, &w->words[w->at - 1]);
		start = w->words[w->at - 1];
		if (r == 0 && w->thread && !fx_stream_nests(w->s, w->thread, &w->words[1], start))
			return 0;
	}
	return r < 0 ? r : rewrite_note_event(w, header, start);
}

static int rewrite_blob(struct rewrite *w)
{
	if (FXT_GET(w->words[0], BLOB_TYPE) == FXT_BLOB_PERFETTO)
		return -EPERM;
	w->at = 1;
	return REWRITE_REF(w, 0, BLOB_NAME);
}

static int rewrite_userspace_object(struct rewrite *w)
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

static int rewrite_log(struct rewrite *w)
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
static int rewrite_profiler(struct rewrite *w)
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

static int rewrite_large(struct rewrite *w)
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
		w->s->counts.events++;
	return r;
}

/* --- Records for the manager itself ---------------------------------------------------------- */

static bool rewrite_is_of_signal(int32_t kind)
{
	return kind == FX_TIE_SENDS || kind == FX_TIE_TAKES;
}

static bool tells_of_signal(const struct fxt_record *r)
{
	return r->nargs == 7 && r->args[3].type == FXT_ARG_UINT64 &&
	       r->args[4].type == FXT_ARG_UINT64 && r->args[5].type == FXT_ARG_INT32 &&
	       r->args[6].type == FXT_ARG_INT32;
}

static bool tells_of_exec(const struct fxt_record *r)
{
	return r->nargs == 6 && r->args[1].int32 == FX_TIE_EXECS &&
	       r->args[3].type == FXT_ARG_UINT64;
}

/* Shown with the call if it stays open (marks.c). One is remembered: an exec that succeeds ends all others. */
static void note_exec(struct fx_stream *s, uint32_t tid, const struct fxt_record *r)
{
	struct fx_stream_exec *exec = s->exec;

	if (!exec)
		exec = s->exec = malloc(sizeof(*exec));
	if (!exec)
		return;
	*exec = (struct fx_stream_exec){.start = r->args[3].uint64, .tid = tid};
	for (unsigned i = 0; i < FX_ARRAY_LEN(exec->texts); i++) {
		const struct fxt_arg *arg = &r->args[4 + i];
		size_t length = arg->type == FXT_ARG_STRING ? arg->string.length : 0;

		if (length > sizeof(exec->texts[i]) || !arg->string.data)
			length = 0;
		if (length)
			memcpy(exec->texts[i], arg->string.data, length);
		exec->lengths[i] = (uint32_t)length;
	}
}

static bool is_tie(const struct fxt_record *r)
{
	return r->nargs >= 3 && r->args[0].type == FXT_ARG_UINT64 &&
	       r->args[1].type == FXT_ARG_INT32 && r->args[2].type == FXT_ARG_INT32 &&
	       r->kernel_object.koid <= INT32_MAX &&
	       tells_of_signal(r) == rewrite_is_of_signal(r->args[1].int32) &&
	       (r->nargs == 3 || tells_of_signal(r) || tells_of_exec(r));
}

/* What a thread has done to another process. */
static int take_tie(struct rewrite *w, const struct fx_stream_thread *t, const struct fxt_record *r)
{
	struct fx_tie tie;
	int result;

	if (!t || !is_tie(r))
		return -EINVAL;
	if (tells_of_exec(r))
		note_exec(w->s, t->tid, r);
	tie = (struct fx_tie){
	    .kind = (enum fx_tie_kind)r->args[1].int32,
	    .tid = t->tid,
	    .shown = t->shown,
	    .pid = (uint32_t)r->kernel_object.koid,
	    .value = r->args[2].int32,
	    .ns = fx_timebase_ns(&w->s->shared->timebase, r->args[0].uint64),
	};
	if (tells_of_signal(r)) {
		tie.begin_ns = fx_timebase_ns(&w->s->shared->timebase, r->args[3].uint64);
		tie.number = r->args[4].uint64;
		tie.way = (enum fx_signal_way)r->args[5].int32;
		tie.thread = r->args[6].int32;
	}
	result = fx_ties_take(&w->s->shared->ties, w->s, &tie);
	fx_archive_select(&w->s->shared->archive, w->s->id);
	return result;
}

/* A thread's own name, written when it ends, or a tie. Names of anything else are the manager's to give. */
static int take_kernel_object(struct rewrite *w)
{
	struct fxt_record record;
	struct fx_stream_thread *t = w->chunk ? w->chunk->thread : NULL;

	if (fxt_record_decode(w->words, w->size, &record, NULL) <= 0)
		return -EINVAL;
	if (record.kernel_object.type == FXT_OBJECT_PROCESS)
		return take_tie(w, t, &record);
	if (record.kernel_object.type != FXT_OBJECT_THREAD || !t ||
	    record.kernel_object.koid != t->tid || !record.kernel_object.name.data)
		return -EPERM;
	fx_stream_thread_rename(w->s, t, record.kernel_object.name.data,
				record.kernel_object.name.length);
	return 0;
}

static int rewrite_take_thread(struct rewrite *w)
{
	struct fx_stream_thread *t;

	/* Chunks begin with their thread; it does not change within. */
	if (!w->chunk || w->chunk->thread ||
	    FXT_GET(w->words[0], THREAD_INDEX) != FX_CHUNK_THREAD_INDEX)
		return -EPERM;
	t = fx_stream_thread(w->s, w->words[2]);
	if (!t)
		return -EINVAL;
	if (w->words[0] & FX_THREAD_BEGINS)
		fx_stream_thread_begins(w->s, t);
	fx_stream_chunk_own(w->s, w->chunk, t);
	return 0;
}

static int take_module(struct rewrite *w)
{
	struct fxt_record record;

	if (w->chunk || fxt_record_decode(w->words, w->size, &record, NULL) <= 0)
		return 0;
	return fx_modules_add(&w->s->modules, &record);
}

/* The end of a slice whose begin is not there: it was overwritten in a circular buffer, or lost, or
 * came before tracing began. A slice that nobody can show is no loss of its own. */
static bool is_end_alone(const struct rewrite *w)
{
	uint64_t header = w->words[0];
	const struct fx_stream_thread *t = w->chunk ? w->chunk->thread : NULL;

	return t && t->depth == 0 && FXT_GET(header, EVENT_TYPE) == FXT_EVENT_DURATION_END &&
	       FXT_GET(header, EVENT_THREAD) == FX_CHUNK_THREAD_INDEX;
}

/* The begin or the end of a function's call (--records pairs) from before a stop, at which all that had begun
 * was ended. */
static bool is_late_pair(const struct rewrite *w, const struct fx_stop *stop, uint64_t ns)
{
	return (is_owed(w, w->words[0]) || pair_function(w, w->words[0])) &&
	       (w->chunk->stops != stop->count || ns <= stop->ns);
}

/* A call that was written as open at a stop already. */
static bool is_told(const struct fx_stop *stop, uint64_t start)
{
	for (unsigned i = 0; i < FX_RECENT; i++) {
		if (start && stop->told[i] == start)
			return true;
	}
	return false;
}

/* What a thread has to say of its calls only after a stop, at which they were told. */
static bool is_late(const struct rewrite *w)
{
	const struct fx_stream_thread *t = w->chunk ? w->chunk->thread : NULL;
	uint64_t header = w->words[0], ns;

	if (!t || !t->stop.ns || FXT_GET(header, EVENT_THREAD) != FX_CHUNK_THREAD_INDEX)
		return false;
	ns = fx_timebase_ns(&w->s->shared->timebase, w->words[1]);
	switch (FXT_GET(header, EVENT_TYPE)) {
	case FXT_EVENT_DURATION_BEGIN:
	case FXT_EVENT_DURATION_END:
		return is_late_pair(w, &t->stop, ns);
	case FXT_EVENT_DURATION_COMPLETE:
		return is_told(&t->stop, ns);
	}
	return false;
}

/* 1: the record goes into the archive, 0: it has served its purpose, -errno: it is left out. */
static int rewrite_record(struct rewrite *w)
{
	int r;

	switch (FXT_GET(w->words[0], RECORD_TYPE)) {
	case FXT_RECORD_STRING:
		return fx_names_define(&w->s->names, locals_of(w), w->words);
	case FXT_RECORD_THREAD:
		return rewrite_take_thread(w);
	case FXT_RECORD_KERNEL_OBJECT:
		return take_kernel_object(w);
	case FXT_RECORD_EVENT:
		if (is_end_alone(w) || is_late(w))
			return 0;
		return rewrite_event(w);
	case FXT_RECORD_BLOB:
		r = rewrite_blob(w);
		break;
	case FXT_RECORD_USERSPACE_OBJECT:
		r = rewrite_userspace_object(w);
		break;
	case FXT_RECORD_LOG:
		r = rewrite_log(w);
		break;
	case FXT_RECORD_PROFILER:
		r = take_module(w);
		if (r == 0)
			r = rewrite_profiler(w);
		break;
	case FXT_RECORD_LARGE:
		r = rewrite_large(w);
		break;
	default: /* metadata, initialization, scheduling, and types from the future */
		r = -EPERM;
	}
	return r < 0 ? r : 1;
}

/* --- Text that is escaped -------------------------------------------------------------------- */

/* Room for the texts of one record. */
struct escapes {
	char *at;
	bool brief; /* none is longer than before: the record has no more words than it had */
};

static void escape_text(struct escapes *e, struct fxt_string *s, size_t max)
{
	size_t limit = e->brief ? fx_stream_words(s->length) * FXT_WORD_SIZE
				: (size_t)s->length * FX_ESCAPE_WIDTH;
	size_t length;

	if (!s->length)
		return;
	length = fx_escape(e->at, limit < max ? limit : max, s->data, s->length, 0);
	s->data = e->at;
	s->length = (uint32_t)length;
	e->at += length;
}

static void escape_string(struct escapes *e, struct fxt_string *s)
{
	if (!(s->ref & FXT_STRING_INLINE))
		return;
	escape_text(e, s, FXT_MAX_STRING_LENGTH);
	*s = fx_string_inline(s->data, s->length);
}

static void escape_record(struct escapes *e, struct fxt_record *r)
{
	switch (r->kind) {
	case FXT_KIND_EVENT:
		escape_string(e, &r->event.category);
		escape_string(e, &r->event.name);
		break;
	case FXT_KIND_BLOB:
		escape_string(e, &r->blob.name);
		break;
	case FXT_KIND_USERSPACE_OBJECT:
		escape_string(e, &r->userspace_object.name);
		break;
	case FXT_KIND_LOG:
		escape_text(e, &r->log.message, FXT_MAX_STRING_LENGTH);
		break;
	case FXT_KIND_MODULE:
		escape_text(e, &r->profiler.name, FXT_MAX_NAME_LENGTH);
		break;
	case FXT_KIND_LARGE_EVENT:
	case FXT_KIND_LARGE_ATTACHMENT:
		escape_string(e, &r->large_blob.category);
		escape_string(e, &r->large_blob.name);
		break;
	default:
		break;
	}
	for (uint32_t i = 0; i < r->nargs; i++) {
		escape_string(e, &r->args[i].name);
		if (r->args[i].type == FXT_ARG_STRING)
			escape_string(e, &r->args[i].string);
	}
}

/* Writes the record of w->words with its texts escaped; shortened, if it would else be too large. */
static int write_escaped(struct rewrite *w)
{
	struct fx_output *out = w->s->shared->archive.out;
	char *room = malloc(w->size * FXT_WORD_SIZE * FX_ESCAPE_WIDTH);
	int r = room ? -ENOSPC : -ENOMEM;

	for (int brief = 0; room && r < 0 && brief < 2; brief++) {
		struct escapes e = {.at = room, .brief = brief};
		struct fx_encoder encoder;
		struct fxt_record record;

		if (fxt_record_decode(w->words, w->size, &record, NULL) <= 0) {
			r = -EINVAL;
			break;
		}
		escape_record(&e, &record);
		fx_encoder_init(&encoder, fx_output_reserve(out, FXT_MAX_RECORD_WORDS),
				FXT_MAX_RECORD_WORDS);
		r = fx_record_encode(&encoder, &record);
		fx_output_commit(out, encoder.used);
	}
	free(room);
	return r;
}

/* Writes a large blob that readers in use today cannot skip, and that would hide all that follows it. */
static int write_beyond(struct rewrite *w, const struct fx_name *name)
{
	struct fxt_record record;
	struct escapes e = {.brief = true};
	struct fxt_string whole;
	char *room = NULL;
	int r;

	if (fxt_record_decode(w->words, w->size, &record, NULL) <= 0)
		return -EINVAL;
	whole = record.large_blob.name;
	if (w->unclean) {
		e.at = room = malloc(w->size * FXT_WORD_SIZE);
		if (!room)
			return -ENOMEM;
		escape_record(&e, &record);
		record.large_blob.name = whole;
	}
	if (name && name->kind == FX_NAME_TEXT) {
		record.large_blob.name.data = name->text;
		record.large_blob.name.length = name->length;
	}
	r = fx_parts_write(&w->s->shared->archive, &record);
	free(room);
	return r;
}

/* Rewrites the record of w->words, and writes what goes into the archive. 0 or -errno. */
static int record_out(struct rewrite *w)
{
	struct fx_output *out = w->s->shared->archive.out;
	const struct fx_name *name = NULL;
	int r;

	if (w->size > FXT_MAX_RECORD_WORDS)
		name = fx_names_find(&w->s->names, locals_of(w),
				     (uint32_t)FXT_GET(w->words[1], LARGE_EVENT_NAME));
	r = rewrite_record(w);
	if (r <= 0)
		return r;
	if (w->size > FXT_MAX_RECORD_WORDS)
		return write_beyond(w, name);
	if (w->unclean)
		return write_escaped(w);
	memcpy(fx_output_reserve(out, w->size), w->words, w->size * FXT_WORD_SIZE);
	fx_output_commit(out, w->size);
	return 0;
}

static bool is_part(uint64_t header)
{
	return FXT_GET(header, RECORD_TYPE) == FXT_RECORD_LARGE &&
	       FXT_GET(header, LARGE_TYPE) == FX_PART_TYPE;
}

/* The record itself comes with its last part. */
static int take_part(struct rewrite *w, const uint64_t *words, size_t size)
{
	const struct fx_stream_thread *t = w->chunk ? w->chunk->thread : NULL;
	int r;

	if (!t)
		return -EPERM;
	r = fx_parts_take(&w->s->parts, t->tid, words, size, &w->words, &w->size);
	if (r <= 0)
		return r;
	if (fx_record_check(w->words, w->size) != (int64_t)w->size)
		return -EINVAL;
	return record_out(w);
}

static void record_slow(struct rewrite *w, const uint64_t *words, size_t size)
{
	struct fx_stream_shared *shared = w->s->shared;
	int r = -E2BIG;

	w->unclean = false;
	if (is_part(words[0])) {
		r = take_part(w, words, size);
	} else if (size <= FXT_MAX_RECORD_WORDS) {
		memcpy(shared->scratch, words, size * FXT_WORD_SIZE);
		w->words = shared->scratch;
		w->size = size;
		r = record_out(w);
	}
	if (r < 0)
		w->s->counts.lost[FX_CAUSE_INVALID]++;
}

/* --- Complete events without arguments, which most records are ------------------------------- */

/* Everything of the header that must be so for the fast way: type, size, thread, no arguments. */
#define FAST_MASK                                                                                  \
	(FXT_PUT(RECORD_TYPE, ~0) | FXT_PUT(RECORD_SIZE, ~0) | FXT_PUT(EVENT_TYPE, ~0) |           \
	 FXT_PUT(EVENT_NARGS, ~0) | FXT_PUT(EVENT_THREAD, ~0))
#define FAST_HEADER                                                                                \
	(FXT_PUT(RECORD_TYPE, FXT_RECORD_EVENT) | FXT_PUT(RECORD_SIZE, 3) |                        \
	 FXT_PUT(EVENT_TYPE, FXT_EVENT_DURATION_COMPLETE) |                                        \
	 FXT_PUT(EVENT_THREAD, FX_CHUNK_THREAD_INDEX))

static bool name_is_told(const struct fx_names *names, uint64_t ref)
{
	return ref < names->count && names->table[ref].told;
}

/* Takes the record if both its names stand in the archive. */
static bool record_fast(struct rewrite *w, const uint64_t *words, uint64_t thread_bits)
{
	struct fx_stream *s = w->s;
	uint64_t start, end, *to;

	if (!name_is_told(&s->names, FXT_GET(words[0], EVENT_CATEGORY)) ||
	    !name_is_told(&s->names, FXT_GET(words[0], EVENT_NAME)))
		return false;
	start = fx_timebase_ns(&s->shared->timebase, words[1]);
	end = fx_timebase_ns(&s->shared->timebase, words[2]);
	if (end < start || end > INT64_MAX || start <= w->chunk->thread->stop.ns)
		return false;
	if (!fx_stream_nests(s, w->chunk->thread, &start, end))
		return true;
	to = fx_output_reserve(s->shared->archive.out, 3);
	to[0] = (words[0] & ~FXT_PUT(EVENT_THREAD, ~0)) | thread_bits;
	to[1] = start;
	to[2] = end;
	fx_output_commit(s->shared->archive.out, 3);
	s->counts.events++;
	if (end < s->first_end)
		s->first_end = end;
	if (end > w->chunk->thread->last_end)
		w->chunk->thread->last_end = end;
	return true;
}

/* Bits of the archive's index of the chunk's thread, 0 while it has none. */
static uint64_t thread_bits_of(const struct rewrite *w)
{
	if (!w->chunk || !w->chunk->thread)
		return 0;
	return FXT_PUT(EVENT_THREAD, w->chunk->thread->index);
}

/* --- Rows of records ------------------------------------------------------------------------- */

/* The newest complete calls of a row. */
struct recents {
	const uint64_t *at[FX_RECENT];
	uint32_t count;
};

static void recents_note(struct recents *r, const uint64_t *words)
{
	if (FXT_GET(words[0], RECORD_TYPE) == FXT_RECORD_EVENT &&
	    FXT_GET(words[0], EVENT_TYPE) == FXT_EVENT_DURATION_COMPLETE)
		r->at[r->count++ % FX_RECENT] = words;
}

static void recents_keep(const struct rewrite *w, const struct recents *r)
{
	struct fx_stream_thread *t = w->chunk ? w->chunk->thread : NULL;
	uint32_t n = r->count < FX_RECENT ? r->count : FX_RECENT;

	if (!t)
		return;
	for (uint32_t i = r->count - n; i != r->count; i++) {
		const uint64_t *words = r->at[i % FX_RECENT];
		const struct fx_name *name =
		    fx_names_find(&w->s->names, &w->chunk->locals, FXT_GET(words[0], EVENT_NAME));

		t->recent[t->recent_next++ % FX_RECENT] = (struct fx_recent){
		    .start = words[1],
		    .header = words[0],
		    .address = name && name->kind == FX_NAME_ADDRESS ? name->address : 0,
		};
	}
}

/* The size of a record that is malformed, 0 if not even that can be known. */
static size_t bad_size(const uint64_t *words, size_t available)
{
	uint64_t size = FXT_GET(words[0], RECORD_TYPE) == FXT_RECORD_LARGE
			    ? FXT_GET(words[0], LARGE_SIZE)
			    : FXT_GET(words[0], RECORD_SIZE);

	return size <= available ? size : 0;
}

static void rewrite_row(struct rewrite *w, const uint64_t *words, size_t count)
{
	struct recents recents = {.count = 0};
	uint64_t thread_bits = thread_bits_of(w);

	while (count) {
		int64_t size;

		if (count >= 3 && (words[0] & FAST_MASK) == FAST_HEADER && thread_bits &&
		    record_fast(w, words, thread_bits)) {
			recents.at[recents.count++ % FX_RECENT] = words;
			words += 3;
			count -= 3;
			continue;
		}
		size = fx_record_check(words, count);
		if (size > 0) {
			recents_note(&recents, words);
			record_slow(w, words, (size_t)size);
			thread_bits = thread_bits_of(w);
		} else {
			w->s->counts.lost[FX_CAUSE_INVALID]++;
			size = (int64_t)bad_size(words, count);
			if (size == 0)
				break;
		}
		words += size;
		count -= (size_t)size;
	}
	recents_keep(w, &recents);
}

void fx_stream_durable_piece(struct fx_stream *s, const uint64_t *words, size_t count)
{
	struct rewrite w = {.s = s};

	rewrite_row(&w, words, count);
}

/* --- Chunks ---------------------------------------------------------------------------------- */

static struct fx_stream_chunk *chunk_find(struct fx_stream *s, const struct fx_piece *piece)
{
	struct fx_stream_chunk *c;
	uint32_t number = piece->index;

	HASH_FIND(hh, s->chunks, &number, sizeof(number), c);
	if (!c) {
		c = calloc(1, sizeof(*c));
		if (!c)
			return NULL;
		c->number = number;
		HASH_ADD(hh, s->chunks, number, sizeof(c->number), c);
	}
	return c;
}

/* Another owner: nothing of what the chunk held before counts. */
static void chunk_reset(struct fx_stream *s, struct fx_stream_chunk *c, uint64_t serial)
{
	c->serial = serial;
	fx_stream_chunk_own(s, c, NULL);
	fx_locals_clear(&s->names, &c->locals);
}

void fx_stream_chunk_piece(struct fx_stream *s, const struct fx_piece *piece, const uint64_t *words)
{
	const uint32_t in_one = FX_PIECE_FIRST | FX_PIECE_LAST;
	bool whole = (piece->flags & in_one) == in_one;
	struct fx_stream_chunk *c = whole ? &s->whole : chunk_find(s, piece);
	struct rewrite w = {.s = s, .chunk = c};

	if (!c) {
		s->counts.lost[FX_CAUSE_INVALID]++;
		return;
	}
	if (piece->flags & FX_PIECE_FIRST)
		chunk_reset(s, c, piece->serial);
	rewrite_row(&w, words, piece->bytes / FXT_WORD_SIZE);
	if (whole || !(piece->flags & FX_PIECE_LAST))
		return;
	HASH_DEL(s->chunks, c);
	fx_stream_chunk_own(s, c, NULL);
	fx_locals_destroy(&s->names, &c->locals);
	free(c);
}
