/* SPDX-License-Identifier: MIT */
#include "manager/archive/ties.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <utlist.h>

#include "format/encode.h"
#include "manager/archive/stream.h"
#include "manager/process/signal-name.h"

#define CATEGORY "process"

/* Flow ids of the manager's own: no provider has this number. */
#define FLOW_PREFIX (UINT64_C(0x3fffff) << 41)

/* Processes that are remembered; beyond it the oldest are forgotten. */
#define LIVES_MAX 16384u

#define KILLS_MAX 4u

/* What waits for processes that are not heard of; beyond it the oldest is given up. */
#define WAITING_MAX 4096u

/* Names in namespaces; beyond them all are forgotten. */
#define ALIASES_MAX 65536u

/* A moment of a thread. */
struct point {
	uint32_t provider;
	uint32_t pid, tid;
	uint64_t ns; /* 0: none */
};

/* What a process is called in a namespace. */
struct alias_key {
	uint64_t space;
	uint64_t pid;
};

struct fx_alias {
	UT_hash_handle hh;
	struct alias_key key;
	uint32_t pid;	  /* the kernel's for the manager */
	uint64_t own;	  /* the process's own namespace */
	uint64_t born_ns; /* when it was first heard of */
};

struct fx_waiting_tie {
	struct fx_waiting_tie *prev, *next;
	uint64_t space; /* whose numbers are told */
	struct point at;
	uint32_t kernel_pid; /* of who tells */
	struct fx_tie tie;
};

struct kill {
	struct point at;
	int32_t signal;
};

struct fx_life {
	UT_hash_handle hh;
	uint32_t pid;		  /* the kernel's */
	struct fx_stream *stream; /* of its newest image; NULL once that is over */
	uint32_t shown;		  /* as the archive has it */
	char name[16];		  /* of the first thread, then */
	struct point birth;	  /* of the first image */
	struct point creation;	  /* by its parent; waits for the birth */
	struct point image;	  /* birth of an image that came by exec; waits for `exec` */
	struct point exec;	  /* the newest of its image `exec.provider` */
	uint32_t ended;		  /* the newest image that is over */
	struct point exit;	  /* when the manager heard of it, or as far as its parent knows */
	struct point told;	  /* its parent of its end, before the manager; waits for that */
	struct fx_ending ending;  /* how */
	struct point early;	  /* the parent of its end, before anybody heard of the process */
	int32_t early_status;
	bool shown_exit;	      /* its end stands in the archive */
	uint64_t dropped, dropped_at; /* of its images that are over: see struct fx_stream */
	int32_t signal;		      /* that ended it, while its sender is not known; else 0 */
	struct kill kills[KILLS_MAX];
	uint32_t kill_count;
};

void fx_ties_init(struct fx_ties *ties, struct fx_archive *archive)
{
	*ties = (struct fx_ties){.archive = archive};
}

static void exit_show(struct fx_ties *ties, struct fx_life *life);

static void forget(struct fx_ties *ties, struct fx_life *life)
{
	exit_show(ties, life);
	HASH_DEL(ties->lives, life);
	free(life);
}

static void aliases_forget(struct fx_ties *ties)
{
	struct fx_alias *alias, *next;

	HASH_ITER (hh, ties->aliases, alias, next) {
		HASH_DEL(ties->aliases, alias);
		free(alias);
	}
}

static void waiting_drop(struct fx_ties *ties, struct fx_waiting_tie *waiting)
{
	DL_DELETE(ties->waiting, waiting);
	ties->waiting_count--;
	free(waiting);
}

void fx_ties_destroy(struct fx_ties *ties)
{
	struct fx_life *life, *next;

	HASH_ITER (hh, ties->lives, life, next)
		forget(ties, life);
	aliases_forget(ties);
	while (ties->waiting)
		waiting_drop(ties, ties->waiting);
	fx_signals_forget(&ties->signals);
}

static struct fx_life *ties_find(struct fx_ties *ties, uint32_t pid)
{
	struct fx_life *life;

	HASH_FIND(hh, ties->lives, &pid, sizeof(pid), life);
	return life;
}

