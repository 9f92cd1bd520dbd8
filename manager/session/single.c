/* SPDX-License-Identifier: MIT */
#include "manager/session/single.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/fault.h"
#include "manager/process/limits.h"
#include "manager/process/signal-name.h"
#include "manager/settings/report.h"
#include "manager/door/roster.h"
#include "manager/session/companion.h"
#include "manager/session/look.h"
#include "manager/session/snapshot.h"
#include "manager/session/standstill.h"
#include "manager/settings/terms.h"

#define MS UINT64_C(1000000) /* ns */

/* Tracing runs once in a session, which its providers know by this number; but for a process that may have been in others. */
#define EPOCH 1u

/* A private session ends when it has had no provider for this long. */
#define PRIVATE_LINGER_NS (200 * MS)

/* Whether a program that cannot be watched has ended is asked this often. */
#define PROGRAM_LOOK_NS (10 * MS)

/* What tracing one process takes beside what is open before it starts: the program's start and signals (2), its end,
 * its connection, its process and memory (3), where it sees its files (3), and files with symbols (2). */
#define DESCRIPTORS_MORE 12

/* How long the kernel provider may work on when the program has ended, and how often it is looked whether it does. */
#define COMPANION_PATIENCE_NS (20000 * MS)
#define COMPANION_LOOK_NS     (5 * MS)

/* The first provider of a private session must show up within this time. */
#define PRIVATE_PATIENCE_NS (5000 * MS)

/* The program that is traced, a child of this process. */
struct single_program {
	pid_t pid; /* 0: there is none */
	int pidfd; /* -1: none */
	struct fx_watch watch;
	bool is_watched; /* the poller tells of its end */
	bool is_foreign; /* it is no child, and ran already */
	bool has_ended;
	bool has_status; /* wait_status says how */
	int wait_status;
};

struct fx_single {
	const struct fx_session_config *config;
	struct fx_output *output; /* until the writer has it */
	struct fx_writer *writer; /* NULL before begin */
	struct fx_ground ground;
	struct fx_roster roster;
	struct single_program program;
	struct fx_policy policy;
	uint32_t epoch;
	struct fx_companion *companion; /* borrowed; NULL: none */
	bool stopped;			/* tracing has ended for good */
	uint64_t stop_at;		/* CLOCK_MONOTONIC ns; 0: when the program ends */
	uint32_t left_alive;		/* processes that were traced when the program had ended */
	uint32_t refused;		/* processes that could not be traced, */
	uint64_t untraced[FX_CAUSES];	/* and why */
	int signal;			/* that told the session to end; 0: none has */
	bool give_up; /* one has again, or there is no program: nothing is waited for any more */
	struct fx_snapshots snapshots;
	unsigned snapshot_count; /* taken so far */
	struct fx_look look;
	const char *look_name; /* of the events of the newest look */
	struct fx_standstill still;
};

/* --- Snapshots -------------------------------------------------------------------------------- */

static void single_take_snapshot(struct fx_single *s)
{
	if (s->stopped || s->config->mode != FX_MODE_CIRCULAR)
		return;
	fx_snapshot_take_beside(&s->snapshots, s->config, &s->roster.clock, s->roster.first_anchor,
				&s->snapshot_count, s->roster.providers);
}

/* --- Where everybody stands ------------------------------------------------------------------- */

/* All that are traced, and the program; but for the one that is `dead`. 0 or -ENOMEM. */
static int single_pids(const struct fx_single *s, pid_t dead, struct fx_pids *ret)
{
	bool has_program = s->program.has_ended || !s->program.pid || s->program.pid == dead;

	for (const struct fx_provider *p = s->roster.providers; p; p = p->next) {
		if (p->phase != FX_PROVIDER_LIVE || p->is_kernel)
			continue;
		has_program |= p->pid == s->program.pid;
		if (fx_vector_reserve(ret, 1) < 0)
			return -ENOMEM;
		ret->items[ret->count++] = p->pid;
	}
	if (!has_program && fx_vector_reserve(ret, 1) < 0)
		return -ENOMEM;
	if (!has_program)
		ret->items[ret->count++] = s->program.pid;
	return 0;
}

static void single_looked(void *opaque)
{
	struct fx_single *s = opaque;

	fx_look_tell(&s->look, &s->roster, s->look_name);
	fx_standstill_excuse(&s->still, s->look.answer.stopped);
}

