/* SPDX-License-Identifier: MIT */
#include "manager/session/companion.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "manager/process/kernel-rights.h"
#include "manager/process/limits.h"
#include "manager/session/program.h"
#include "manager/settings/report.h"
#include "manager/settings/wanted.h"

/* How long the program's begin waits for it. */
#define PATIENCE_MS 15000

/* With tracepoints that the user names, or probes: the kernel takes some 10 ms for each, and on a busy machine a third of a second, since it
 * waits until every processor has been somewhere else. */
#define PATIENCE_MANY_MS 60000

/* As much of a command line as is looked through for programs. */
#define COMMAND_WORDS 64u

static void companion_complain(const struct fx_companion *c, int error)
{
	const char *what = c->hz ? "no samples are taken" : "the kernel's events are not recorded";

	fx_report("%s: %s", what,
		  error == -ETIMEDOUT || error == -EIO ? fx_report_why(error)
						       : fx_kernel_cure(FX_KERNEL_OF_OWN, error));
}

/* Beside the running command; else where PATH has it. */
static int companion_find(char *ret, size_t size)
{
	char *slash;

	if (fx_program_own(ret, size) < 0)
		return -ENOENT;
	slash = strrchr(ret, '/');
	if (!slash || (size_t)(slash + 1 - ret) + sizeof(FX_COMPANION_NAME) > size)
		return -ENOENT;
	strcpy(slash + 1, FX_COMPANION_NAME);
	return access(ret, X_OK) == 0 ? 0 : -ENOENT;
}

/* Nobody is to wait for the end of what it has of its maker: its terminal, pipes, its folder. */
static void companion_detach(void)
{
	int nothing = open("/dev/null", O_RDWR);

	setsid();
	if (chdir("/") < 0 || nothing < 0)
		_exit(127);
	for (int fd = 0; fd <= 2; fd++)
		dup2(nothing, fd);
	if (nothing > 2)
		close(nothing);
}

static _Noreturn void companion_become(const struct fx_companion *c, const char *path,
				       pid_t program, pid_t maker, int tell)
{
	char pid[16], hz[16], ready[16];
	char *argv[22 + COMMAND_WORDS] = {(char *)FX_COMPANION_NAME,
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
	if (c->everyone)
		argv[count++] = (char *)"--everyone";
	if (c->machine)
		argv[count++] = (char *)"--machine";
	if (c->alone)
		argv[count++] = (char *)"--alone";
	if (c->stays)
		argv[count++] = (char *)FX_COMPANION_SESSION;
	if (c->categories && *c->categories) {
		argv[count++] = (char *)"--categories";
		argv[count++] = (char *)c->categories;
	}
	if (c->probes) {
		argv[count++] = (char *)"--probes";
		argv[count++] = (char *)c->probes;
	}
	if (c->probes && c->command) {
		argv[count++] = (char *)"--";
		for (unsigned i = 0; i < COMMAND_WORDS && c->command[i]; i++)
			argv[count++] = c->command[i];
	}
	/* Else it is to end with its maker, who may have ended meanwhile. */
	if (c->stays)
		companion_detach();
	else if (prctl(PR_SET_PDEATHSIG, SIGTERM) < 0 || getppid() != maker)
		_exit(0);
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

static int companion_patience(const struct fx_companion *c)
{
	bool has_points = c->categories && strstr(c->categories, "tracepoint:");

	return c->probes || has_points ? PATIENCE_MANY_MS : PATIENCE_MS;
}

bool fx_companion_is_wanted(const struct fx_companion *c)
{
	return c->hz || c->switches || c->probes || fx_words_ask_kernel(c->categories);
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
	char path[PATH_MAX];
	pid_t maker;
	int ends[2], r;

	probes_allow(c);
	if (!fx_companion_is_wanted(c))
		return;
	r = companion_find(path, sizeof(path));
	if (r < 0) {
		fx_report("no samples and no kernel's events: " FX_COMPANION_NAME
			  " is not beside this command");
		return;
	}
	if (pipe2(ends, O_CLOEXEC) < 0) {
		companion_complain(c, -errno);
		return;
	}
	maker = getpid();
	c->pid = fork();
	if (c->pid == 0)
		companion_become(c, path, program, maker, ends[1]);
	r = c->pid < 0 ? -errno : 0;
	close(ends[1]);
	if (r == 0)
		r = companion_hear(ends[0], companion_patience(c), &c->ready);
	c->said = ends[0];
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

/* What was asked for and is not there, in words. */
static bool companion_missing(uint32_t sets, char *ret, size_t size)
{
	static const struct {
		uint32_t bit;
		const char *what;
	} words[] = {
	    {FX_KERNEL_WAKEUPS, "who woke whom"},
	    {FX_KERNEL_MIGRATIONS, "what threads of other programs do"},
	    {FX_KERNEL_CALLS, "system calls that the program does not record itself"},
	    {FX_KERNEL_IRQ, "kernel:irq"},
	    {FX_KERNEL_BLOCK, "kernel:block"},
	    {FX_KERNEL_FAULT, "kernel:fault"},
	    {FX_KERNEL_NET, "kernel:net"},
	    {FX_KERNEL_POINTS, "tracepoints by name"},
	};
	size_t used = 0;

	ret[0] = 0;
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]) && used < size; i++) {
		if (sets & words[i].bit)
			used += (size_t)snprintf(ret + used, size - used, "%s%s", used ? ", " : "",
						 words[i].what);
	}
	return used > 0;
}

