/* SPDX-License-Identifier: MIT */
/* fxtrace-kernel: the provider that tells what the kernel says of the traced processes. `fxtrace run' starts it. */
#include <errno.h>
#include <inttypes.h>
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/wide-stack.h"
#include "kernel/asked.h"
#include "kernel/follow.h"
#include "kernel/options.h"
#include "kernel/probe-late.h"
#include "kernel/probes.h"
#include "kernel/provider.h"
#include "kernel/records.h"
#include "kernel/rings.h"
#include "kernel/shortfall.h"
#include "kernel/wanted-points.h"
#include "kernel/watch.h"
#include "protocol/kernel-ready.h"

/* How long it waits for records before it looks whether some were lost. */
#define WAIT_MS 50

/* --- Life --------------------------------------------------------------------------------------- */

static struct fx_rings *rings;

/*
 * libunwind blocks all signals and lets them in again around each look into its cache, since it may be called in handlers: two system calls a
 * frame, half of the time that a sample took. No handler of this program unwinds, and nothing else in it blocks signals by this function,
 * which libunwind comes to as well; glibc's own code does not pass through it.
 */
int sigprocmask(int how, const sigset_t *set, sigset_t *before)
{
	(void)how, (void)set;
	if (before)
		sigemptyset(before);
	return 0;
}

/* Async-signal-safe, as all of it. */
static void end_came(int number)
{
	(void)number;
	fx_rings_finish(rings);
}

/* It ends when it is told to, also by the end of its maker, and by nothing that a terminal sends. Its maker's end is told by SIGTERM, which
 * ends it as long as there are no rings. */
static void signals_prepare(void)
{
	static const int ignored[] = {SIGINT, SIGHUP, SIGQUIT, SIGPIPE};

	for (size_t i = 0; i < sizeof(ignored) / sizeof(ignored[0]); i++)
		signal(ignored[i], SIG_IGN);
}

static void signals_take(void)
{
	const struct sigaction end = {.sa_handler = end_came, .sa_flags = SA_RESTART};

	sigaction(SIGTERM, &end, NULL);
}

static void ready_tell(int fd, const struct fx_kernel_ready *ready)
{
	ssize_t told;

	if (fd < 0)
		return;
	told = write(fd, ready, sizeof(*ready));
	(void)told;
}

/* What programs did not tell is of no matter to who is who: lives are told by the rings' own records, and programs that were not run made none of these. */
static void losses_tell(struct fx_watch *watch, struct fx_follow *follow)
{
	uint64_t lost = fx_rings_lost(rings);

	if (follow)
		fx_kernel_lost(fx_follow_untold(follow));
	if (!lost)
		return;
	fx_kernel_lost(lost);
	fx_watch_lost(watch);
}

/* For how long tracing may not have been seen to run yet. */
#define BEGIN_NS UINT64_C(10000000000)

/* The end of tracing, also by the manager's end, is that of a provider of one session. */
static void session_look(bool *was_on, uint64_t began)
{
	bool is_on = fx_kernel_is_on();

	if (!is_on && (*was_on || fx_monotonic_ns() > began + BEGIN_NS))
		fx_rings_finish(rings);
	*was_on |= is_on;
}

static void records_work(struct fx_watch *watch, struct fx_follow *follow,
			 struct fx_late_probes *late, bool session)
{
	uint64_t began = fx_monotonic_ns();
	struct fx_shortfall shortfall = {0};
	bool was_on = false;

	while (!fx_rings_is_over(rings)) {
		struct fx_ring_record *record = fx_rings_next(rings, WAIT_MS);

		if (record)
			fx_watch_take(watch, record);
		else
			losses_tell(watch, follow);
		if (!record)
			fx_late_probes_tell(late);
		fx_shortfall_look(&shortfall, follow);
		free(record);
		if (session)
			session_look(&was_on, began);
	}
	fx_watch_finish(watch);
	losses_tell(watch, follow);
	fx_shortfall_tell(&shortfall, follow);
	fx_late_probes_tell(late);
}

/* One thread takes memory, another gives it back, all the time: the same is used again, and not given to the system in between. */
static void memory_prepare(void)
{
	mallopt(M_ARENA_MAX, 1);
	mallopt(M_TOP_PAD, 1 << 20);
	mallopt(M_TRIM_THRESHOLD, 64 << 20);
}

static int complain(const char *what, int error)
{
	fprintf(stderr, FX_KERNEL_NAME ": %s: %s\n", what, strerror(-error));
	return 1;
}

/* Of what was asked for what is there: of the tracepoints all or none. */
static uint32_t sets_had(const struct fx_kernel_options *options,
			 const struct fx_wanted_points *points)
{
	uint32_t sets = fx_kernel_options_sets(options) & FX_KERNEL_FAULT;

	if (fx_rings_late(rings))
		sets |= FX_KERNEL_PROBES;

	if (!fx_rings_have_tracepoints(rings))
		return sets;
	sets |= points->tracepoints.sets;
	if (points->named.count)
		sets |= FX_KERNEL_POINTS;
	return sets;
}

/* Whether programs are of use: for calls, or for what threads would inherit otherwise, or all threads of the machine tell. */
static bool follow_helps(const struct fx_wanted_points *points)
{
	bool inherits = false;

	for (unsigned i = 0; i < points->count; i++)
		inherits |= !points->list[i].is_wide;
	return points->tracepoints.sets & FX_KERNEL_TEXTS || inherits;
}

