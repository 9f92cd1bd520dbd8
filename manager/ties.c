/* SPDX-License-Identifier: MIT */
#include "manager/ties.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "format/encode.h"
#include "manager/stream.h"

#define CATEGORY "process"

/* Flow ids of the manager's own: no provider has this number. */
#define FLOW_PREFIX (UINT64_C(0x1fffff) << 43)

/* Processes that are remembered; beyond it the oldest are forgotten. */
#define LIVES_MAX 16384u

#define KILLS_MAX 4u

/* A moment of a thread. */
struct point {
	uint32_t provider;
	uint32_t pid, tid;
	uint64_t ns; /* 0: none */
};

struct kill {
	struct point at;
	int32_t signal;
};

struct fx_life {
	UT_hash_handle hh;
	uint32_t pid;
	struct fx_stream *stream; /* of its newest image; NULL once that is over */
	char name[16];		  /* of the first thread, then */
	struct point birth;	  /* of the first image */
	struct point creation;	  /* by its parent; waits for the birth */
	struct point image;	  /* birth of an image that came by exec; waits for `exec` */
	struct point exec;	  /* the newest of its image `exec.provider` */
	uint32_t ended;		  /* the newest image that is over */
	struct point exit;	  /* as its parent learned of it */
	int32_t signal;		  /* that ended it, while its sender is not known; else 0 */
	struct kill kills[KILLS_MAX];
	uint32_t kill_count;
};

void fx_ties_init(struct fx_ties *ties, struct fx_archive *archive)
{
	*ties = (struct fx_ties){.archive = archive};
}

static void forget(struct fx_ties *ties, struct fx_life *life)
{
	HASH_DEL(ties->lives, life);
	free(life);
}

void fx_ties_destroy(struct fx_ties *ties)
{
	struct fx_life *life, *next;

	HASH_ITER (hh, ties->lives, life, next)
		forget(ties, life);
	fx_signals_forget(&ties->signals);
}

static struct fx_life *find(struct fx_ties *ties, uint32_t pid)
{
	struct fx_life *life;

	HASH_FIND(hh, ties->lives, &pid, sizeof(pid), life);
	return life;
}

/* NULL without memory. */
static struct fx_life *get(struct fx_ties *ties, uint32_t pid)
{
	struct fx_life *life = find(ties, pid);

	if (life)
		return life;
	if (HASH_COUNT(ties->lives) >= LIVES_MAX)
		forget(ties, ties->lives);
	life = calloc(1, sizeof(*life));
	if (!life)
		return NULL;
	life->pid = pid;
	HASH_ADD(hh, ties->lives, pid, sizeof(life->pid), life);
	return life;
}

/* --- Drawing ---------------------------------------------------------------------------------- */

static struct fxt_string text(const char *s)
{
	return fx_string_inline(s, strlen(s));
}

static void write_event(struct fx_ties *ties, enum fxt_event_type type, const struct point *at,
			const char *name, uint64_t id, const struct fxt_arg *arg)
{
	struct fxt_record record = {.kind = FXT_KIND_EVENT};

	record.event.type = type;
	record.event.timestamp = at->ns;
	record.event.thread.pid = at->pid;
	record.event.thread.tid = at->tid;
	record.event.category = text(CATEGORY);
	record.event.name = text(name);
	record.event.id = id;
	if (arg) {
		record.nargs = 1;
		record.args[0] = *arg;
	}
	fx_archive_select(ties->archive, at->provider);
	fx_archive_record(ties->archive, &record);
}

static struct fxt_arg pid_arg(const char *name, uint32_t pid)
{
	return (struct fxt_arg){.type = FXT_ARG_INT32, .name = text(name), .int32 = (int32_t)pid};
}

/* The first thread of a process may not have been heard of. */
static void introduce(struct fx_ties *ties, struct fx_life *life)
{
	struct fx_stream_thread *t =
	    life->stream ? fx_stream_thread(life->stream, life->pid) : NULL;

	fx_archive_select(ties->archive, life->stream ? life->stream->id : life->birth.provider);
	if (t)
		fx_stream_thread_index(life->stream, t);
	else if (!life->stream)
		fx_archive_thread_name(ties->archive, life->pid, life->pid, life->name);
}

