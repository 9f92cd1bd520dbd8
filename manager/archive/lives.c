/* SPDX-License-Identifier: MIT */
#include "manager/archive/lives.h"

#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "base/clock.h"
#include "engine/layout.h"
#include "manager/archive/own.h"
#include "manager/process/kin.h"
#include "manager/process/signal-name.h"

/* The first thread of a process may not have been heard of. */
static void introduce(struct fx_arrows *arrows, struct fx_life *life)
{
	struct fx_stream_thread *t =
	    life->stream ? fx_stream_thread(life->stream, life->stream->first_tid) : NULL;

	fx_archive_select(arrows->archive, life->stream ? life->stream->id : life->birth.provider);
	if (t)
		fx_stream_thread_index(life->stream, t);
	else if (!life->stream)
		fx_archive_thread_name(arrows->archive, life->shown, life->shown, life->name);
}

/* --- Which provider is believed --------------------------------------------------------------- */

/* Parents of parents that are followed. */
#define ANCESTORS_MAX 64u

static const struct fx_life *life_find(const struct fx_life *lives, uint32_t pid)
{
	const struct fx_life *found;

	HASH_FIND(hh, lives, &pid, sizeof(pid), found);
	return found;
}

static uint32_t parent_of(const struct fx_life *life)
{
	return life->parent ? life->parent : life->said_parent;
}

static bool is_parent(const struct fx_life *life, uint32_t pid)
{
	return !parent_of(life) || pid == life->parent || pid == life->said_parent;
}

/* An orphan is heard of as the child of the process that has taken it over: the first of all, or one of which nothing is
 * known, as a rule. The process that tells of it after that may be another one, which has ended since. */
static bool may_have_made(const struct fx_life *lives, const struct fx_life *life, uint32_t by,
			  bool told_before)
{
	uint32_t parent = parent_of(life);

	return is_parent(life, by) ||
	       ((parent == 1 || (told_before && !life_find(lives, parent))) &&
		fx_kin_is_over((pid_t)by));
}

/* An orphan is taken over by one of its ancestors. */
static bool may_have_heard(const struct fx_life *lives, const struct fx_life *life, uint32_t by)
{
	const struct fx_life *ancestor = life;
	uint32_t parent = parent_of(life);

	if (is_parent(life, by))
		return true;
	for (unsigned i = 0; ancestor && i < ANCESTORS_MAX; i++) {
		if (parent_of(ancestor) == by)
			return fx_kin_is_over((pid_t)parent);
		ancestor = life_find(lives, parent_of(ancestor));
	}
	return false;
}

/* --- Beginnings ------------------------------------------------------------------------------- */

static void draw_creation(struct fx_arrows *arrows, struct fx_life *life)
{
	struct fxt_arg child = fx_own_pid("pid", life->shown);
	struct fxt_arg parent = fx_own_pid("parent", life->creation.at.pid);

	if (!(life->creation.value & FX_TIE_VALUE_SILENT)) {
		introduce(arrows, life);
		fx_arrow_draw(arrows, &life->creation.at, "creates process", &child, &life->birth,
			      "process starts", &parent);
	}
	life->creation.at.ns = 0;
}

/* Only once the old image is over is it known that it did nothing after this exec. */
static void try_exec(struct fx_arrows *arrows, struct fx_life *life)
{
	if (!life->image.ns || !life->exec.ns || life->ended != life->exec.provider)
		return;
	introduce(arrows, life);
	fx_arrow_draw(arrows, &life->exec, "becomes another program", NULL, &life->image,
		      "program starts", NULL);
	life->exec.ns = life->image.ns = 0;
}

/* By so much two clocks may differ: what is heard of then is the same process, whose number is not given again so soon. */
#define CLOCKS_NS UINT64_C(10000000)