/* Whether nothing has progressed for too long. */
static void single_watch(struct fx_single *s)
{
	char title[64];
	struct fx_pids pids = {0};
	uint64_t now = fx_monotonic_ns();

	if (now < s->still.next || s->stopped)
		return;
	if (single_pids(s, 0, &pids) == 0 && fx_standstill_look(&s->still, now, &pids)) {
		snprintf(title, sizeof(title), "nothing has progressed for %.3g s",
			 (double)(now - s->still.since) / 1e9);
		s->look_name = "standstill";
		fx_look_begin(&s->look, title, fx_ticks(s->roster.clock.kind), &pids);
	}
	fx_vector_free(&pids);
}

/* --- Alerts ----------------------------------------------------------------------------------- */

static const struct fx_provider *single_provider(const struct fx_single *s, pid_t pid)
{
	for (const struct fx_provider *p = s->roster.providers; p; p = p->next) {
		if (p->pid == pid)
			return p;
	}
	return NULL;
}

/* What a look is about. False: of a process that a signal has not ended, or nobody knows whether one has, none is told. */
static bool single_look_title(const struct fx_single *s, pid_t pid, const char *name, char *ret,
			      size_t size)
{
	const struct fx_provider *p = single_provider(s, pid);
	const char *who = p ? p->name : "a process";

	if (strcmp(name, FX_ALERT_DEATH) != 0)
		snprintf(ret, size, "%s (%d) raised the alert %s", who, (int)pid, name);
	else if (p && p->ending.is_known && WIFSIGNALED(p->ending.wait_status))
		snprintf(ret, size, "%s (%d) was ended by %s", who, (int)pid,
			 fx_signal_name(WTERMSIG(p->ending.wait_status)));
	else
		return false;
	return true;
}

/* What all others do. Of deaths that come while it is looked already, that look tells. */
static void single_say_where(struct fx_single *s, pid_t pid, const char *name)
{
	struct fx_pids pids = {0};
	char title[160];

	if (!single_look_title(s, pid, name, title, sizeof(title)))
		return;
	if (s->look.is_on || single_pids(s, strcmp(name, FX_ALERT_DEATH) ? 0 : pid, &pids) < 0 ||
	    fx_pids_add_descendants(&pids) < 0 || !pids.count) {
		fx_report("%s%s", title, pids.count ? "" : "; no other traced process goes on");
	} else {
		s->look_name = "where";
		fx_look_begin(&s->look, title, fx_ticks(s->roster.clock.kind), &pids);
	}
	fx_vector_free(&pids);
}

static void single_alert(void *opaque, pid_t pid, const char *name)
{
	struct fx_single *s = opaque;

	switch (fx_terms_trigger(s->config, name)) {
	case FX_TRIGGER_STOP:
		s->stop_at = fx_monotonic_ns();
		break;
	case FX_TRIGGER_SNAPSHOT:
		single_take_snapshot(s);
		break;
	case FX_TRIGGER_WHERE:
		single_say_where(s, pid, name);
		break;
	}
}

/* --- Providers ------------------------------------------------------------------------------- */

static int single_welcome(void *opaque, const struct fx_applicant *applicant,
			  struct fx_provider_terms *ret)
{
	struct fx_single *s = opaque;
	bool is_followed = (s->config->follow && !s->program.is_foreign) || !s->program.pid ||
			   applicant->pid == s->program.pid || applicant->is_kernel;

	if (s->stopped || !is_followed) {
		fx_writer_excuse(s->writer, applicant->pid);
		return s->stopped ? -ESHUTDOWN : -EPERM;
	}
	*ret = fx_terms_for(s->config, s->roster.clock.kind, s->roster.first_anchor,
			    applicant->name, &applicant->wish);
	ret->epoch = s->epoch;
	ret->running = true;
	return 0;
}

static int single_enter(void *opaque, struct fx_provider *p, bool exec)
{
	struct fx_single *s = opaque;

	p->inlet = fx_provider_enlist(p, s->writer, exec);
	if (!p->inlet)
		return -ENOMEM;
	if (s->config->verbose)
		fx_report("tracing %s (%d)", p->name, (int)p->pid);
	return 0;
}

static void single_refused(void *opaque, pid_t pid, enum fx_cause cause)
{
	struct fx_single *s = opaque;

	fx_writer_excuse(s->writer, pid);
	s->refused++;
	if (cause < FX_CAUSES)
		s->untraced[cause]++;
}

/* --- Signals and the program ----------------------------------------------------------------- */

/* A signal from the terminal the program got, too; one that was sent to this process alone is passed on to it. After the
 * second one, the program is not waited for any more. */