/* An instant at both ends, of which the first is not later than the second. */
static void draw(struct fx_ties *ties, const struct point *from, const char *from_name,
		 const struct fxt_arg *from_arg, const struct point *to, const char *to_name,
		 const struct fxt_arg *to_arg)
{
	struct point begin = *from;
	uint64_t id = FLOW_PREFIX | ++ties->flows;

	if (begin.ns > to->ns)
		begin.ns = to->ns;
	write_event(ties, FXT_EVENT_INSTANT, &begin, from_name, 0, from_arg);
	write_event(ties, FXT_EVENT_FLOW_BEGIN, &begin, from_name, id, NULL);
	write_event(ties, FXT_EVENT_INSTANT, to, to_name, 0, to_arg);
	write_event(ties, FXT_EVENT_FLOW_END, to, to_name, id, NULL);
}

/* --- Beginnings ------------------------------------------------------------------------------- */

static void draw_creation(struct fx_ties *ties, struct fx_life *life)
{
	struct fxt_arg child = pid_arg("pid", life->pid);
	struct fxt_arg parent = pid_arg("parent", life->creation.pid);

	introduce(ties, life);
	draw(ties, &life->creation, "creates process", &child, &life->birth, "process starts",
	     &parent);
	life->creation.ns = 0;
}

/* Only once the old image is over is it known that it did nothing after this exec. */
static void try_exec(struct fx_ties *ties, struct fx_life *life)
{
	if (!life->image.ns || !life->exec.ns || life->ended != life->exec.provider)
		return;
	introduce(ties, life);
	draw(ties, &life->exec, "becomes another program", NULL, &life->image, "program starts",
	     NULL);
	life->exec.ns = life->image.ns = 0;
}

/* The pid is a new process's: of the old one, only what its maker told before counts. */
static void restart(struct fx_life *life, uint64_t born_ns)
{
	struct point creation = life->creation;
	bool keeps = creation.ns && creation.ns <= born_ns;
	size_t kept = offsetof(struct fx_life, stream);

	memset((char *)life + kept, 0, sizeof(*life) - kept);
	if (keeps)
		life->creation = creation;
}

void fx_ties_birth(struct fx_ties *ties, struct fx_stream *s, uint64_t born_ns, bool exec)
{
	struct point birth = {s->id, s->pid, s->pid, born_ns};
	struct fx_life *life = get(ties, s->pid);

	if (!life)
		return;
	if (!exec)
		restart(life, born_ns);
	life->stream = s;
	if (exec)
		life->image = birth;
	if (!life->birth.ns)
		life->birth = birth;
	if (!exec && life->creation.ns)
		draw_creation(ties, life);
	try_exec(ties, life);
}

void fx_ties_end(struct fx_ties *ties, struct fx_stream *s)
{
	struct fx_life *life = find(ties, s->pid);
	const struct fx_stream_thread *t;

	if (!life)
		return;
	life->ended = s->id;
	try_exec(ties, life);
	if (life->stream != s)
		return;
	t = fx_stream_thread(s, s->pid);
	life->stream = NULL;
	memcpy(life->name, t && t->name[0] ? t->name : s->name, sizeof(life->name) - 1);
}

/* A parent may tell before the child is heard of, or after its end. */
static void take_creation(struct fx_ties *ties, const struct point *at, uint32_t pid)
{
	struct fx_life *life = get(ties, pid);

	if (!life || at->pid == pid)
		return;
	life->creation = *at;
	if (life->birth.ns >= at->ns)
		draw_creation(ties, life);
}

static void take_exec(struct fx_ties *ties, const struct point *at)
{
	struct fx_life *life = find(ties, at->pid);

	if (life)
		life->exec = *at;
}

/* --- Ends ------------------------------------------------------------------------------------- */

/* The newest signal of this kind before its end. */
static const struct kill *find_kill(const struct fx_life *life)
{
	const struct kill *best = NULL;

	for (uint32_t i = 0; i < KILLS_MAX; i++) {
		const struct kill *k = &life->kills[i];

		if (k->at.ns && k->signal == life->signal && k->at.ns <= life->exit.ns &&
		    (!best || k->at.ns > best->at.ns))
			best = k;
	}
	return best;
}

static void try_kill(struct fx_ties *ties, struct fx_life *life)
{
	const struct kill *k = life->signal ? find_kill(life) : NULL;
	struct fxt_arg victim = pid_arg("pid", life->pid);
	struct point killed = life->exit;

	if (!k)
		return;
	killed.ns -= 1;
	draw(ties, &k->at, "kills", &victim, &killed, "killed", NULL);
	life->signal = 0;
}