/* A parent may tell before the child is heard of, or after its end. */
void fx_life_created(struct fx_arrows *arrows, const struct fx_life *lives, struct fx_life *life,
		     const struct fx_word *word)
{
	const uint64_t ns = word->at.ns;

	/* Of a process that lives and was made before. */
	if (life->birth.ns >= ns && !may_have_made(lives, life, word->by, false))
		return;
	if (life->creation.at.ns && life->creation.by != word->by)
		life->rival = life->creation;
	life->creation = *word;
	life->awaited = word->value & FX_TIE_VALUE_REGISTERS &&
			(!life->birth.ns || life->birth.ns + CLOCKS_NS < ns);
	if (life->birth.ns >= ns)
		draw_creation(arrows, life);
}

/* Of the two processes that say that they have made the one that was heard of, the one that is believed; or none. */
static void creation_choose(const struct fx_life *lives, struct fx_life *life)
{
	if (life->rival.at.ns && !is_parent(life, life->creation.by))
		life->creation = is_parent(life, life->rival.by) ||
					 !may_have_made(lives, life, life->creation.by, true)
				     ? life->rival
				     : life->creation;
	life->rival.at.ns = 0;
	if (life->creation.at.ns && !may_have_made(lives, life, life->creation.by, true))
		life->creation.at.ns = 0;
}

void fx_life_execs(struct fx_life *life, const struct fx_point *at, int32_t value)
{
	if (!(value & FX_TIE_VALUE_SILENT))
		life->exec = *at;
	life->becomes = *at;
	/* What is told of late was heard of already. */
	if (!(value & FX_TIE_VALUE_REGISTERS) || (life->stream && life->stream->id != at->provider))
		life->becomes.ns = 0;
}

/* --- Ends ------------------------------------------------------------------------------------- */

/* The newest signal of this kind before its end. */
static const struct fx_kill *find_kill(const struct fx_life *life)
{
	const struct fx_kill *best = NULL;

	for (uint32_t i = 0; i < FX_KILLS_MAX; i++) {
		const struct fx_kill *k = &life->kills[i];

		if (k->at.ns && k->signal == life->signal && k->at.ns <= life->exit.ns &&
		    (!best || k->at.ns > best->at.ns))
			best = k;
	}
	return best;
}

static void try_kill(struct fx_arrows *arrows, struct fx_life *life)
{
	const struct fx_kill *k = life->signal ? find_kill(life) : NULL;
	struct fxt_arg victim = fx_own_pid("pid", life->shown);
	struct fx_point killed = life->exit;

	if (!k)
		return;
	killed.ns -= 1;
	fx_arrow_draw(arrows, &k->at, "kills", &victim, &killed, "killed", NULL);
	life->signal = 0;
}

static struct fxt_arg status_arg(int status, char name[16])
{
	if (WIFEXITED(status))
		return fx_own_int32("exited", WEXITSTATUS(status));
	snprintf(name, 16, "%s", fx_signal_name(WTERMSIG(status)));
	return fx_own_string("signal", name);
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
	ret[count++] = fx_own_pid("thread", ending->tid);
	if (ending->has_address)
		ret[count++] = fx_own_pointer("address", ending->address);
	if (ending->has_code)
		ret[count++] = fx_own_pointer("code", ending->code);
	return count;
}

