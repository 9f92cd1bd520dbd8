/* SPDX-License-Identifier: MIT */
/*
 * Snapshots of hosts that are being recorded: whenever the manager of one takes one by its triggers, the others take theirs of the same moment,
 * and they are one archive beside the recording's. A process of its own looks after it, so that neither what is recorded nor a signal
 * waits for what a snapshot takes on its way.
 */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "client/hosts-internal.h"
#include "client/snapshot.h"
#include "client/usage.h"
#include "manager/session/snapshot.h"
#include "manager/settings/report.h"

/* --- Before the first ------------------------------------------------------------------------- */

/* Whether all record, or have ended: an archive begins as the recording does. */
static bool rounds_all_begun(fx_host_list *hosts)
{
	bool all = true;

	fx_hosts_reap(hosts);
	for (size_t i = 0; i < hosts->count; i++)
		all &= hosts->items[i].pid == 0 || fx_host_has_sent(&hosts->items[i]);
	return all;
}

/* A comma list of those hosts that send, or were slow once, for the next round; in place of the last one. */
static void rounds_list(const fx_host_list *hosts, char *ret)
{
	char *to = ret;

	*to = '\0';
	for (size_t i = 0; i < hosts->count; i++) {
		const struct fx_host *host = &hosts->items[i];

		if (fx_host_has_sent(host) || WIFSIGNALED(host->status))
			to += sprintf(to, "%s%s", to == ret ? "" : ",", host->name);
	}
}

/* --- A round ---------------------------------------------------------------------------------- */

/* Snapshots that a host has called for, or taken for others. */
struct round_count {
	char *name;
	uint64_t count, said; /* taken into account; told of */
	bool known;	      /* one has come of it */
};

/* What the process that looks after them knows. */
struct rounds {
	char *list; /* of the hosts of the next */
	bool told;  /* there is none */
	FX_VECTOR(struct round_count) counts;
};

static struct round_count *rounds_count_of(struct rounds *rounds, const struct fx_host *host)
{
	struct round_count count = {0};

	for (size_t i = 0; i < rounds->counts.count; i++) {
		if (strcmp(rounds->counts.items[i].name, host->name) == 0)
			return &rounds->counts.items[i];
	}
	count.name = strdup(host->name);
	if (!count.name || fx_vector_reserve(&rounds->counts, 1) < 0) {
		free(count.name);
		return NULL;
	}
	rounds->counts.items[rounds->counts.count++] = count;
	return &rounds->counts.items[rounds->counts.count - 1];
}

/* What has been called for while the last one was on its way is had by one that follows at once. */
static bool rounds_was_called(const struct fx_hosts_job *job, const struct fx_host *host)
{
	struct round_count *count = rounds_count_of(job->opaque, host);
	uint64_t first, last;

	if (!count || fx_host_numbers(host, FX_SNAPSHOT_SO_FAR, &first, &last) == 0 ||
	    first <= count->count)
		return false;
	/* Before the first has come, none was on its way. */
	if (count->known && count->said < first)
		fx_report_as(job->command,
			     "%s: %" PRIu64 " called for while another was on its way: %s has the "
			     "moments since",
			     host->name, first - count->count, job->output);
	count->said = first;
	return true;
}

static void rounds_take_counts(struct rounds *rounds, const fx_host_list *hosts)
{
	for (size_t i = 0; i < hosts->count; i++) {
		struct round_count *count = rounds_count_of(rounds, &hosts->items[i]);
		uint64_t first, last;

		if (!count ||
		    fx_host_numbers(&hosts->items[i], FX_SNAPSHOT_SO_FAR, &first, &last) == 0)
			continue;
		count->count = last;
		count->known = true;
	}
}

/* Whether a host has none because its recording has ended. */
static bool rounds_is_out(const struct fx_host *host)
{
	static const char *const words[] = {FX_SNAPSHOT_NONE, FX_SNAPSHOT_OVER, FX_SNAPSHOT_CALLED};
	bool is = false;

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		is |= fx_host_has_said(host, words[i]);
	return is;
}

/* Where nobody has any more, there was no moment. */
static bool rounds_had_one(const struct fx_hosts_job *job, const fx_host_list *hosts, bool told)
{
	struct rounds *rounds = job->opaque;
	bool are_out = true, any = false;

	rounds_list(hosts, rounds->list);
	rounds_take_counts(rounds, hosts);
	rounds->told = told;
	for (size_t i = 0; i < hosts->count; i++) {
		any |= fx_host_has_sent(&hosts->items[i]);
		are_out &= rounds_is_out(&hosts->items[i]);
	}
	return any || !(told || are_out);
}