/* Why what pointers of system calls point to is not told, which takes more than tracepoints. */
static void companion_report_texts(int error)
{
	fx_report(
	    "paths that system calls are given are shown as addresses: %s",
	    error == -EPERM || error == -EACCES
		? "programs of BPF are not permitted here: they need CAP_BPF and CAP_PERFMON, "
		  "or root"
	    : error == -ENOENT ? "this kernel does not describe its types (/sys/kernel/btf/vmlinux)"
			       : "this kernel has no programs of BPF for tracepoints");
}

static void companion_report_missing(uint32_t sets, int right)
{
	char missing[320];

	if (right == 0)
		sets &= ~(uint32_t)FX_KERNEL_POINTS;
	if (companion_missing(sets, missing, sizeof(missing)))
		fx_report("%s: not recorded: %s", missing,
			  right < 0 ? fx_kernel_cure(FX_KERNEL_OF_POINTS, right)
				    : "this kernel has no such tracepoints");
}

/* Of those that the user names, where tracepoints are permitted. */
static void companion_report_points(const struct fx_kernel_ready *ready)
{
	if (!ready->has_points)
		fx_report("tracepoints by name: not recorded: this fxtrace was built without "
			  "libtraceevent");
	else if (ready->unknown[0])
		fx_report("%.*s: this kernel has no such tracepoint (they stand in "
			  "/sys/kernel/tracing/events)",
			  (int)sizeof(ready->unknown), ready->unknown);
	else if (!(ready->sets & FX_KERNEL_POINTS))
		fx_report("tracepoints by name: not recorded: the kernel refused one of them");
	if (ready->is_cut)
		fx_report("tracepoints by name: there are more than can be recorded at once");
}

void fx_companion_report(const struct fx_companion *c)
{
	int right;

	if (!c->began)
		return;
	if (c->hz && !c->ready.kernel)
		fx_report("samples do not show time inside the kernel: %s",
			  fx_kernel_cure(FX_KERNEL_OF_ITSELF, -EACCES));
	if (c->ready.texts < 0)
		companion_report_texts(c->ready.texts);
	if (c->ready.asked == c->ready.sets && !c->ready.unknown[0] && !c->ready.is_cut)
		return;
	if (c->ready.asked & ~c->ready.sets & FX_KERNEL_PROBES)
		fx_report("probes (sdt:) of what is mapped later are not recorded: the kernel "
			  "gives no room to tell them in");
	right = fx_kernel_right(FX_KERNEL_OF_POINTS);
	companion_report_missing(c->ready.asked & ~c->ready.sets, right);
	if (c->ready.asked & FX_KERNEL_POINTS && right == 0)
		companion_report_points(&c->ready);
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