static struct fxt_arg status_arg(int status, char name[16])
{
	const char *abbreviation;

	if (WIFEXITED(status))
		return (struct fxt_arg){
		    .type = FXT_ARG_INT32, .name = text("exited"), .int32 = WEXITSTATUS(status)};
	abbreviation = sigabbrev_np(WTERMSIG(status));
	snprintf(name, 16, "SIG%.10s", abbreviation ? abbreviation : "?");
	return (struct fxt_arg){
	    .type = FXT_ARG_STRING, .name = text("signal"), .string = text(name)};
}

/* When exactly it ended nobody knows: the arrow begins as late as can be. */
static void take_end(struct fx_ties *ties, const struct point *at, const struct fx_tie *tie)
{
	struct fx_life *life = find(ties, tie->pid);
	struct fxt_arg child, how;
	char signal[16];

	if (!life || !life->birth.ns || life->birth.ns + 2 > at->ns || life->exit.ns ||
	    at->pid == tie->pid)
		return;
	child = pid_arg("pid", tie->pid);
	how = status_arg(tie->value, signal);
	introduce(ties, life);
	life->exit = (struct point){life->birth.provider, life->pid, life->pid, at->ns - 1};
	draw(ties, &life->exit, "process exits", &how, at, "told of its end", &child);
	if (WIFSIGNALED(tie->value))
		life->signal = WTERMSIG(tie->value);
	try_kill(ties, life);
}

static void take_kill(struct fx_ties *ties, const struct point *at, const struct fx_tie *tie)
{
	struct fx_life *life = find(ties, tie->pid);

	if (!life)
		return;
	life->kills[life->kill_count++ % KILLS_MAX] = (struct kill){*at, tie->value};
	try_kill(ties, life);
}

/* --- Signals ---------------------------------------------------------------------------------- */

static int take_signal(struct fx_ties *ties, const struct point *at, const struct fx_tie *tie)
{
	const bool taken = tie->kind == FX_TIE_TAKES;
	const struct fx_life *life = taken ? find(ties, at->pid) : NULL;
	const struct fx_signal signal = {
	    .provider = at->provider,
	    .pid = at->pid,
	    .tid = at->tid,
	    .begin = tie->begin_ns,
	    .end = at->ns,
	    .number = tie->number,
	    .since = life ? life->birth.ns : 0,
	    .other = tie->pid,
	    .thread = taken ? 0 : (uint32_t)tie->thread,
	    .signal = tie->value,
	    .way = tie->way,
	    .taken = taken,
	    .sole = taken && tie->thread == 1,
	};

	if (tie->value <= 0 || tie->begin_ns > at->ns)
		return -EINVAL;
	fx_signals_add(&ties->signals, &signal);
	return 0;
}

static void draw_signal(void *opaque, const struct fx_signal *sent, const struct fx_signal *taken)
{
	const struct point from = {sent->provider, sent->pid, sent->tid, sent->begin};
	const struct point to = {taken->provider, taken->pid, taken->tid, taken->end};
	const struct fxt_arg receiver = pid_arg("pid", taken->pid),
			     sender = pid_arg("pid", sent->pid);

	draw(opaque, &from, "sends signal", &receiver, &to, "takes signal", &sender);
}

void fx_ties_finish(struct fx_ties *ties)
{
	fx_signals_settle(&ties->signals, draw_signal, ties);
}

int fx_ties_take(struct fx_ties *ties, struct fx_stream *s, const struct fx_tie *tie)
{
	struct point at = {s->id, s->pid, tie->tid, tie->ns};

	const bool signal = tie->kind == FX_TIE_SENDS || tie->kind == FX_TIE_TAKES;

	if ((tie->pid == 0 && !signal) || tie->pid > INT32_MAX || tie->ns > INT64_MAX)
		return -EINVAL;
	switch (tie->kind) {
	case FX_TIE_CREATES:
		take_creation(ties, &at, tie->pid);
		return 0;
	case FX_TIE_EXECS:
		take_exec(ties, &at);
		return 0;
	case FX_TIE_REAPS:
		if (!WIFEXITED(tie->value) && !WIFSIGNALED(tie->value))
			return -EINVAL;
		take_end(ties, &at, tie);
		return 0;
	case FX_TIE_KILLS:
		take_kill(ties, &at, tie);
		return 0;
	case FX_TIE_SENDS:
	case FX_TIE_TAKES:
		return take_signal(ties, &at, tie);
	}
	return -EINVAL;
}
