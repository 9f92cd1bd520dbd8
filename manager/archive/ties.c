/* SPDX-License-Identifier: MIT */
#include "manager/archive/ties.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <utlist.h>

#include "base/clock.h"
#include "manager/archive/lives.h"
#include "manager/archive/own.h"
#include "manager/archive/stream.h"
#include "manager/process/kin.h"

/* Processes that are remembered; beyond it the oldest are forgotten. */
#define LIVES_MAX 16384u

/* A process that has lived for so long without being heard of has not ended too early. */
#define TIME_ENOUGH_NS UINT64_C(1000000000)

/* What waits for processes that are not heard of; beyond it the oldest is given up. */
#define WAITING_MAX 4096u

/* Names in namespaces; beyond them all are forgotten. */
#define ALIASES_MAX 65536u

/* What a process is called in a namespace. */
struct alias_key {
	uint64_t space;
	uint64_t pid;
};

struct fx_alias {
	UT_hash_handle hh;
	bool lost; /* not in the hash for lack of memory */
	struct alias_key key;
	uint32_t pid;	  /* the kernel's for the manager */
	uint64_t own;	  /* the process's own namespace */
	uint64_t born_ns; /* when it was first heard of */
};

struct fx_waiting_tie {
	struct fx_waiting_tie *prev, *next;
	uint64_t space; /* whose numbers are told */
	struct fx_point at;
	uint32_t kernel_pid; /* of the process that tells */
	struct fx_tie tie;
};

void fx_ties_init(struct fx_ties *ties, struct fx_archive *archive)
{
	*ties = (struct fx_ties){.arrows.archive = archive};
}

/* What was to be heard of since then will not be: the process has ended (0: or lives) at `end`, as far as is known. */
static void count_unheard(struct fx_ties *ties, const struct fx_life *life, uint64_t since,
			  uint64_t end)
{
	bool is_over = end || fx_kin_is_over((pid_t)life->pid);
	uint64_t until = end ? end : is_over ? 0 : fx_boottime_ns();

	if (until >= since + TIME_ENOUGH_NS)
		ties->late++;
	else if (is_over)
		ties->early++;
}

/* Nobody will hear of the process that was created under this number, if one is awaited; */
static void count_missing(struct fx_ties *ties, struct fx_life *life)
{
	if (life->awaited)
		count_unheard(ties, life, life->creation.at.ns, life->early.at.ns);
	life->awaited = false;
}

/* nor of what it was to become. */
static void count_unbecome(struct fx_ties *ties, struct fx_life *life)
{
	if (life->becomes.ns)
		count_unheard(ties, life, life->becomes.ns,
			      life->told.ns ? life->told.ns : life->exit.ns);
	life->becomes.ns = 0;
}

