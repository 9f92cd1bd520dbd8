/* SPDX-License-Identifier: MIT */
#include "manager/archive/told.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"
#include "manager/archive/file-locks.h"
#include "manager/archive/shares.h"
#include "manager/archive/ties.h"
#include "manager/process/title.h"

static bool told_is_of_signal(int32_t kind)
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
	       tells_of_signal(r) == told_is_of_signal(r->args[1].int32) &&
	       (r->nargs == 3 || tells_of_signal(r) || tells_of_exec(r));
}

/* What a thread has done to another process. */
static int take_tie(struct fx_rewriting *w, const struct fx_stream_thread *t,
		    const struct fxt_record *r)
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
	result = fx_ties_take(w->s->shared->ties, w->s, &tie);
	fx_archive_select(&w->s->shared->archive, w->s->id);
	return result;
}

static bool tells_of_share(const struct fxt_record *r)
{
	return r->nargs == 6 && r->kernel_object.koid == 0 && r->args[0].type == FXT_ARG_UINT64 &&
	       r->args[1].type == FXT_ARG_INT32 && r->args[2].type == FXT_ARG_INT32 &&
	       r->args[3].type == FXT_ARG_UINT64 && r->args[4].type == FXT_ARG_UINT64 &&
	       r->args[5].type == FXT_ARG_UINT64 && r->args[1].int32 >= FX_SHARE_RELEASES &&
	       r->args[1].int32 < FX_SHARE_KINDS_END;
}

static uint64_t told_ns(const struct fx_rewriting *w, uint64_t ticks)
{
	return ticks ? fx_timebase_ns(&w->s->shared->timebase, ticks) : 0;
}

/* Of barriers and conditions something is counted instead. */
static bool looks_at_a_time(enum fx_share_kind kind)
{
	return kind != FX_SHARE_MEETS && kind != FX_SHARE_MEETS_LAST &&
	       (kind < FX_SHARE_SIGNALS || kind > FX_SHARE_WAKES);
}

/* What it has done to a lock that it shares with others. */
static int take_share(struct fx_rewriting *w, const struct fx_stream_thread *t,
		      const struct fxt_record *r)
{
	struct fx_share_told told;
	bool is_time;

	if (!t)
		return -EINVAL;
	if (!w->s->shared->shares)
		return 0;
	told = (struct fx_share_told){
	    .kind = (enum fx_share_kind)r->args[1].int32,
	    .value = r->args[2].int32,
	    .key = r->args[5].uint64,
	    .begin = told_ns(w, r->args[3].uint64),
	    .end = told_ns(w, r->args[0].uint64),
	    .provider = w->s->id,
	    .pid = w->s->pid,
	    .shown = t->shown,
	    .tid = t->tid,
	};
	is_time = looks_at_a_time(told.kind);
	told.looked = is_time ? told_ns(w, r->args[4].uint64) : r->args[4].uint64;
	if (told.value < 0 || told.begin > told.end || (is_time && told.looked > told.end))
		return -EINVAL;
	if (told.kind == FX_SHARE_TAKES && told.looked && told.value)
		told.after = told_ns(w, r->args[0].uint64 + (uint64_t)told.value);
	fx_shares_take(w->s->shared->shares, &told);
	return 0;
}

static bool tells_of_file_lock(const struct fxt_record *r)
{
	return r->nargs == 7 && r->kernel_object.koid == 0 && r->args[0].type == FXT_ARG_UINT64 &&
	       r->args[1].type == FXT_ARG_INT32 && r->args[2].type == FXT_ARG_INT32 &&
	       r->args[3].type == FXT_ARG_UINT64 && r->args[4].type == FXT_ARG_UINT64 &&
	       r->args[5].type == FXT_ARG_UINT64 && r->args[6].type == FXT_ARG_UINT64 &&
	       r->args[1].int32 >= FX_FILE_LOCK_WANTS && r->args[1].int32 <= FX_FILE_LOCK_MAY_GO;
}