static void single_signal_came(void *opaque, const struct signalfd_siginfo *info)
{
	struct fx_single *s = opaque;

	if (info->ssi_signo == SIGUSR2) {
		single_take_snapshot(s);
		return;
	}
	if (info->ssi_code == SI_KERNEL && !s->program.is_foreign)
		return;
	if (s->signal || !s->program.pid)
		s->give_up = true;
	s->signal = (int)info->ssi_signo;
	if (s->program.pid && !s->program.has_ended && !s->program.is_foreign)
		kill(s->program.pid, s->signal);
}

/* The program may have ended. */
static void single_program_ready(void *opaque)
{
	struct fx_single *s = opaque;
	struct single_program *program = &s->program;
	pid_t pid;

	if (program->is_foreign && !program->is_watched && kill(program->pid, 0) == 0)
		return;
	pid = waitpid(program->pid, &program->wait_status, WNOHANG);
	if (pid == 0 || (pid < 0 && errno == EINTR))
		return;
	program->has_ended = true;
	program->has_status = pid == program->pid;
	/* How it ended, the kernel may tell its parent alone. */
	for (struct fx_provider *p = s->roster.providers; p && program->has_status; p = p->next) {
		if (p->pid == pid && p->phase == FX_PROVIDER_LIVE && !p->ending.is_death)
			p->ending = (struct fx_ending){.is_death = true,
						       .is_known = true,
						       .wait_status = program->wait_status};
	}
	if (program->is_watched)
		fx_poller_remove(&s->ground.poller, program->pidfd);
}

/* --- Life of a session ----------------------------------------------------------------------- */

/* Whether an error says that no folder for a socket can be had. */
static bool is_no_place(int error)
{
	return error == -ENOENT || error == -EROFS || error == -EACCES || error == -EPERM ||
	       error == -ENOTDIR || error == -ENAMETOOLONG;
}

static int single_doors_open(struct fx_single *s, const char **ret_what)
{
	const struct fx_roster_host host = {.welcome = single_welcome,
					    .enter = single_enter,
					    .refused = single_refused,
					    .alert = single_alert,
					    .opaque = s,
					    .policy = &s->policy};
	int r = fx_ground_init(&s->ground, ret_what);

	if (r < 0)
		return r;
	*ret_what = "cannot listen for providers";
	r = fx_roster_open(&s->roster, &s->ground, &host, NULL, -1);
	if (is_no_place(r))
		*ret_what = "set TMPDIR to a folder where a socket can be made";
	if (r < 0)
		return r;
	*ret_what = "cannot serve a process";
	return fx_limits_descriptors(DESCRIPTORS_MORE);
}

static void single_free(struct fx_single *s)
{
	fx_look_end(&s->look);
	if (s->companion)
		fx_companion_kill(s->companion);
	fx_roster_destroy(&s->roster);
	if (s->program.pidfd >= 0)
		close(s->program.pidfd);
	if (s->output)
		fx_output_close(s->output, NULL);
	fx_ground_destroy(&s->ground);
	free(s);
}

int fx_single_create(const struct fx_session_config *config, struct fx_single **ret,
		     const char **ret_what)
{
	struct fx_single *s = calloc(1, sizeof(*s));
	int r;

	*ret_what = "cannot start";
	if (!s)
		return -ENOMEM;
	s->config = config;
	s->program.pidfd = -1;
	s->policy.kin = true;
	s->epoch = EPOCH;
	fx_ground_clear(&s->ground);
	fx_roster_clear(&s->roster, config->clock);
	if (config->verbose)
		fx_report("times are read from %s", s->roster.clock.text);
	s->roster.max_memory = config->max_memory;
	fx_roster_want_recipes(&s->roster, config);
	fx_snapshots_init(&s->snapshots, &s->ground.poller);
	fx_look_init(&s->look, &s->ground.poller, single_looked, s);
	fx_standstill_init(&s->still, config->watchdog_ns);
	r = fx_output_open(config->output, &s->output);
	if (r < 0)
		*ret_what = config->output;
	else
		r = single_doors_open(s, ret_what);
	if (r < 0) {
		single_free(s);
		return r;
	}
	*ret = s;
	return 0;
}

const char *fx_single_socket(const struct fx_single *s)
{
	return s->roster.registry.path;
}

void fx_single_cancel(struct fx_single *s)
{
	single_free(s);
}

