/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "client/commands.h"
#include "client/hosts-internal.h"
#include "client/usage.h"
#include "manager/settings/report.h"

static char *hosts_path(const char *folder, const char *name, const char *tail)
{
	char *path = NULL, *c;

	if (asprintf(&path, "%s/%s%s", folder, name, tail) < 0)
		return NULL;
	for (c = path + strlen(folder) + 1; *c; c++) {
		if (*c == '/')
			*c = '_';
	}
	return path;
}

/* Splits the comma list. 0, -ENOMEM, or -EINVAL: a name is empty, an option of ssh's, or there twice. */
static int hosts_read(const char *folder, char *list, fx_host_list *ret)
{
	char *next = list, *name;

	while ((name = strsep(&next, ","))) {
		struct fx_host host = {.name = name, .life = -1};

		if (!*name || *name == '-')
			return -EINVAL;
		for (size_t i = 0; i < ret->count; i++) {
			if (strcmp(ret->items[i].name, name) == 0)
				return -EINVAL;
		}
		host.archive = hosts_path(folder, name, ".fxt");
		host.messages = hosts_path(folder, name, ".messages");
		if (!host.archive || !host.messages || fx_vector_reserve(ret, 1) < 0)
			return -ENOMEM;
		ret->items[ret->count++] = host;
	}
	return 0;
}

bool fx_hosts_reap(fx_host_list *hosts)
{
	bool any = false;

	for (size_t i = 0; i < hosts->count; i++) {
		struct fx_host *host = &hosts->items[i];

		if (host->pid && waitpid(host->pid, &host->status, WNOHANG) == host->pid) {
			host->pid = 0;
			fx_host_end(host);
		}
		any |= host->pid != 0;
	}
	return any;
}

/* A first signal ends the recordings, a second one what brings them. Whether one came. */
static bool hosts_wait(fx_host_list *hosts, const sigset_t *set)
{
	bool told = false;
	int number;

	while (fx_hosts_reap(hosts)) {
		if (sigwait(set, &number) != 0 || number == SIGCHLD)
			continue;
		for (size_t i = 0; i < hosts->count; i++) {
			fx_host_end(&hosts->items[i]);
			if (told && hosts->items[i].pid)
				kill(hosts->items[i].pid, SIGTERM);
		}
		told = true;
	}
	return told;
}

/* What came becomes one archive. The status. */
static int hosts_merge(fx_host_list *hosts, const char *command, const char *output)
{
	const char **argv = calloc(hosts->count + 6, sizeof(*argv));
	int argc = 0, status = FX_EXIT_FAILURE;
	pid_t pid;

	if (!argv)
		return FX_EXIT_FAILURE;
	argv[argc++] = "fxtrace merge";
	argv[argc++] = "-o";
	argv[argc++] = output;
	argv[argc++] = "--";
	for (size_t i = 0; i < hosts->count; i++) {
		struct fx_host *host = &hosts->items[i];

		host->has_recorded = fx_host_has_recorded(host, command);
		if (host->has_recorded)
			argv[argc++] = host->archive;
	}
	if (argc > 4) {
		fflush(NULL);
		pid = fork();
		if (pid == 0)
			exit(fx_usage_flush(command, fx_cmd_merge(argc, (char **)argv)));
		while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
			;
		status = pid > 0 && WIFEXITED(status) ? WEXITSTATUS(status) : FX_EXIT_FAILURE;
	}
	free(argv);
	return status;
}

/* How the first program that did not end well has ended. */
static int hosts_status(const fx_host_list *hosts)
{
	for (size_t i = 0; i < hosts->count; i++) {
		const struct fx_host *host = &hosts->items[i];

		if (host->has_recorded && WIFEXITED(host->status) && WEXITSTATUS(host->status) != 0)
			return WEXITSTATUS(host->status);
	}
	return 0;
}

/* What is in the one archive is not needed any more. */
static void hosts_forget(const fx_host_list *hosts)
{
	for (size_t i = 0; i < hosts->count; i++)
		unlink(hosts->items[i].archive);
}

static void hosts_block(sigset_t *set)
{
	sigemptyset(set);
	sigaddset(set, SIGCHLD);
	sigaddset(set, SIGINT);
	sigaddset(set, SIGTERM);
	sigaddset(set, SIGHUP);
	/* Of those that have ended: it stays pending. */
	sigaddset(set, SIGPIPE);
	sigprocmask(SIG_BLOCK, set, NULL);
	sigdelset(set, SIGPIPE);
}

static int hosts_work(const struct fx_hosts_job *job, fx_host_list *hosts, const char *folder)
{
	bool told = false;
	sigset_t set;
	int status;

	hosts_block(&set);
	for (size_t i = 0; i < hosts->count; i++) {
		int r = fx_host_start(&hosts->items[i], job->script);

		if (r < 0)
			fx_report_as(job->command, "%s: %s", hosts->items[i].name, strerror(-r));
	}
	if (job->meanwhile)
		told = !job->meanwhile(job, hosts, folder, &set);
	told |= hosts_wait(hosts, &set);
	if (job->ended && !job->ended(job, hosts, told))
		return FX_EXIT_FAILURE;
	status = hosts_merge(hosts, job->command, job->output);
	if (status)
		return status;
	hosts_forget(hosts);
	return hosts_status(hosts);
}

/* What could not be merged is kept. */
static void hosts_release(fx_host_list *hosts, const char *command, const char *folder)
{
	for (size_t i = 0; i < hosts->count; i++) {
		if (!hosts->items[i].has_recorded)
			unlink(hosts->items[i].archive);
		unlink(hosts->items[i].messages);
		free(hosts->items[i].archive);
		free(hosts->items[i].messages);
	}
	if (rmdir(folder) < 0)
		fx_report_as(command, "what the hosts have recorded is kept in %s", folder);
	fx_vector_free(hosts);
}

int fx_hosts_run(const struct fx_hosts_job *job)
{
	char folder[PATH_MAX], *copy = strdup(job->list);
	fx_host_list all = {0};
	int status = FX_EXIT_FAILURE, r;

	snprintf(folder, sizeof(folder), "%s.hosts-XXXXXX", job->output);
	if (!copy || !job->script || !mkdtemp(folder)) {
		fx_report_as(job->command, "%s: %s", job->output,
			     strerror(copy && job->script ? errno : ENOMEM));
		free(copy);
		return status;
	}
	r = hosts_read(folder, copy, &all);
	if (r == 0)
		status = hosts_work(job, &all, folder);
	hosts_release(&all, job->command, folder);
	free(copy);
	if (r == -EINVAL)
		fx_usage_error(job->command, "--hosts: not a comma list of hosts, each there once",
			       job->list);
	return status;
}

int fx_hosts_record(struct fx_hosts *hosts, const char *command, const char *output, char **program,
		    bool has_snapshots)
{
	struct fx_hosts_rounds rounds = {0};
	struct fx_hosts_job job = {
	    .list = hosts->list,
	    .script = fx_hosts_script(hosts, program),
	    .command = command,
	    .output = output,
	    .opaque = &rounds,
	};
	int status;

	if (has_snapshots) {
		job.meanwhile = fx_hosts_rounds_begin;
		job.ended = fx_hosts_rounds_end;
	}
	status = fx_hosts_run(&job);
	free(job.script);
	return status;
}
