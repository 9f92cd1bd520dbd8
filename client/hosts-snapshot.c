/* SPDX-License-Identifier: MIT */
/*
 * The last moments of several hosts, up to the same one. On each a command waits, which has said so before it is told to go on; a line of
 * standard input tells it. Or the manager of one takes a snapshot of its own, as its triggers say: then its archive begins to come, and the
 * others are told. So hosts are as far apart as a line of ssh's needs.
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "client/hosts-internal.h"
#include "client/snapshot.h"
#include "manager/settings/report.h"

/* How long a host may take until it waits. */
enum { MOMENT_PATIENCE_MS = 30000 };

static uint64_t moment_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

static bool moment_has_sent(const struct fx_host *host)
{
	struct stat st;

	return stat(host->archive, &st) == 0 && st.st_size > 0;
}

/* What is known of all. */
struct moment {
	size_t ready, unready; /* of those that are there */
	bool has_begun;	       /* one sends its archive */
};

static struct moment moment_look(fx_host_list *hosts)
{
	struct moment moment = {0};

	fx_hosts_reap(hosts);
	for (size_t i = 0; i < hosts->count; i++) {
		const struct fx_host *host = &hosts->items[i];

		moment.has_begun |= moment_has_sent(host);
		if (host->pid && fx_host_has_said(host, FX_SNAPSHOT_WAITS))
			moment.ready++;
		else if (host->pid)
			moment.unready++;
	}
	return moment;
}

/* Those that are ready go on; the others are too late. */
static void moment_tell(fx_host_list *hosts, const char *command)
{
	for (size_t i = 0; i < hosts->count; i++) {
		struct fx_host *host = &hosts->items[i];

		if (!host->pid || moment_has_sent(host))
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

/* Waits until something may have changed. False: a signal is to end all. */
static bool moment_wait(int files, int signals, int timeout)
{
	struct pollfd fds[] = {{.fd = files, .events = POLLIN}, {.fd = signals, .events = POLLIN}};
	struct signalfd_siginfo info;
	char events[4096];

	if (poll(fds, 2, timeout) <= 0)
		return true;
	if ((fds[0].revents & POLLIN) && read(files, events, sizeof(events)) < 0)
		return errno == EINTR || errno == EAGAIN;
	return !(fds[1].revents & POLLIN) || read(signals, &info, sizeof(info)) < 0 ||
	       info.ssi_signo == SIGCHLD;
}

static bool moment_has_come(fx_host_list *hosts, bool awaits, bool is_over)
{
	struct moment moment = moment_look(hosts);

	return moment.has_begun || moment.ready + moment.unready == 0 ||
	       (!awaits && (moment.unready == 0 || is_over));
}

static void moment_await(fx_host_list *hosts, const char *command, bool awaits, int files,
			 int signals)
{
	uint64_t begin = moment_ms(), took = 0;
	bool goes_on = true;

	while (goes_on && !moment_has_come(hosts, awaits, took >= MOMENT_PATIENCE_MS)) {
		goes_on =
		    moment_wait(files, signals, awaits ? -1 : (int)(MOMENT_PATIENCE_MS - took));
		took = moment_ms() - begin;
		if (took > MOMENT_PATIENCE_MS)
			took = MOMENT_PATIENCE_MS;
	}
	if (goes_on)
		moment_tell(hosts, command);
	for (size_t i = 0; i < hosts->count && !goes_on; i++)
		fx_host_end(&hosts->items[i]);
}

static void moment_of_hosts(fx_host_list *hosts, const char *command, const char *folder,
			    const sigset_t *set, void *opaque)
{
	int files = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	int signals = signalfd(-1, set, SFD_CLOEXEC | SFD_NONBLOCK);

	if (files >= 0 && signals >= 0 && inotify_add_watch(files, folder, IN_MODIFY) >= 0)
		moment_await(hosts, command, *(const bool *)opaque, files, signals);
	else
		fx_report_as(command, "%s", strerror(errno));
	if (files >= 0)
		close(files);
	if (signals >= 0)
		close(signals);
}

int fx_hosts_snapshot(const char *list, const char *command, const char *output, bool awaits)
{
	char script[] = "exec fxtrace snapshot --await -o -";

	return fx_hosts_run(list, script, command, output, moment_of_hosts, &awaits);
}