/* What it has done to a lock of a file. */
static int take_file_lock(struct fx_rewriting *w, const struct fx_stream_thread *t,
			  const struct fxt_record *r)
{
	struct fx_file_told told;

	if (!t)
		return -EINVAL;
	if (!w->s->shared->file_locks)
		return 0;
	told = (struct fx_file_told){
	    .kind = (enum fx_file_lock_kind)r->args[1].int32,
	    .owner = r->args[2].int32 & ~FX_FILE_LOCK_OF_ALONE,
	    .is_alone = r->args[2].int32 & FX_FILE_LOCK_OF_ALONE,
	    .key = r->args[4].uint64,
	    .begin = told_ns(w, r->args[3].uint64),
	    .end = told_ns(w, r->args[0].uint64),
	    .first = r->args[5].uint64,
	    .last = r->args[6].uint64,
	    .provider = w->s->id,
	    .pid = w->s->pid,
	    .shown = t->shown,
	};
	if (told.owner < 0 || told.begin > told.end || told.first > told.last)
		return -EINVAL;
	fx_file_locks_take(w->s->shared->file_locks, &told);
	return 0;
}

/* What the process says of itself. */
static int told_title(const struct fx_rewriting *w, const struct fxt_record *r)
{
	if (r->kernel_object.koid || !r->kernel_object.name.data ||
	    r->kernel_object.name.length > FX_TITLE_BYTES)
		return -EINVAL;
	if (w->s->origin)
		fx_title_told(w->s->origin, r->kernel_object.name.data,
			      r->kernel_object.name.length);
	return 0;
}

/* A thread's own name, written when it ends, a title, or a tie. Names of anything else are the manager's to give. */
int fx_told_kernel_object(struct fx_rewriting *w)
{
	struct fxt_record record;
	struct fx_stream_thread *t = fx_rewriting_thread(w);

	if (fxt_record_decode(w->words, w->size, &record, NULL) <= 0)
		return -EINVAL;
	if (record.kernel_object.type == FXT_OBJECT_PROCESS && !record.nargs)
		return told_title(w, &record);
	if (record.kernel_object.type == FXT_OBJECT_PROCESS && tells_of_share(&record))
		return take_share(w, t, &record);
	if (record.kernel_object.type == FXT_OBJECT_PROCESS && tells_of_file_lock(&record))
		return take_file_lock(w, t, &record);
	if (record.kernel_object.type == FXT_OBJECT_PROCESS)
		return take_tie(w, t, &record);
	if (record.kernel_object.type != FXT_OBJECT_THREAD || !t ||
	    record.kernel_object.koid != t->tid || !record.kernel_object.name.data)
		return -EPERM;
	fx_stream_thread_rename(w->s, t, record.kernel_object.name.data,
				record.kernel_object.name.length);
	return 0;
}

int fx_told_thread(struct fx_rewriting *w)
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
	if (!t->begun_writing)
		t->kept_whole = w->words[0] & FX_THREAD_BEGINS;
	fx_stream_chunk_own(w->s, w->chunk, t);
	return 0;
}

int fx_told_module(struct fx_rewriting *w)
{
	struct fxt_record record;

	if (w->chunk || fxt_record_decode(w->words, w->size, &record, NULL) <= 0)
		return 0;
	return fx_modules_add(&w->s->modules, &record);
}

void fx_told_untraced(const struct fx_rewriting *w)
{
	struct fxt_record record;
	const struct fxt_arg *args = record.args;

	if (!fx_rewriting_is_name(w, FXT_GET(w->words[0], EVENT_NAME), "not traced") ||
	    !fx_rewriting_is_name(w, FXT_GET(w->words[0], EVENT_CATEGORY), "process") ||
	    fxt_record_decode(w->words, w->size, &record, NULL) <= 0)
		return;
	if (args[0].type == FXT_ARG_STRING && args[1].type == FXT_ARG_STRING &&
	    args[0].string.data && args[1].string.data)
		fx_untraced_add(&w->s->shared->untraced, args[0].string.data, args[0].string.length,
				args[1].string.data, args[1].string.length);
}
