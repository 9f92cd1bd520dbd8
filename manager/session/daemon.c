/* SPDX-License-Identifier: MIT */
#include "manager/session/daemon.h"

#include <errno.h>
#include <stdlib.h>

#include "base/clock.h"
#include "manager/session/daemon-internal.h"
#include "manager/settings/report.h"
#include "manager/settings/terms.h"

/* --- Providers ------------------------------------------------------------------------------- */

static int daemon_welcome(void *opaque, const struct fx_applicant *applicant,
			  struct fx_provider_terms *ret)
{
	struct fx_daemon *d = opaque;
	const struct fx_session_config *config =
	    fx_daemon_session_is_open(&d->session) ? &d->session.config : d->defaults;

	*ret = fx_terms_for(config, d->roster.clock.kind, d->roster.first_anchor, applicant->name,
			    &applicant->wish);
	/* 0, as of a process without a manager: its places are not asked before there was a start. */
	ret->epoch = d->epoch == d->epoch_before ? 0 : (uint32_t)d->epoch;
	ret->running = fx_daemon_session_is_running(&d->session);
	ret->resident = ret->recipes = true;
	/* What later sessions may ask for. */
	ret->reserve = fx_terms_buffer_size(d->defaults, applicant->name);
	if (ret->reserve < ret->buffer_size)
		ret->reserve = ret->buffer_size;
	return 0;
}

static int daemon_enter(void *opaque, struct fx_provider *p, bool exec)
{
	struct fx_daemon *d = opaque;

	if (fx_daemon_session_is_open(&d->session)) {
		p->inlet = fx_provider_enlist(p, d->session.writer, exec);
		if (!p->inlet)
			return -ENOMEM;
		if (!fx_daemon_session_is_running(&d->session))
			fx_daemon_session_enter_late(d, p);
	}
	if (d->defaults->verbose)
		fx_report("%s (%d) registered", p->name, (int)p->pid);
	return 0;
}

static void daemon_refused(void *opaque, pid_t pid, enum fx_cause cause)
{
	struct fx_daemon *d = opaque;

	fx_writer_excuse(d->session.writer, pid);
	if (fx_daemon_session_is_open(&d->session))
		d->session.untraced[cause]++;
	d->refused++;
	d->no_memory += cause == FX_CAUSE_MEMORY;
}

static void leave(void *opaque, const struct fx_provider *p)
{
	fx_daemon_session_provider_gone(opaque, p);
}

static void daemon_alert(void *opaque, pid_t pid, const char *name)
{
	fx_daemon_session_alert(opaque, pid, name);
}

static void daemon_client_came(void *opaque, int fd, const union fx_message_any *message,
			       size_t size, int passed)
{
	fx_clients_adopt(opaque, fd, message, size, passed);
}

/* --- Life of the daemon ---------------------------------------------------------------------- */

static void daemon_signal_came(void *opaque, const struct signalfd_siginfo *info)
{
	struct fx_daemon *d = opaque;

	if (info->ssi_signo == SIGUSR2)
		fx_daemon_session_snapshot_beside(d);
	else
		d->ending = true;
}

static int daemon_doors_open(struct fx_daemon *d, const char *socket, int listener,
			     const char **ret_what)
{
	const struct fx_roster_host host = {.welcome = daemon_welcome,
					    .enter = daemon_enter,
					    .refused = daemon_refused,
					    .leave = leave,
					    .alert = daemon_alert,
					    .client = daemon_client_came,
					    .opaque = d,
					    .policy = &d->defaults->policy};
	int r = fx_ground_init(&d->ground, ret_what);

	if (r == 0)
		r = fx_ground_listen(&d->ground, daemon_signal_came, d);
	if (r < 0)
		return r;
	*ret_what = socket;
	return fx_roster_open(&d->roster, &d->ground, &host, socket, listener);
}

static void daemon_free(struct fx_daemon *d)
{
	fx_clients_close_all(d);
	fx_snapshots_destroy(&d->snapshots);
	fx_roster_destroy(&d->roster);
	fx_ground_destroy(&d->ground);
	free(d);
}

/*
 * Numbers of starts go on from the machine's milliseconds, so that a later manager's are others: a process that comes over to it
 * remembers by them which categories were wanted. (Half of the numbers are left for starts: none comes to 32 bits.)
 */
static uint64_t epoch_first(void)
{
	return fx_boottime_ns() / 1000000 & INT32_MAX;
}

int fx_daemon_create(const char *socket, int listener, const struct fx_session_config *defaults,
		     struct fx_daemon **ret, const char **ret_what)
{
	struct fx_daemon *d = calloc(1, sizeof(*d));
	int r;

	*ret_what = "cannot start";
	if (!d)
		return -ENOMEM;
	d->defaults = defaults;
	d->epoch = d->epoch_before = epoch_first();
	fx_ground_clear(&d->ground);
	fx_roster_clear(&d->roster, defaults->clock);
	if (defaults->verbose)
		fx_report("times are read from %s", d->roster.clock.text);
	d->roster.max_memory = defaults->max_memory;
	d->roster.max_user_memory = defaults->max_user_memory;
	fx_snapshots_init(&d->snapshots, &d->ground.poller);
	r = daemon_doors_open(d, socket, listener, ret_what);
	if (r < 0) {
		daemon_free(d);
		return r;
	}
	*ret = d;
	return 0;
}

/* One turn of the loop: something that became ready, or the time to go on with something. */
static void daemon_turn(struct fx_daemon *d)
{
	uint64_t now = fx_monotonic_ns(), next = UINT64_MAX;

	fx_daemon_session_step(d, now, &next);
	fx_clients_step(d, now, &next);
	fx_roster_turn(&d->roster, fx_daemon_session_is_running(&d->session), next);
}

void fx_daemon_run(struct fx_daemon *d)
{
	while (!d->ending)
		daemon_turn(d);
	/* Nobody waits for an answer any more; what was recorded is written. */
	fx_clients_close_all(d);
	fx_daemon_session_terminate(d, NULL, true);
	while (d->session.state != FX_SESSION_READY)
		daemon_turn(d);
	daemon_free(d);
}