int fx_single_begin(struct fx_single *s, const char **ret_what)
{
	struct fx_writer_config config = {
	    .output = s->output,
	    .path = s->config->output,
	    .clock = &s->roster.clock,
	    .first_anchor = s->roster.first_anchor,
	    .queue_limit = FX_QUEUE_LIMIT,
	    .cures_of = s->config,
	    .session = s->config,
	    .pairs = s->config->pairs,
	    .functions = s->config->functions,
	    .last_ns = fx_terms_last(s->config),
	    .max_strings = s->config->max_strings,
	    .max_symbols = s->config->max_symbols,
	    .max_user_symbols = s->config->max_user_symbols,
	    .symbol_cache = s->config->symbol_cache,
	    .lines = s->config->lines,
	    .done_fd = -1,
	};
	int r;

	*ret_what = "cannot start";
	r = fx_ground_listen(&s->ground, single_signal_came, s);
	if (r < 0)
		return r;
	*ret_what = s->config->output;
	s->output = NULL; /* the writer's from here on, whatever happens */
	r = fx_writer_start(&config, &s->writer);
	if (r < 0)
		return r;
	s->roster.queue = fx_writer_queue(s->writer);
	fx_pace_init(&s->roster.pace, fx_monotonic_ns());
	if (s->config->duration_ns)
		s->stop_at = fx_monotonic_ns() + s->config->duration_ns;
	return 0;
}

/*
 * Tells every provider that tracing has stopped; `notice`: as fx_provider_stop() has it. How many there are, and in *ret_programs
 * how many of them are traced programs: the kernel provider is none.
 */
static uint32_t single_stop_providers(struct fx_single *s, uint32_t notice, uint32_t *ret_programs)
{
	uint32_t alive = 0;

	*ret_programs = 0;
	for (struct fx_provider *p = s->roster.providers; p; p = p->next) {
		if (p->phase != FX_PROVIDER_LIVE)
			continue;
		fx_provider_stop(p, s->epoch, notice);
		alive++;
		*ret_programs += !p->is_kernel;
	}
	return alive;
}

/* Stops tracing, gives threads a moment to finish their records, and takes what there is. */
static void single_stop(struct fx_single *s)
{
	const struct timespec grace = {.tv_nsec = (long)FX_STOP_GRACE_NS};
	const struct timespec nap = {.tv_nsec = (long)MS};
	uint32_t alive, programs, still;

	if (s->stopped)
		return;
	FX_FAULT(session_stop);
	fx_roster_serve(&s->roster);
	fx_roster_read_packets(&s->roster); /* one may ask for a snapshot */
	s->stopped = true;
	alive = single_stop_providers(s, FX_STATE_STOPPING, &programs);
	if (alive)
		nanosleep(&grace, NULL);
	/* Processes that go on are not to look for a stop for ever. */
	single_stop_providers(s, 0, &still);
	if (s->program.has_ended)
		s->left_alive = programs;
	for (struct fx_provider *p = s->roster.providers; p; p = p->next)
		fx_roster_end(&s->roster, p);
	while (!fx_roster_finish_ended(&s->roster))
		nanosleep(&nap, NULL);
}

static void single_await_companion(struct fx_single *s);

/* One turn of the loop, until `deadline` at most. Tracing stops when it is time to. */
static void single_turn(struct fx_single *s, uint64_t deadline)
{
	uint64_t stop_at = s->stopped || !s->stop_at ? UINT64_MAX : s->stop_at;

	if (stop_at < deadline)
		deadline = stop_at;
	fx_roster_turn(&s->roster, true, s->still.next < deadline ? s->still.next : deadline);
	single_watch(s);
	fx_roster_learn_functions(&s->roster, fx_writer_suppressed(s->writer));
	if (!s->stopped && s->stop_at && fx_monotonic_ns() >= s->stop_at) {
		s->stop_at = 0;
		single_await_companion(s);
		single_stop(s);
	}
}

/* What the kernel said of the program comes after its end. */
static void single_await_companion(struct fx_single *s)
{
	uint64_t deadline = fx_monotonic_ns() + COMPANION_PATIENCE_NS;

	if (!s->companion)
		return;
	fx_companion_finish(s->companion);
	while (!fx_companion_is_over(s->companion) && !s->give_up && !s->stopped &&
	       fx_monotonic_ns() < deadline)
		single_turn(s, fx_monotonic_ns() + COMPANION_LOOK_NS);
	fx_companion_kill(s->companion);
}