/* Without them, threads inherit events, and what system calls are given is shown as addresses. Switches of all threads, events tell. */
static int follow_ask(struct fx_kernel_wish *wish, struct fx_wanted_points *points,
		      struct fx_follow **ret)
{
	uint32_t sets = FX_KERNEL_CALLS | (wish->machine ? 0 : FX_KERNEL_WAKEUPS);
	int r = 0;

	fx_follow_destroy(*ret);
	*ret = NULL;
	if (follow_helps(points))
		r = fx_follow_create(wish->pid, wish->everyone ? wish->manager : NULL,
				     &points->tracepoints, ret);
	if (*ret) {
		r = fx_follow_sets(*ret, sets);
		fx_wanted_points_follow(points, *ret, wish->everyone);
	}
	wish->follow = *ret;
	return points->tracepoints.sets & FX_KERNEL_TEXTS ? r : 0;
}

/* Where the whole machine may not be seen, the program still may. */
static int kernel_ask(struct fx_kernel_options *options, struct fx_wanted_points *points,
		      struct fx_probes *probes, struct fx_follow **follow,
		      struct fx_kernel_ready *ready)
{
	struct fx_kernel_wish *wish = &options->wish;
	uint32_t sets = fx_kernel_options_sets(options);
	bool kernel = false;
	int r;

	wish->manager = options->socket;
	wish->faults = sets & FX_KERNEL_FAULT;
	wish->late = options->probes != NULL;
	fx_wanted_points_find(sets, options->categories, wish->machine, points);
	ready->texts = follow_ask(wish, points, follow);
	wish->points = points->list;
	wish->point_count = points->count;
	if (options->probes)
		fx_probes_begin(probes, options->probes, options->command, wish);
	r = fx_rings_open(wish, &rings, &kernel);
	ready->kernel = kernel;
	if (!wish->machine || (r != -EACCES && r != -EPERM))
		return r;
	wish->machine = false;
	fx_wanted_points_free(points);
	fx_probes_end(probes);
	return kernel_ask(options, points, probes, follow, ready);
}

static void categories_know(const struct fx_kernel_wish *wish, uint32_t sets)
{
	static const struct {
		uint32_t bit;
		const char *category, *help;
	} known[] = {
#define KNOWN_(sym, bit, category, help) {FX_KERNEL_##sym, category, help},
	    FX_KERNEL_SETS(KNOWN_)
#undef KNOWN_
	};

	if (wish->hz)
		fx_kernel_knows("sample",
				"what threads compute: stacks of those that have a processor");
	if (wish->switches)
		fx_kernel_knows("sched", "which threads have a processor, and when");
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		if (known[i].help && sets & known[i].bit)
			fx_kernel_knows(known[i].category, known[i].help);
	}
}

static int kernel_main(int argc, char **argv)
{
	static struct fx_kernel_options options;
	static struct fx_wanted_points points;
	struct fx_probes probes = {.numbers = NULL};
	struct fx_kernel_ready ready = {.has_points = fx_points_are_known()};
	struct fx_watch *watch;
	struct fx_late_probes *late = NULL;
	struct fx_follow *follow = NULL;
	uint32_t asked;
	int r;

	memory_prepare();
	signals_prepare();
	fx_kernel_options_take(argc, argv, &options);
	asked = fx_kernel_options_sets(&options);
	r = kernel_ask(&options, &points, &probes, &follow, &ready);
	if (r == 0)
		r = fx_watch_create(&options.wish,
				    fx_rings_have_tracepoints(rings) ? &points : NULL,
				    options.alone, &watch);
	if (r == 0)
		r = fx_rings_start(rings);
	/* What was said before there was a ring, nobody has asked for. */
	if (r == 0 && follow)
		fx_follow_untold(follow);
	if (r == 0)
		signals_take();
	ready.error = r;
	ready.asked = asked;
	ready.is_cut = points.is_cut;
	ready.sets = r == 0 ? sets_had(&options, &points) : 0;
	memcpy(ready.unknown, points.unknown, sizeof(ready.unknown));
	ready_tell(options.ready, &ready);
	if (r < 0) {
		fx_probes_end(&probes);
		return options.ready < 0 ? complain("cannot ask the kernel", r) : 1;
	}
	if (fx_rings_late(rings))
		fx_late_probes_create(options.probes, &probes.list, rings, &late);
	fx_watch_let_follow(watch, follow);
	fx_watch_let_probes(watch, fx_rings_have_tracepoints(rings) ? &probes.list : NULL, late);
	if (!fx_rings_have_tracepoints(rings))
		fx_probes_refused(&probes);
	categories_know(&options.wish, ready.sets);
	for (size_t i = 0; i < probes.list.probes.count; i++)
		fx_kernel_knows(probes.list.probes.items[i].category, FX_PROBE_DESCRIPTION);
	/* Whoever waits for it to be registered may go on then. */
	fx_watch_meet(watch);
	r = fx_kernel_register(options.socket);
	if (r < 0) {
		fx_late_probes_destroy(late);
		fx_rings_close(rings);
		fx_probes_end(&probes);
		return complain(options.socket, r);
	}
	fx_watch_begin(watch);
	records_work(watch, follow, late, options.session);
	fx_kernel_leave();
	/* Whoever has started it need not wait for what follows: the kernel takes its time to close tracepoints. */
	signal(SIGTERM, SIG_IGN);
	if (options.ready >= 0)
		close(options.ready);
	fx_late_probes_destroy(late);
	fx_rings_close(rings);
	fx_follow_destroy(follow);
	fx_watch_destroy(watch);
	fx_wanted_points_free(&points);
	fx_probes_end(&probes);
	return 0;
}

int main(int argc, char **argv)
{
	return fx_wide_stack_call(kernel_main, argc, argv);
}