/* NULL without memory. */
static struct fx_life *ties_get(struct fx_ties *ties, uint32_t pid)
{
	struct fx_life *life = ties_find(ties, pid);

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

static struct fxt_string ties_text(const char *s)
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
	record.event.category = ties_text(CATEGORY);
	record.event.name = ties_text(name);
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
	return (struct fxt_arg){
	    .type = FXT_ARG_INT32, .name = ties_text(name), .int32 = (int32_t)pid};
}

/* The first thread of a process may not have been heard of. */
static void introduce(struct fx_ties *ties, struct fx_life *life)
{
	struct fx_stream_thread *t =
	    life->stream ? fx_stream_thread(life->stream, life->stream->first_tid) : NULL;

	fx_archive_select(ties->archive, life->stream ? life->stream->id : life->birth.provider);
	if (t)
		fx_stream_thread_index(life->stream, t);
	else if (!life->stream)
		fx_archive_thread_name(ties->archive, life->shown, life->shown, life->name);
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
	struct fxt_arg child = pid_arg("pid", life->shown);
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

static void aliases_add(struct fx_ties *ties, const struct fx_stream *s, uint64_t born_ns);

/* The pid is a new process's: of the old one, only what its maker told before counts. */
static void restart(struct fx_life *life, uint64_t born_ns)
{
	struct point creation = life->creation, early = life->early;
	int32_t status = life->early_status;
	bool keeps = creation.ns && creation.ns <= born_ns;
	size_t kept = offsetof(struct fx_life, stream);

	memset((char *)life + kept, 0, sizeof(*life) - kept);
	if (keeps)
		life->creation = creation;
	if (early.ns > born_ns + 2) {
		life->told = early;
		life->ending.is_known = true;
		life->ending.wait_status = status;
	}
}

void fx_ties_birth(struct fx_ties *ties, struct fx_stream *s, uint64_t born_ns, bool exec)
{
	struct point birth = {s->id, s->pid, s->pid, born_ns};
	struct fx_life *life = ties_get(ties, s->kernel_pid);

	if (!life)
		return;
	if (!exec) {
		exit_show(ties, life);
		restart(life, born_ns);
	}
	s->dropped_before = life->dropped;
	s->dropped_at = life->dropped_at;
	life->stream = s;
	life->shown = s->pid;
	if (exec)
		life->image = birth;
	if (!life->birth.ns)
		life->birth = birth;
	if (!exec && life->creation.ns)
		draw_creation(ties, life);
	try_exec(ties, life);
	aliases_add(ties, s, born_ns);
}

static void exit_note(struct fx_life *life, const struct fx_stream *s,
		      const struct fx_stream_end *end);

void fx_ties_end(struct fx_ties *ties, struct fx_stream *s, const struct fx_stream_end *end)
{
	struct fx_life *life = ties_find(ties, s->kernel_pid);
	const struct fx_stream_thread *t;

	if (!life)
		return;
	life->ended = s->id;
	try_exec(ties, life);
	if (life->stream != s)
		return;
	t = fx_stream_thread(s, s->first_tid);
	life->stream = NULL;
	memcpy(life->name, t && t->name[0] ? t->name : s->name, sizeof(life->name) - 1);
	life->dropped = s->dropped_before + s->counts.dropped;
	life->dropped_at = s->dropped_at;
	exit_note(life, s, end);
	/* Who has been told of it makes it sure; else it waits for that, as long as it can. */
	if (life->told.ns)
		exit_show(ties, life);
}

/* A parent may tell before the child is heard of, or after its end. */
static void take_creation(struct fx_ties *ties, const struct point *at, uint32_t pid)
{
	struct fx_life *life = ties_get(ties, pid);

	if (!life)
		return;
	life->creation = *at;
	if (life->birth.ns >= at->ns)
		draw_creation(ties, life);
}

static void take_exec(struct fx_ties *ties, const struct point *at, uint32_t teller)
{
	struct fx_life *life = ties_find(ties, teller);

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
	struct fxt_arg victim = pid_arg("pid", life->shown);
	struct point killed = life->exit;

	if (!k)
		return;
	killed.ns -= 1;
	draw(ties, &k->at, "kills", &victim, &killed, "killed", NULL);
	life->signal = 0;
}

static struct fxt_arg status_arg(int status, char name[16])
{
	if (WIFEXITED(status))
		return (struct fxt_arg){.type = FXT_ARG_INT32,
					.name = ties_text("exited"),
					.int32 = WEXITSTATUS(status)};
	snprintf(name, 16, "%s", fx_signal_name(WTERMSIG(status)));
	return (struct fxt_arg){
	    .type = FXT_ARG_STRING, .name = ties_text("signal"), .string = ties_text(name)};
}

static struct fxt_arg pointer_arg(const char *name, uint64_t value)
{
	return (struct fxt_arg){.type = FXT_ARG_POINTER, .name = ties_text(name), .uint64 = value};
}

/* How it ended: at most FAULT_ARGS arguments. */
#define FAULT_ARGS 4u

static unsigned ending_args(const struct fx_ending *ending, char name[16], struct fxt_arg *ret)
{
	unsigned count = 1;

	if (!ending->is_known)
		return 0;
	ret[0] = status_arg(ending->wait_status, name);
	if (!ending->has_fault)
		return 1;
	ret[count++] = pid_arg("thread", ending->tid);
	if (ending->has_address)
		ret[count++] = pointer_arg("address", ending->address);
	if (ending->has_code)
		ret[count++] = pointer_arg("code", ending->code);
	return count;
}

/* The manager has heard of its end. */
static void exit_note(struct fx_life *life, const struct fx_stream *s,
		      const struct fx_stream_end *end)
{
	struct point exit = {s->id, s->pid, s->pid,
			     fx_timebase_ns(&s->shared->timebase, end->ticks)};

	if (!end->ending.is_death || exit.ns > INT64_MAX)
		return;
	life->exit = exit;
	if (life->ending.is_known) {
		int status = life->ending.wait_status; /* which its parent was told */

		life->ending = end->ending;
		life->ending.is_known = true;
		life->ending.wait_status = status;
	} else {
		life->ending = end->ending;
	}
}

/*
 * Writes the end of a process, once, and the arrow to whoever was told of it. It is where the manager heard of it,
 * but before its parent did.
 */
static void exit_show(struct fx_ties *ties, struct fx_life *life)
{
	struct fxt_arg child = pid_arg("pid", life->shown);
	struct fxt_record record = {.kind = FXT_KIND_EVENT};
	struct point *exit = &life->exit, *told = &life->told;
	uint64_t id;
	char signal[16];

	if (life->shown_exit || !life->birth.ns || (!exit->ns && !told->ns))
		return;
	life->shown_exit = true;
	if (told->ns && (!exit->ns || exit->ns >= told->ns))
		*exit =
		    (struct point){life->birth.provider, life->shown, life->shown, told->ns - 1};
	introduce(ties, life);
	record.event.type = FXT_EVENT_INSTANT;
	record.event.timestamp = exit->ns;
	record.event.thread.pid = exit->pid;
	record.event.thread.tid = exit->tid;
	record.event.category = ties_text(CATEGORY);
	record.event.name = ties_text("process exits");
	record.nargs = ending_args(&life->ending, signal, record.args);
	fx_archive_select(ties->archive, exit->provider);
	fx_archive_record(ties->archive, &record);
	if (told->ns) {
		id = FLOW_PREFIX | ++ties->flows;
		write_event(ties, FXT_EVENT_FLOW_BEGIN, exit, "process exits", id, NULL);
		write_event(ties, FXT_EVENT_INSTANT, told, "told of its end", 0, &child);
		write_event(ties, FXT_EVENT_FLOW_END, told, "told of its end", id, NULL);
	}
	if (life->ending.is_known && WIFSIGNALED(life->ending.wait_status))
		life->signal = WTERMSIG(life->ending.wait_status);
	try_kill(ties, life);
}

static void take_end(struct fx_ties *ties, const struct point *at, const struct fx_tie *tie)
{
	struct fx_life *life = ties_find(ties, tie->pid);

	if (!life)
		return;
	/* A child that has brought its memory may be heard of after its end. */
	if (!life->birth.ns || life->birth.ns < life->creation.ns) {
		life->early = *at;
		life->early_status = tie->value;
		return;
	}
	if (life->birth.ns + 2 > at->ns || life->shown_exit || life->told.ns)
		return;
	life->told = *at;
	life->ending.is_known = true;
	life->ending.wait_status = tie->value;
	/* Until the manager has heard of it as well, it may have been earlier. */
	if (!life->stream)
		exit_show(ties, life);
}

static void take_kill(struct fx_ties *ties, const struct point *at, const struct fx_tie *tie)
{
	struct fx_life *life = ties_find(ties, tie->pid);

	if (!life)
		return;
	life->kills[life->kill_count++ % KILLS_MAX] = (struct kill){*at, tie->value};
	try_kill(ties, life);
}

/* --- Signals ---------------------------------------------------------------------------------- */

static void ties_take_signal(struct fx_ties *ties, const struct point *at, uint32_t teller,
			     const struct fx_tie *tie)
{
	const bool taken = tie->kind == FX_TIE_TAKES;
	const struct fx_life *life = taken ? ties_find(ties, teller) : NULL;
	const struct fx_signal signal = {
	    .provider = at->provider,
	    .pid = teller,
	    .tid = tie->tid,
	    .shown_pid = at->pid,
	    .shown_tid = at->tid,
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

	fx_signals_add(&ties->signals, &signal);
}

static void draw_signal(void *opaque, const struct fx_signal *sent, const struct fx_signal *taken)
{
	const struct point from = {sent->provider, sent->shown_pid, sent->shown_tid, sent->begin};
	const struct point to = {taken->provider, taken->shown_pid, taken->shown_tid, taken->end};
	const struct fxt_arg receiver = pid_arg("pid", taken->shown_pid),
			     sender = pid_arg("pid", sent->shown_pid);

	draw(opaque, &from, "sends signal", &receiver, &to, "takes signal", &sender);
}

/* --- Namespaces ------------------------------------------------------------------------------- */

static bool ties_is_of_signal(const struct fx_tie *tie)
{
	return tie->kind == FX_TIE_SENDS || tie->kind == FX_TIE_TAKES;
}

/* Whom a thread tells of is known now: `tie->pid` is the kernel's number. */
static void ties_take(struct fx_ties *ties, const struct point *at, uint32_t teller,
		      const struct fx_tie *tie)
{
	/* A process is not its own child, whatever it tells. */
	if (tie->pid == teller && (tie->kind == FX_TIE_CREATES || tie->kind == FX_TIE_REAPS))
		return;
	switch (tie->kind) {
	case FX_TIE_CREATES:
		take_creation(ties, at, tie->pid);
		break;
	case FX_TIE_EXECS:
		take_exec(ties, at, teller);
		break;
	case FX_TIE_REAPS:
		take_end(ties, at, tie);
		break;
	case FX_TIE_KILLS:
		take_kill(ties, at, tie);
		break;
	case FX_TIE_SENDS:
	case FX_TIE_TAKES:
		ties_take_signal(ties, at, teller, tie);
		break;
	}
}

/* Makes of the told pid, and of the told thread of that process, the ones that are meant. False: it is not known yet whose
 * they are. */
static bool translate(const struct fx_ties *ties, uint64_t space, struct fx_tie *tie)
{
	const struct alias_key key = {space, tie->pid};
	const struct fx_alias *alias;

	if (!space || !tie->pid || tie->kind == FX_TIE_EXECS)
		return true;
	HASH_FIND(hh, ties->aliases, &key, sizeof(key), alias);
	/* A process that was there before is not the one that is made. */
	if (!alias || (tie->kind == FX_TIE_CREATES && alias->born_ns < tie->ns))
		return false;
	tie->pid = alias->pid;
	if (tie->kind == FX_TIE_SENDS && tie->thread > 0 && alias->own != space)
		tie->thread = -1;
	return true;
}

static void wait_for_birth(struct fx_ties *ties, uint64_t space, const struct point *at,
			   uint32_t teller, const struct fx_tie *tie)
{
	struct fx_waiting_tie *waiting;

	if (ties->waiting_count >= WAITING_MAX)
		waiting_drop(ties, ties->waiting);
	waiting = calloc(1, sizeof(*waiting));
	if (!waiting)
		return;
	*waiting =
	    (struct fx_waiting_tie){.space = space, .at = *at, .kernel_pid = teller, .tie = *tie};
	DL_APPEND(ties->waiting, waiting);
	ties->waiting_count++;
}

static void take_waiting(struct fx_ties *ties)
{
	struct fx_waiting_tie *waiting = ties->waiting, *next;

	for (; waiting; waiting = next) {
		next = waiting->next;
		if (!translate(ties, waiting->space, &waiting->tie))
			continue;
		ties_take(ties, &waiting->at, waiting->kernel_pid, &waiting->tie);
		waiting_drop(ties, waiting);
	}
}

static void alias_add(struct fx_ties *ties, const struct fx_origin *origin,
		      const struct fx_origin_name *name, uint64_t born_ns)
{
	const struct alias_key key = {name->space, name->pid};
	struct fx_alias *alias;

	HASH_FIND(hh, ties->aliases, &key, sizeof(key), alias);
	if (!alias) {
		if (HASH_COUNT(ties->aliases) >= ALIASES_MAX)
			aliases_forget(ties);
		alias = calloc(1, sizeof(*alias));
		if (!alias)
			return;
		alias->key = key;
		HASH_ADD(hh, ties->aliases, key, sizeof(alias->key), alias);
	}
	/* A process that has become another program was heard of before. */
	if (alias->pid != origin->pid)
		alias->born_ns = born_ns;
	alias->pid = origin->pid;
	alias->own = fx_origin_space(origin);
}

static void aliases_add(struct fx_ties *ties, const struct fx_stream *s, uint64_t born_ns)
{
	if (!s->origin || !s->origin->levels)
		return;
	for (unsigned i = 0; i < s->origin->levels; i++)
		alias_add(ties, s->origin, &s->origin->names[i], born_ns);
	take_waiting(ties);
}

/* Of signals nothing told may be missing, even where it is of a process that was never heard of. */
void fx_ties_finish(struct fx_ties *ties)
{
	struct fx_life *life, *next;

	HASH_ITER (hh, ties->lives, life, next)
		exit_show(ties, life);
	while (ties->waiting) {
		struct fx_waiting_tie *waiting = ties->waiting;

		waiting->tie.pid = FX_SIGNAL_UNKNOWN_PID;
		if (ties_is_of_signal(&waiting->tie))
			ties_take(ties, &waiting->at, waiting->kernel_pid, &waiting->tie);
		waiting_drop(ties, waiting);
	}
	fx_signals_settle(&ties->signals, draw_signal, ties);
}

static bool ties_is_sound(const struct fx_tie *tie)
{
	if ((tie->pid == 0 && !ties_is_of_signal(tie)) || tie->pid > INT32_MAX ||
	    tie->ns > INT64_MAX)
		return false;
	switch (tie->kind) {
	case FX_TIE_CREATES:
	case FX_TIE_EXECS:
	case FX_TIE_KILLS:
		return true;
	case FX_TIE_REAPS:
		return WIFEXITED(tie->value) || WIFSIGNALED(tie->value);
	case FX_TIE_SENDS:
	case FX_TIE_TAKES:
		return tie->value > 0 && tie->begin_ns <= tie->ns;
	}
	return false;
}

int fx_ties_take(struct fx_ties *ties, struct fx_stream *s, const struct fx_tie *tie)
{
	const struct point at = {s->id, s->pid, tie->shown, tie->ns};
	const uint64_t space = s->origin ? fx_origin_space(s->origin) : 0;
	struct fx_tie meant = *tie;

	if (!ties_is_sound(tie))
		return -EINVAL;
	if (translate(ties, space, &meant))
		ties_take(ties, &at, s->kernel_pid, &meant);
	else
		wait_for_birth(ties, space, &at, s->kernel_pid, &meant);
	return 0;
}