static void rounds_run(const struct fx_hosts_job *of, char *list)
{
	char script[] = FX_HOSTS_SCRIPT_SNAPSHOT, path[PATH_MAX];
	struct rounds rounds = {.list = list};
	const struct fx_hosts_job job = {
	    .list = list,
	    .script = script,
	    .command = of->command,
	    .output = path,
	    .meanwhile = fx_hosts_moment_called,
	    .ended = rounds_had_one,
	    .was_called = rounds_was_called,
	    .opaque = &rounds,
	};

	for (unsigned n = 1; *rounds.list && !rounds.told; n++) {
		if (fx_snapshot_path(of->output, n, path, sizeof(path)) < 0)
			break;
		rounds.told = true; /* unless it comes to its end */
		fx_hosts_run(&job);
	}
	for (size_t i = 0; i < rounds.counts.count; i++)
		free(rounds.counts.items[i].name);
	fx_vector_free(&rounds.counts);
}

/* --- The process ------------------------------------------------------------------------------ */

static void rounds_fork(const struct fx_hosts_job *job, fx_host_list *hosts, char *list)
{
	struct fx_hosts_rounds *rounds = job->opaque;
	pid_t parent = getpid();

	fflush(NULL);
	rounds->pid = fork();
	if (rounds->pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGTERM);
		setpgid(0, 0); /* an interrupt of the terminal's is the parent's to tell of */
		/* Else the recordings would not end with the lines of life that the parent has. */
		for (size_t i = 0; i < hosts->count; i++)
			fx_host_end(&hosts->items[i]);
		if (getppid() == parent)
			rounds_run(job, list);
		exit(fx_usage_flush(job->command, 0));
	}
	if (rounds->pid < 0) {
		fx_report_as(job->command, "no snapshots: %s", strerror(errno));
		rounds->pid = 0;
	}
}

static void rounds_start(const struct fx_hosts_job *job, fx_host_list *hosts)
{
	char *list = malloc(strlen(job->list) + 1);

	if (!list) {
		fx_report_as(job->command, "no snapshots: %s", strerror(ENOMEM));
		return;
	}
	rounds_list(hosts, list);
	for (size_t i = 0; i < hosts->count; i++) {
		const struct fx_host *host = &hosts->items[i];

		if (host->pid && !fx_host_has_sent(host))
			fx_report_as(job->command, "%s: no snapshots: it does not answer",
				     host->name);
	}
	if (*list)
		rounds_fork(job, hosts, list);
	free(list);
}

bool fx_hosts_rounds_begin(const struct fx_hosts_job *job, fx_host_list *hosts, const char *folder,
			   const sigset_t *set)
{
	struct fx_hosts_watch watch;
	bool goes_on = true;
	int r = fx_hosts_watch_open(folder, set, &watch);

	if (r < 0) {
		fx_report_as(job->command, "no snapshots: %s", strerror(-r));
		return true;
	}
	while (goes_on && !rounds_all_begun(hosts) && !fx_hosts_watch_is_over(&watch))
		goes_on = fx_hosts_watch_wait(&watch, true);
	fx_hosts_watch_close(&watch);
	if (goes_on)
		rounds_start(job, hosts);
	for (size_t i = 0; i < hosts->count && !goes_on; i++)
		fx_host_end(&hosts->items[i]);
	return goes_on;
}

bool fx_hosts_rounds_end(const struct fx_hosts_job *job, const fx_host_list *hosts, bool told)
{
	struct fx_hosts_rounds *rounds = job->opaque;
	int number = SIGTERM;
	sigset_t blocked;

	(void)hosts;
	(void)told;
	sigprocmask(SIG_BLOCK, NULL, &blocked);
	/* What comes of a snapshot may take a while; who does not want to wait for that says so once more. */
	while (rounds->pid) {
		if (number != SIGCHLD && number != SIGPIPE)
			kill(rounds->pid, SIGTERM);
		if (waitpid(rounds->pid, NULL, WNOHANG) != 0 || sigwait(&blocked, &number) != 0)
			rounds->pid = 0;
	}
	return true;
}
