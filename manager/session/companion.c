/* SPDX-License-Identifier: MIT */
#include "manager/session/companion.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "manager/process/limits.h"
#include "manager/session/program.h"
#include "manager/settings/report.h"
#include "protocol/kernel-ready.h"

#define PROGRAM "fxtrace-kernel"

/* How long the program's begin waits for it. */
#define PATIENCE_MS 5000

/* With probes, whose breakpoints take the kernel some 10 ms each. */
#define PATIENCE_PROBES_MS 30000

/* As much of a command line as is looked through for programs. */
#define COMMAND_WORDS 64u

#define PARANOID "/proc/sys/kernel/perf_event_paranoid"

/* The kernel's word on who may see what; -2: none. */
static int paranoid_read(void)
{
	char text[16] = "";
	int fd = open(PARANOID, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd >= 0 ? read(fd, text, sizeof(text) - 1) : -1;

	if (fd >= 0)
		close(fd);
	return n > 0 ? atoi(text) : -2;
}

static void companion_complain(const struct fx_companion *c, int error)
{
	const char *what = c->hz ? "no samples are taken" : "the kernel's events are not recorded";
	int paranoid = paranoid_read();

	if ((error == -EACCES || error == -EPERM) && paranoid > 2)
		fx_report(
		    "%s: kernel.perf_event_paranoid is %d; `sysctl kernel.perf_event_paranoid=2' "
		    "by root, or CAP_PERFMON, permits it",
		    what, paranoid);
	else if (error == -EACCES || error == -EPERM)
		fx_report("%s: perf_event_open() is not permitted here; containers need "
			  "CAP_PERFMON and a "
			  "seccomp filter that lets it through",
			  what);
	else if (error == -ENOSYS || error == -ENOENT)
		fx_report("%s: this kernel has no performance events (perf_event_open())", what);
	else
		fx_report("%s: %s", what, fx_report_why(error));
}

/* Beside the running command; else where PATH has it. */
static int companion_find(char *ret, size_t size)
{
	char *slash;

	if (fx_program_own(ret, size) < 0)
		return -ENOENT;
	slash = strrchr(ret, '/');
	if (!slash || (size_t)(slash + 1 - ret) + sizeof(PROGRAM) > size)
		return -ENOENT;
	strcpy(slash + 1, PROGRAM);
	return access(ret, X_OK) == 0 ? 0 : -ENOENT;
}

static _Noreturn void companion_become(const struct fx_companion *c, const char *path,
				       pid_t program, int tell)
{
	char pid[16], hz[16], ready[16];
	char *argv[17 + COMMAND_WORDS] = {(char *)PROGRAM,
					  (char *)"--socket",
					  (char *)c->socket,
					  (char *)"--pid",
					  pid,
					  (char *)"--sample",
					  hz,
					  (char *)"--ready",
					  ready};
	unsigned count = 9;

	snprintf(pid, sizeof(pid), "%d", (int)program);
	snprintf(hz, sizeof(hz), "%u", c->hz);
	snprintf(ready, sizeof(ready), "%d", tell);
	if (c->switches)
		argv[count++] = (char *)"--switches";
	if (c->calls)
		argv[count++] = (char *)"--calls";
	if (c->alone)
		argv[count++] = (char *)"--alone";
	if (c->probes) {
		argv[count++] = (char *)"--probes";
		argv[count++] = (char *)c->probes;
		argv[count++] = (char *)"--";
		for (unsigned i = 0; i < COMMAND_WORDS && c->command[i]; i++)
			argv[count++] = c->command[i];
	}
	fcntl(tell, F_SETFD, 0);
	execv(path, argv);
	_exit(127);
}

/* 0 and what it said, or -errno. */
static int companion_hear(int from, int patience_ms, struct fx_kernel_ready *ret)
{
	struct pollfd one = {.fd = from, .events = POLLIN};
	int r;

	do
		r = poll(&one, 1, patience_ms);
	while (r < 0 && errno == EINTR);
	if (r == 0)
		return -ETIMEDOUT;
	if (r < 0 || read(from, ret, sizeof(*ret)) != sizeof(*ret))
		return -EIO;
	return ret->error;
}

/* That needs no start of a program. */
static void probes_allow(struct fx_companion *c)
{
	if (!c->probes || geteuid() == 0)
		return;
	fx_report("probes (sdt:) are not recorded: they take breakpoints of the kernel (uprobes), "
		  "which are root's to set");
	c->probes = NULL;
}

void fx_companion_start(struct fx_companion *c, pid_t program)
{
	struct fx_kernel_ready ready = {0};
	char path[PATH_MAX];
	int ends[2], r;

	probes_allow(c);
	if (!c->hz && !c->switches && !c->probes)
		return;
	r = companion_find(path, sizeof(path));
	if (r < 0) {
		fx_report("no samples and no kernel's events: " PROGRAM
			  " is not beside this command");
		return;
	}
	if (pipe2(ends, O_CLOEXEC) < 0) {
		companion_complain(c, -errno);
		return;
	}
	c->pid = fork();
	if (c->pid == 0)
		companion_become(c, path, program, ends[1]);
	r = c->pid < 0 ? -errno : 0;
	close(ends[1]);
	if (r == 0)
		r = companion_hear(ends[0], c->probes ? PATIENCE_PROBES_MS : PATIENCE_MS, &ready);
	c->said = ends[0];
	c->kernel = ready.kernel;
	c->points = ready.points;
	c->began = r == 0;
	if (r == 0)
		return;
	companion_complain(c, r);
	if (c->pid > 0)
		fx_companion_kill(c);
	else
		close(ends[0]);
}

void fx_companion_finish(const struct fx_companion *c)
{
	if (c->pid > 0)
		kill(c->pid, SIGTERM);
}

void fx_companion_report(const struct fx_companion *c)
{
	if (c->began && c->hz && !c->kernel)
		fx_report(
		    "samples do not show time inside the kernel: kernel.perf_event_paranoid is "
		    "%d; 1 permits it, and so does CAP_PERFMON",
		    paranoid_read());
	if (c->began && c->switches && !c->points)
		fx_report("who woke whom%s is not recorded: that is shown to root alone, or with "
			  "CAP_PERFMON "
			  "and a tracefs that may be read",
			  c->calls ? ", and system calls that the program does not record itself,"
				   : "");
}

static void companion_reap(struct fx_companion *c, int flags)
{
	while (waitpid(c->pid, NULL, flags) < 0 && errno == EINTR)
		;
	close(c->said);
	c->pid = 0;
}

/* What it does then, nobody waits for. */
bool fx_companion_is_over(struct fx_companion *c)
{
	struct pollfd one = {.fd = c->said, .events = POLLIN};

	if (c->pid <= 0)
		return true;
	if (poll(&one, 1, 0) <= 0)
		return false;
	companion_reap(c, WNOHANG);
	return true;
}

void fx_companion_kill(struct fx_companion *c)
{
	if (c->pid <= 0)
		return;
	kill(c->pid, SIGKILL);
	companion_reap(c, 0);
}
