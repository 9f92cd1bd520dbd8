/* SPDX-License-Identifier: MIT */
/*
 * The last moments of several hosts, up to the same one. On each a command waits, which has said so before it is told to go on; a line of
 * standard input tells it. Or the manager of one takes a snapshot of its own, as its triggers say: then its archive begins to come, and the
 * others are told. So hosts are as far apart as a line of ssh's needs.
 */
#include <string.h>
#include <unistd.h>

#include "client/hosts-internal.h"
#include "client/snapshot.h"
#include "manager/settings/report.h"

/* What is known of all. */
struct moment {
	size_t ready, unready; /* of those that are there */
	bool has_begun;	       /* one sends its archive, or says that one is called for */
	bool is_late;	       /* one was called for before its host waited */
};

static struct moment moment_look(const struct fx_hosts_job *job, fx_host_list *hosts)
{
	struct moment moment = {0};

	fx_hosts_reap(hosts);
	for (size_t i = 0; i < hosts->count; i++) {
		const struct fx_host *host = &hosts->items[i];

		moment.has_begun |=
		    fx_host_has_sent(host) || fx_host_has_said(host, FX_SNAPSHOT_CALLED);
		if (host->pid && fx_host_has_said(host, FX_SNAPSHOT_WAITS)) {
			moment.ready++;
			moment.is_late |= job->was_called && job->was_called(job, host);
		} else if (host->pid) {
			moment.unready++;
		}
	}
	return moment;
}

/* Those that are ready go on; the others are too late. */
static void moment_tell(fx_host_list *hosts, const char *command)
{
	for (size_t i = 0; i < hosts->count; i++) {
		struct fx_host *host = &hosts->items[i];

		if (!host->pid || fx_host_has_sent(host))
			continue;
		if (fx_host_has_said(host, FX_SNAPSHOT_WAITS)) {
			if (write(host->life, "\n", 1) != 1)
				fx_host_end(host);
			continue;
		}
		fx_report_as(command, "%s: it does not answer", host->name);
		kill(host->pid, SIGKILL);
		fx_host_end(host);
	}
}

/* *ret_awaits: whether it is for a host to call for it. */
static bool moment_has_come(const struct fx_hosts_job *job, fx_host_list *hosts, bool *ret_awaits,
			    bool is_over)
{
	struct moment moment = moment_look(job, hosts);

	*ret_awaits &= !moment.is_late;
	return moment.has_begun || moment.ready + moment.unready == 0 ||
	       (!*ret_awaits && (moment.unready == 0 || is_over));
}

static bool moment_await(const struct fx_hosts_job *job, fx_host_list *hosts, const char *folder,
			 const sigset_t *set, bool awaits)
{
	struct fx_hosts_watch watch;
	bool goes_on = true;
	int r = fx_hosts_watch_open(folder, set, &watch);

	if (r < 0) {
		fx_report_as(job->command, "%s", strerror(-r));
		for (size_t i = 0; i < hosts->count; i++)
			fx_host_end(&hosts->items[i]);
		return true;
	}
	while (goes_on && !moment_has_come(job, hosts, &awaits, fx_hosts_watch_is_over(&watch)))
		goes_on = fx_hosts_watch_wait(&watch, !awaits);
	fx_hosts_watch_close(&watch);
	if (goes_on)
		moment_tell(hosts, job->command);
	for (size_t i = 0; i < hosts->count && !goes_on; i++)
		fx_host_end(&hosts->items[i]);
	return goes_on;
}

bool fx_hosts_moment_now(const struct fx_hosts_job *job, fx_host_list *hosts, const char *folder,
			 const sigset_t *set)
{
	return moment_await(job, hosts, folder, set, false);
}

bool fx_hosts_moment_called(const struct fx_hosts_job *job, fx_host_list *hosts, const char *folder,
			    const sigset_t *set)
{
	return moment_await(job, hosts, folder, set, true);
}

int fx_hosts_snapshot(const char *list, const char *command, const char *output, bool awaits)
{
	char script[] = FX_HOSTS_SCRIPT_SNAPSHOT;
	const struct fx_hosts_job job = {
	    .list = list,
	    .script = script,
	    .command = command,
	    .output = output,
	    .meanwhile = awaits ? fx_hosts_moment_called : fx_hosts_moment_now,
	};

	return fx_hosts_run(&job);
}
