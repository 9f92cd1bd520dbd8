/* SPDX-License-Identifier: MIT */
#include "manager/daemon.h"

#include <errno.h>
#include <stdlib.h>

#include "manager/daemon-internal.h"
#include "manager/report.h"
#include "manager/terms.h"

/* --- Providers ------------------------------------------------------------------------------- */

static int welcome(void *opaque, const struct fx_applicant *applicant,
		   struct fx_provider_terms *ret)
{
	struct fx_daemon *d = opaque;
	const struct fx_session_config *config =
	    fx_trace_is_open(&d->trace) ? &d->trace.config : d->defaults;

	*ret = fx_terms_for(config, d->roster.clock_kind, d->roster.first_anchor, applicant->name);
	ret->epoch = (uint32_t)d->epoch;
	ret->running = fx_trace_is_running(&d->trace);
	ret->resident = true;
	/* What later sessions may ask for. */
	ret->reserve = fx_terms_buffer_size(d->defaults, applicant->name);
	if (ret->reserve < ret->buffer_size)
		ret->reserve = ret->buffer_size;
	return 0;
}

static int enter(void *opaque, struct fx_provider *p, bool exec)
{
	struct fx_daemon *d = opaque;

	if (fx_trace_is_open(&d->trace)) {
		p->source = fx_writer_source(d->trace.writer, p, exec);
		if (!p->source)
			return -ENOMEM;
	}
	if (d->defaults->verbose)
		fx_report("%s (%d) registered", p->name, (int)p->pid);
	return 0;
}

static void refused(void *opaque, int error)
{
	struct fx_daemon *d = opaque;

	d->refused++;
	d->no_memory += error == -EDQUOT;
}

static void leave(void *opaque, const struct fx_provider *p)
{
	fx_trace_provider_gone(opaque, p);
}

static void alert(void *opaque, pid_t pid, const char *name)
{
	fx_trace_alert(opaque, pid, name);
}

static void client_came(void *opaque, int fd, const union fx_message_any *message, size_t size,
			int passed)
{
	fx_clients_adopt(opaque, fd, message, size, passed);
}

/* --- Life of the daemon ---------------------------------------------------------------------- */

static void signal_came(void *opaque, const struct signalfd_siginfo *info)
{
	struct fx_daemon *d = opaque;

	if (info->ssi_signo == SIGUSR2)
		fx_trace_snapshot_beside(d);
	else
		d->ending = true;
}

static int doors_open(struct fx_daemon *d, const char *socket, int listener, const char **ret_what)
{
	const struct fx_roster_host host = {.welcome = welcome,
					    .enter = enter,
					    .refused = refused,
					    .leave = leave,
					    .alert = alert,
					    .client = client_came,
					    .opaque = d,
					    .policy = &d->defaults->policy};
	int r = fx_ground_init(&d->ground, ret_what);

	if (r == 0)
		r = fx_ground_listen(&d->ground, signal_came, d);
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

int fx_daemon_create(const char *socket, int listener, const struct fx_session_config *defaults,
		     struct fx_daemon **ret, const char **ret_what)
{
	struct fx_daemon *d = calloc(1, sizeof(*d));
	int r;

	*ret_what = "cannot start";
	if (!d)
		return -ENOMEM;
	d->defaults = defaults;
	fx_ground_clear(&d->ground);
	fx_roster_clear(&d->roster);
	d->roster.max_memory = defaults->max_memory;
	d->roster.max_user_memory = defaults->max_user_memory;
	fx_snapshots_init(&d->snapshots, &d->ground.poller);
	r = doors_open(d, socket, listener, ret_what);
	if (r < 0) {
		daemon_free(d);
		return r;
	}
	*ret = d;
	return 0;
}

/* One turn of the loop: something that became ready, or the time to go on with something. */
static void turn(struct fx_daemon *d)
{
	uint64_t now = fx_monotonic_ns(), next = UINT64_MAX;

	fx_trace_step(d, now, &next);
	fx_clients_step(d, now, &next);
	fx_roster_turn(&d->roster, fx_trace_is_running(&d->trace), next);
}

void fx_daemon_run(struct fx_daemon *d)
{
	while (!d->ending)
		turn(d);
	/* Nobody waits for an answer any more; what was recorded is written. */
	fx_clients_close_all(d);
	fx_trace_terminate(d, NULL, true);
	while (d->trace.state != FX_SESSION_READY)
		turn(d);
	daemon_free(d);
}