/* The manager has heard of its end. */
static void exit_note(struct fx_life *life, const struct fx_stream *s,
		      const struct fx_stream_end *end)
{
	struct fx_point exit = {s->id, s->pid, s->pid,
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
 * Writes the end of a process, once, and the arrow to the process that was told of it. It is where the manager heard of it,
 * but before its parent did.
 */
void fx_life_exit(struct fx_arrows *arrows, struct fx_life *life)
{
	struct fxt_arg child = fx_own_pid("pid", life->shown);
	struct fxt_arg args[FAULT_ARGS];
	unsigned count;
	struct fx_point *exit = &life->exit, *told = &life->told;
	char signal[16];

	if (life->shown_exit || !life->birth.ns || (!exit->ns && !told->ns))
		return;
	life->shown_exit = true;
	if (told->ns && (!exit->ns || exit->ns >= told->ns))
		*exit =
		    (struct fx_point){life->birth.provider, life->shown, life->shown, told->ns - 1};
	introduce(arrows, life);
	count = ending_args(&life->ending, signal, args);
	fx_arrow_instant(arrows, exit, "process exits", args, count);
	if (told->ns)
		fx_arrow_lead(arrows, exit, "process exits", told, "told of its end", &child);
	if (life->ending.is_known && WIFSIGNALED(life->ending.wait_status))
		life->signal = WTERMSIG(life->ending.wait_status);
	try_kill(arrows, life);
}

void fx_life_reaped(struct fx_arrows *arrows, const struct fx_life *lives, struct fx_life *life,
		    const struct fx_word *word)
{
	/* A child that has brought its memory may be heard of after its end. */
	if (!life->birth.ns || life->birth.ns < life->creation.at.ns) {
		life->early = *word;
		return;
	}
	if (life->birth.ns + 2 > word->at.ns || life->shown_exit || life->told.ns ||
	    !may_have_heard(lives, life, word->by))
		return;
	life->told = word->at;
	life->ending.is_known = true;
	life->ending.wait_status = word->value;
	/* Until the manager has heard of it as well, it may have been earlier. */
	if (!life->stream)
		fx_life_exit(arrows, life);
}

void fx_life_killed(struct fx_arrows *arrows, struct fx_life *life, const struct fx_point *at,
		    int32_t signal)
{
	life->kills[life->kill_count++ % FX_KILLS_MAX] = (struct fx_kill){*at, signal};
	try_kill(arrows, life);
}

/* --- Images ----------------------------------------------------------------------------------- */

/* The pid is a new process's: of the old one, only what its maker told before counts. */
static void restart(const struct fx_life *lives, struct fx_life *life, const struct fx_stream *s,
		    uint64_t born_ns)
{
	const struct fx_word creation = life->creation, rival = life->rival, early = life->early;
	size_t kept = offsetof(struct fx_life, stream);

	memset((char *)life + kept, 0, sizeof(*life) - kept);
	if (s->origin) {
		life->parent = s->origin->parent;
		life->said_parent = s->origin->said_parent;
	}
	if (creation.at.ns && creation.at.ns <= born_ns)
		life->creation = creation;
	if (rival.at.ns && rival.at.ns <= born_ns)
		*(life->creation.at.ns ? &life->rival : &life->creation) = rival;
	creation_choose(lives, life);
	if (early.at.ns > born_ns + 2 && may_have_heard(lives, life, early.by)) {
		life->told = early.at;
		life->ending.is_known = true;
		life->ending.wait_status = early.value;
	}
}

void fx_life_birth(struct fx_arrows *arrows, const struct fx_life *lives, struct fx_life *life,
		   struct fx_stream *s, uint64_t born_ns, bool exec)
{
	struct fx_point birth = {s->id, s->pid, s->pid, born_ns};

	life->awaited = false;
	if (life->becomes.provider != s->id)
		life->becomes.ns = 0;
	if (!exec) {
		fx_life_exit(arrows, life);
		restart(lives, life, s, born_ns);
	}
	s->dropped_before = life->dropped;
	s->dropped_at = life->dropped_at;
	life->stream = s;
	life->shown = s->pid;
	if (exec)
		life->image = birth;
	if (!life->birth.ns)
		life->birth = birth;
	if (!exec && life->creation.at.ns)
		draw_creation(arrows, life);
	try_exec(arrows, life);
}

void fx_life_end(struct fx_arrows *arrows, struct fx_life *life, struct fx_stream *s,
		 const struct fx_stream_end *end)
{
	const struct fx_stream_thread *t;

	life->ended = s->id;
	try_exec(arrows, life);
	if (life->stream != s) {
		if (life->becomes.provider == s->id)
			life->becomes.ns = 0; /* it is heard of already */
		return;
	}
	t = fx_stream_thread(s, s->first_tid);
	life->stream = NULL;
	memcpy(life->name, t && t->name[0] ? t->name : s->name, sizeof(life->name) - 1);
	life->dropped = s->dropped_before + s->counts.dropped;
	life->dropped_at = s->dropped_at;
	exit_note(life, s, end);
	/* A process that was told of it makes it sure; else it waits for that, as long as it can. */
	if (life->told.ns)
		fx_life_exit(arrows, life);
}
