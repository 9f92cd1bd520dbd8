/* SPDX-License-Identifier: MIT */
/* fxtrace-kernel: the provider that tells what the kernel says of the traced processes. `fxtrace run' starts it. */
#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "kernel/probes.h"
#include "kernel/provider.h"
#include "kernel/records.h"
#include "kernel/rings.h"
#include "kernel/tracepoint.h"
#include "kernel/watch.h"
#include "protocol/kernel-ready.h"

#define NAME "fxtrace-kernel"

/* How long it waits for records before it looks whether some were lost. */
#define WAIT_MS 50

struct kernel_options {
	const char *socket;
	struct fx_kernel_wish wish;
	bool alone;	    /* not of what it starts */
	bool calls;	    /* system calls, too */
	const char *probes; /* a list of categories; NULL: none, */
	char **command;	    /* and the program whose probes these are, with its arguments */
	int ready;	    /* -1: nobody is told */
};

static const char usage[] =
    "Usage: fxtrace-kernel --socket PATH --pid PID [--sample HZ] [--switches] [--calls] [--alone] "
    "[--ready FD] "
    "[--probes LIST -- COMMAND...]\n"
    "Tells the manager at PATH what the kernel says of process PID and of what it starts.\n"
    "It is started by `fxtrace run --sample' and `--kernel', and ends by SIGTERM.\n";

static _Noreturn void usage_end(FILE *to, int status)
{
	fputs(usage, to);
	exit(status);
}

static long option_number(const char *name, const char *text, long most)
{
	char *end;
	long number;

	errno = 0;
	number = strtol(text, &end, 10);
	if (errno || end == text || *end || number < 0 || number > most) {
		fprintf(stderr, NAME ": --%s: not a number from 0 to %ld: %s\n", name, most, text);
		exit(2);
	}
	return number;
}

static void options_take(int argc, char **argv, struct kernel_options *ret)
{
	static const struct option table[] = {
	    {"socket", required_argument, NULL, 's'}, {"pid", required_argument, NULL, 'p'},
	    {"sample", required_argument, NULL, 'f'}, {"switches", no_argument, NULL, 'w'},
	    {"alone", no_argument, NULL, 'a'},	      {"calls", no_argument, NULL, 'c'},
	    {"probes", required_argument, NULL, 'q'}, {"ready", required_argument, NULL, 'r'},
	    {"help", no_argument, NULL, 'h'},	      {NULL, 0, NULL, 0},
	};
	int key;

	*ret = (struct kernel_options){.ready = -1};
	while ((key = getopt_long(argc, argv, "", table, NULL)) >= 0) {
		switch (key) {
		case 's':
			ret->socket = optarg;
			break;
		case 'p':
			ret->wish.pid = (pid_t)option_number("pid", optarg, INT32_MAX);
			break;
		case 'f':
			ret->wish.hz = (uint32_t)option_number("sample", optarg, 1000000);
			break;
		case 'w':
			ret->wish.switches = true;
			break;
		case 'c':
			ret->calls = true;
			break;
		case 'a':
			ret->alone = true;
			break;
		case 'q':
			ret->probes = optarg;
			break;
		case 'r':
			ret->ready = (int)option_number("ready", optarg, INT32_MAX);
			break;
		case 'h':
			usage_end(stdout, 0);
		default:
			usage_end(stderr, 2);
		}
	}
	ret->command = argv + optind;
	if (!ret->socket || ret->wish.pid <= 0 || (ret->probes != NULL) != (optind < argc))
		usage_end(stderr, 2);
}

/* --- Life --------------------------------------------------------------------------------------- */

static struct fx_rings *rings;

/* Async-signal-safe, as all of it. */
static void end_came(int number)
{
	(void)number;
	fx_rings_finish(rings);
}

/* It ends when it is told to, also by the end of its maker, and by nothing that a terminal sends. */
static void signals_prepare(void)
{
	const struct sigaction end = {.sa_handler = end_came, .sa_flags = SA_RESTART};
	static const int ignored[] = {SIGINT, SIGHUP, SIGQUIT, SIGPIPE};

	for (size_t i = 0; i < sizeof(ignored) / sizeof(ignored[0]); i++)
		signal(ignored[i], SIG_IGN);
	sigaction(SIGTERM, &end, NULL);
	prctl(PR_SET_PDEATHSIG, SIGTERM);
}

static void ready_tell(int fd, int error, bool points, bool kernel)
{
	const struct fx_kernel_ready ready = {error, points, kernel};
	ssize_t told;

	if (fd < 0)
		return;
	told = write(fd, &ready, sizeof(ready));
	(void)told;
}

static void losses_tell(void)
{
	uint64_t lost = fx_rings_lost(rings);

	if (lost)
		fx_kernel_lost(lost);
}

static void records_work(struct fx_watch *watch)
{
	while (!fx_rings_is_over(rings)) {
		struct fx_ring_record *record = fx_rings_next(rings, WAIT_MS);

		if (record)
			fx_watch_take(watch, record);
		else
			losses_tell();
		free(record);
	}
	fx_watch_finish(watch);
	losses_tell();
}

static int complain(const char *what, int error)
{
	fprintf(stderr, NAME ": %s: %s\n", what, strerror(-error));
	return 1;
}

int main(int argc, char **argv)
{
	struct kernel_options options;
	struct fx_probes probes = {.numbers = NULL};
	struct fx_tracepoints points;
	struct fx_watch *watch;
	bool kernel = false, has_points;
	int r;

	options_take(argc, argv, &options);
	if (options.wish.switches && fx_tracepoints_find(&points) == 0) {
		options.wish.tracepoints = points.numbers;
		options.wish.tracepoint_count =
		    FX_TRACEPOINT_COUNT - (options.calls ? 0 : FX_TRACEPOINTS_OF_CALLS);
	}
	if (options.probes)
		fx_probes_begin(&probes, options.probes, options.command, &options.wish);
	r = fx_rings_open(&options.wish, &rings, &kernel);
	has_points = r == 0 && fx_rings_have_tracepoints(rings);
	if (r == 0)
		r = fx_watch_create(&options.wish,
				    has_points && options.wish.switches ? &points : NULL,
				    options.alone, &watch);
	if (r == 0)
		r = fx_rings_start(rings);
	if (r == 0)
		signals_prepare();
	ready_tell(options.ready, r, has_points, kernel);
	if (r < 0) {
		fx_probes_end(&probes);
		return options.ready < 0 ? complain("cannot ask the kernel", r) : 1;
	}
	if (has_points)
		fx_watch_let_probes(watch, &probes.list);
	else
		fx_probes_refused(&probes);
	if (options.wish.hz)
		fx_kernel_knows("sample",
				"what threads compute: stacks of those that have a processor");
	if (options.wish.switches)
		fx_kernel_knows("sched", "which threads have a processor, and when");
	for (size_t i = 0; i < probes.list.probes.count; i++)
		fx_kernel_knows(probes.list.probes.items[i].category,
				"a static probe of the program or a library");
	r = fx_kernel_register(options.socket);
	if (r < 0) {
		fx_rings_close(rings);
		fx_probes_end(&probes);
		return complain(options.socket, r);
	}
	records_work(watch);
	fx_kernel_leave();
	/* Whoever has started it need not wait for what follows: the kernel takes its time to close tracepoints. */
	signal(SIGTERM, SIG_IGN);
	if (options.ready >= 0)
		close(options.ready);
	fx_rings_close(rings);
	fx_watch_destroy(watch);
	fx_probes_end(&probes);
	return 0;
}