/* Has the poller tell of the program's end, if that can be. */
static void single_watch_program(struct fx_single *s, pid_t pid)
{
	struct single_program *program = &s->program;

	program->pid = pid;
	program->pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	program->watch = (struct fx_watch){.ready = single_program_ready, .opaque = s};
	program->is_watched =
	    program->pidfd >= 0 &&
	    fx_poller_add(&s->ground.poller, program->pidfd, &program->watch) == 0;
}

/* What is seen goes into the archive. */
static void single_await_look(struct fx_single *s)
{
	while (s->look.is_on && !s->give_up && !s->stopped)
		single_turn(s, UINT64_MAX);
}

void fx_single_let_look(struct fx_single *s, fx_look_function *look)
{
	s->look.function = look;
}

void fx_single_accompany(struct fx_single *s, struct fx_companion *companion)
{
	s->companion = companion;
}

void fx_single_run_program(struct fx_single *s, pid_t pid)
{
	const struct single_program *program = &s->program;

	single_watch_program(s, pid);
	while (!program->has_ended && !s->give_up) {
		single_turn(s,
			    program->is_watched ? UINT64_MAX : fx_monotonic_ns() + PROGRAM_LOOK_NS);
		if (!program->is_watched)
			single_program_ready(s);
	}
	single_await_look(s);
	single_await_companion(s);
	/* Processes that asked to be traced, or died, before the program's end are still served. */
	fx_roster_serve(&s->roster);
}

void fx_single_expect(struct fx_single *s, pid_t pid, uid_t uid)
{
	s->program.is_foreign = true;
	s->policy = (struct fx_policy){.users = {uid}, .user_count = 1};
	/* What it has heard of other sessions is not of this one. */
	s->epoch = (uint32_t)(fx_monotonic_ns() / MS) | 1u;
	single_watch_program(s, pid);
}

bool fx_single_run_attached(struct fx_single *s, pid_t helper)
{
	const struct single_program *program = &s->program;
	int status = -1;

	s->stop_at = 0; /* the time begins when it has registered */
	while (!program->has_ended && !s->signal && !s->give_up && !s->stopped) {
		bool polls = helper > 0 || !program->is_watched;

		single_turn(s, polls ? fx_monotonic_ns() + PROGRAM_LOOK_NS : UINT64_MAX);
		if (!program->is_watched)
			single_program_ready(s);
		if (helper > 0 && waitpid(helper, &status, WNOHANG) == helper) {
			helper = 0;
			if (status != 0)
				return false;
			if (s->config->duration_ns)
				s->stop_at = fx_monotonic_ns() + s->config->duration_ns;
		}
	}
	while (helper > 0 && !s->give_up) {
		single_turn(s, fx_monotonic_ns() + PROGRAM_LOOK_NS);
		if (waitpid(helper, &status, WNOHANG) == helper)
			helper = 0;
	}
	fx_roster_serve(&s->roster);
	single_stop(s);
	return helper == 0 && status == 0;
}

bool fx_single_has_ended(const struct fx_single *s)
{
	return s->program.has_ended;
}

void fx_single_run_private(struct fx_single *s, int fd, pid_t pid)
{
	uint64_t deadline = fx_monotonic_ns() + PRIVATE_PATIENCE_NS;
	int r = fx_registry_adopt(&s->roster.registry, fd, pid);

	if (r < 0)
		close(fd);
	while (r == 0 && !s->give_up && fx_monotonic_ns() < deadline) {
		single_turn(s, deadline);
		if (s->roster.providers)
			deadline = fx_monotonic_ns() + PRIVATE_LINGER_NS;
	}
}

void fx_single_finish(struct fx_single *s, struct fx_session_result *ret)
{
	*ret = (struct fx_session_result){0};
	fx_writer_hurry(s->writer, s->give_up);
	single_stop(s);
	ret->left_alive = s->left_alive;
	ret->refused = s->refused;
	ret->matched = s->roster.recipes.matched;
	ret->left_out = s->roster.recipes.left_out;
	ret->unknown = s->roster.recipes.unknown;
	ret->is_cut = s->roster.recipes.is_cut;
	ret->has_status = s->program.has_status;
	ret->wait_status = s->program.wait_status;
	ret->signal = s->give_up ? s->signal : 0;
	fx_snapshots_destroy(&s->snapshots);
	FX_FAULT(session_saved);
	ret->output_error = fx_writer_finish(s->writer, &ret->totals);
	for (unsigned i = 0; i < FX_CAUSES; i++)
		fx_loss_add(&ret->totals.counts.lost[i], s->untraced[i]);
	single_free(s);
}