static void forget(struct fx_ties *ties, struct fx_life *life)
{
	count_missing(ties, life);
	count_unbecome(ties, life);
	fx_life_exit(&ties->arrows, life);
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

/* The process that it tells of will not be heard of. */
static void waiting_give_up(struct fx_ties *ties, struct fx_waiting_tie *waiting)
{
	if (waiting->tie.kind == FX_TIE_CREATES && waiting->tie.value & FX_TIE_VALUE_REGISTERS) {
		if (ties->refused)
			ties->refused--;
		else
			ties->early++;
	}
	waiting_drop(ties, waiting);
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
	if (life) {
		life->pid = pid;
		HASH_ADD(hh, ties->lives, pid, sizeof(life->pid), life);
	}
	if (!life || life->lost) {
		free(life);
		ties->unheld++;
		return NULL;
	}
	return life;
}

/* --- Images ----------------------------------------------------------------------------------- */

static void aliases_add(struct fx_ties *ties, const struct fx_stream *s, uint64_t born_ns);

void fx_ties_birth(struct fx_ties *ties, struct fx_stream *s, uint64_t born_ns, bool exec)
{
	struct fx_life *life = ties_get(ties, s->kernel_pid);

	if (!life)
		return;
	if (!exec)
		count_unbecome(ties, life);
	fx_life_birth(&ties->arrows, ties->lives, life, s, born_ns, exec);
	aliases_add(ties, s, born_ns);
}

void fx_ties_end(struct fx_ties *ties, struct fx_stream *s, const struct fx_stream_end *end)
{
	struct fx_life *life = ties_find(ties, s->kernel_pid);

	if (life)
		fx_life_end(&ties->arrows, life, s, end);
}

/* --- Signals ---------------------------------------------------------------------------------- */

static void ties_take_signal(struct fx_ties *ties, const struct fx_point *at, uint32_t teller,
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
	const struct fx_point from = {sent->provider, sent->shown_pid, sent->shown_tid,
				      sent->begin};
	const struct fx_point to = {taken->provider, taken->shown_pid, taken->shown_tid,
				    taken->end};
	const struct fxt_arg receiver = fx_own_pid("pid", taken->shown_pid),
			     sender = fx_own_pid("pid", sent->shown_pid);

	fx_arrow_draw(opaque, &from, "sends signal", &receiver, &to, "takes signal", &sender);
}

/* --- Namespaces ------------------------------------------------------------------------------- */

static bool ties_is_of_signal(const struct fx_tie *tie)
{
	return tie->kind == FX_TIE_SENDS || tie->kind == FX_TIE_TAKES;
}

/* The process that a thread tells of is known now: `tie->pid` is the kernel's number. */
static void ties_take(struct fx_ties *ties, const struct fx_point *at, uint32_t teller,
		      const struct fx_tie *tie)
{
	const struct fx_word word = {*at, teller, tie->value};
	struct fx_life *life;

	/* A process is not its own child, whatever it tells. */
	if (tie->pid == teller && (tie->kind == FX_TIE_CREATES || tie->kind == FX_TIE_REAPS))
		return;
	switch (tie->kind) {
	case FX_TIE_CREATES:
		life = ties_get(ties, tie->pid);
		if (!life)
			break;
		count_missing(ties, life);
		if (life->becomes.ns < at->ns)
			count_unbecome(ties, life);
		fx_life_created(&ties->arrows, ties->lives, life, &word);
		break;
	case FX_TIE_EXECS:
		life = ties_find(ties, teller);
		if (life)
			fx_life_execs(life, at, tie->value);
		break;
	case FX_TIE_STAYS:
		life = ties_find(ties, teller);
		if (life && life->becomes.provider == at->provider)
			life->becomes.ns = 0;
		break;
	case FX_TIE_REAPS:
		life = ties_find(ties, tie->pid);
		if (life)
			fx_life_reaped(&ties->arrows, ties->lives, life, &word);
		break;
	case FX_TIE_KILLS:
		life = ties_find(ties, tie->pid);
		if (life)
			fx_life_killed(&ties->arrows, life, at, tie->value);
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

	if (!space || !tie->pid || tie->kind == FX_TIE_EXECS || tie->kind == FX_TIE_STAYS)
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

static void wait_for_birth(struct fx_ties *ties, uint64_t space, const struct fx_point *at,
			   uint32_t teller, const struct fx_tie *tie)
{
	struct fx_waiting_tie *waiting;

	if (ties->waiting_count >= WAITING_MAX)
		waiting_give_up(ties, ties->waiting);
	waiting = calloc(1, sizeof(*waiting));
	if (!waiting) {
		ties->unheld++;
		return;
	}
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
		if (alias->lost) {
			free(alias);
			return;
		}
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

void fx_ties_excuse(struct fx_ties *ties, uint32_t pid)
{
	struct fx_life *life = ties_find(ties, pid);

	if (life && life->awaited)
		life->awaited = false;
	else if (life && life->becomes.ns)
		life->becomes.ns = 0;
	else
		ties->refused++;
}

/* Of signals nothing told may be missing, even where it is of a process that was never heard of. */
void fx_ties_finish(struct fx_ties *ties)
{
	struct fx_life *life, *next;

	HASH_ITER (hh, ties->lives, life, next) {
		fx_life_exit(&ties->arrows, life);
		count_missing(ties, life);
		count_unbecome(ties, life);
	}
	while (ties->waiting) {
		struct fx_waiting_tie *waiting = ties->waiting;

		waiting->tie.pid = FX_SIGNAL_UNKNOWN_PID;
		if (ties_is_of_signal(&waiting->tie))
			ties_take(ties, &waiting->at, waiting->kernel_pid, &waiting->tie);
		waiting_give_up(ties, waiting);
	}
	fx_signals_settle(&ties->signals, draw_signal, &ties->arrows);
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
	case FX_TIE_STAYS:
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
	const struct fx_point at = {s->id, s->pid, tie->shown, tie->ns};
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
