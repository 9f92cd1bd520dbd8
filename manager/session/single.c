/* SPDX-License-Identifier: MIT */
/*
 * The life of a single session, and the providers that ask to take part.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/fault.h"
#include "manager/process/limits.h"
#include "manager/session/single-internal.h"
#include "manager/settings/report.h"
#include "manager/settings/terms.h"

/* Tracing runs once in a session, which its providers know by this number; but for a process that may have been in others. */
#define EPOCH 1u

/* What tracing one process takes beside what is open before it starts: the program's start and signals (2), its end,
 * its connection, its process and memory (3), where it sees its files (3), and files with symbols (2). */
#define DESCRIPTORS_MORE 12

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
	s->untraced[cause]++;
}

/* --- Signals --------------------------------------------------------------------------------- */

/* A signal from the terminal the program got, too; one that was sent to this process alone is passed on to it. After the
 * second one, the program is not waited for any more. */
static void single_signal_came(void *opaque, const struct signalfd_siginfo *info)
{
	struct fx_single *s = opaque;

	if (info->ssi_signo == SIGUSR2) {
		fx_single_take_snapshot(s);
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
					    .alert = fx_single_alert,
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
	fx_look_init(&s->look, &s->ground.poller, fx_single_looked, s);
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

void fx_single_let_look(struct fx_single *s, fx_look_function *look)
{
	s->look.function = look;
}

void fx_single_accompany(struct fx_single *s, struct fx_companion *companion)
{
	s->companion = companion;
}

void fx_single_expect(struct fx_single *s, pid_t pid, uid_t uid)
{
	s->program.is_foreign = true;
	s->policy = (struct fx_policy){.users = {uid}, .user_count = 1};
	/* What it has heard of other sessions is not of this one. */
	s->epoch = (uint32_t)(fx_monotonic_ns() / MS) | 1u;
	fx_single_watch_program(s, pid);
}

bool fx_single_has_ended(const struct fx_single *s)
{
	return s->program.has_ended;
}

void fx_single_finish(struct fx_single *s, struct fx_session_result *ret)
{
	*ret = (struct fx_session_result){0};
	fx_writer_hurry(s->writer, s->give_up);
	fx_single_stop(s);
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
