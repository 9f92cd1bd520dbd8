/* SPDX-License-Identifier: MIT */
/*
 * fxtrace top [FILE]: what a running session does. It follows the session's archive as `replay --follow' does: the
 * manager and the traced programs do not know of it, so it costs them nothing, and any archive that grows will do.
 */
#include "config.h"

#include <argp.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/escape.h"
#include "client/archive.h"
#include "client/commands.h"
#include "client/link.h"
#include "client/quantity.h"
#include "client/screen.h"
#include "client/tail.h"
#include "client/usage.h"
#include "manager/settings/report.h"
#include "report/live.h"

enum {
	OPTION_BATCH = FX_USAGE_KEYS,
	OPTION_INTERVAL,
	OPTION_SORT,
	OPTION_SOCKET_OF_TOP,
	OPTION_THREADS,
};

struct top_options {
	const char *program;
	const char *file;   /* NULL: the manager's session's */
	const char *socket; /* NULL: at the usual place */
	bool batch;
	uint64_t count; /* samples; 0: until the session is over */
	uint64_t interval;
	struct fx_screen_view view;
};

/* What the thread that reads and the one that shows share. */
struct top {
	pthread_mutex_t lock;
	struct fx_live live;
	int fd;	     /* where the archive comes from */
	int over[2]; /* a pipe that is closed when it has ended */
	int error;   /* 0 or -errno, then */
	struct fxt_fault fault;
	uint64_t faults;
};

static const struct argp_option option_table[] = {
    {"batch", OPTION_BATCH, NULL, 0, "Print samples as text, for a file or a pipe", 1},
    {"count", 'n', "COUNT", 0, "End after so many samples", 1},
    {"interval", OPTION_INTERVAL, "TIME", 0, "Time between samples, with ms, s or min (1s)", 1},
    {"sort", OPTION_SORT, "calls|waiting|bytes|locks|heap|id", 0, "What comes first (calls)", 1},
    {"threads", OPTION_THREADS, NULL, 0, "Show threads too", 1},
    {"socket", OPTION_SOCKET_OF_TOP, "PATH", 0,
     "Of the manager whose session is watched, if no FILE is given", 1},
    FX_USAGE_OPTIONS,
    {0},
};

static void top_set_sort(struct top_options *options, const char *value)
{
	static const char *const names[] = {
#define FX_TOP_SORT_(name, text, unit) text,
	    FX_LIVE_COUNTS(FX_TOP_SORT_)
#undef FX_TOP_SORT_
		"heap",
	    "id"};

	for (int i = 0; i < (int)(sizeof(names) / sizeof(*names)); i++) {
		if (strcmp(names[i], value) == 0) {
			options->view.order = i;
			return;
		}
	}
	fx_usage_error(options->program, "not calls, waiting, bytes, locks, heap or id", value);
}

static void top_check(const struct top_options *options)
{
	if (!options->batch && !(isatty(STDIN_FILENO) && isatty(STDOUT_FILENO)))
		fx_usage_error(options->program, "not a terminal; --batch prints text", NULL);
	if (options->file && strcmp(options->file, "-") == 0)
		fx_usage_error(options->program, "it needs a file that grows", NULL);
}

static error_t top_parse_option(int key, char *arg, struct argp_state *state)
{
	struct top_options *options = state->input;

	switch (key) {
	case OPTION_BATCH:
		options->batch = true;
		return 0;
	case 'n':
		if (!fx_quantity_parse(arg, FX_QUANTITY_COUNTS, &options->count) ||
		    options->count == 0)
			fx_usage_error(options->program, "-n: not a number above 0", arg);
		return 0;
	case OPTION_INTERVAL:
		if (!fx_quantity_parse(arg, FX_QUANTITY_TIMES, &options->interval) ||
		    options->interval < 10000000 || options->interval > UINT64_C(1000000000000))
			fx_usage_error(options->program,
				       "--interval: not a time from 10ms to 1000s", arg);
		return 0;
	case OPTION_SORT:
		top_set_sort(options, arg);
		return 0;
	case OPTION_THREADS:
		options->view.threads = true;
		return 0;
	case OPTION_SOCKET_OF_TOP:
		options->socket = arg;
		return 0;
	case ARGP_KEY_ARG:
		fx_archive_argument(options->program, &options->file, arg);
		return 0;
	case ARGP_KEY_END:
		top_check(options);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp top_parser = {
    .options = option_table,
    .parser = top_parse_option,
    .args_doc = "[FILE]",
    .doc = "Shows what the processes do whose session writes FILE, or that of the running manager: "
	   "calls, waiting, bytes, locks, heaps, per second.",
};

/* --- Reading ---------------------------------------------------------------------------------- */

static void top_note_fault(void *opaque, const struct fxt_fault *fault)
{
	struct top *top = opaque;

	if (top->faults++ == 0)
		top->fault = *fault;
}

static int top_take(struct top *top, struct fxt_reader *reader)
{
	const struct fxt_record *record;
	int r;

	while ((r = fxt_reader_next(reader, &record)) > 0) {
		pthread_mutex_lock(&top->lock);
		r = fx_live_record(&top->live, record);
		pthread_mutex_unlock(&top->lock);
		if (r < 0)
			break;
	}
	return r;
}

static void *top_read(void *arg)
{
	struct top *top = arg;
	struct fxt_reader *reader;
	int r = fxt_reader_open_fd(top->fd, &reader);

	if (r == 0) {
		fxt_reader_set_fault_handler(reader, top_note_fault, top);
		r = top_take(top, reader);
		fxt_reader_close(reader);
	}
	top->error = r;
	close(top->over[1]);
	return NULL;
}

/* --- Showing ---------------------------------------------------------------------------------- */

static void top_print_row(const struct fx_live_row *row)
{
	char name[FX_ESCAPE_WIDTH * sizeof(row->name) + 1];
	size_t length = strlen(row->name);

	name[fx_escape(name, sizeof(name) - 1, row->name, length, FX_ESCAPE_CONTROLS)] = '\0';
	printf("%10" PRIu64 " %10" PRIu64, row->key.pid, row->key.tid);
	for (int i = 0; i < FX_LIVE_COUNT; i++)
		printf(" %12.0f", row->rates[i]);
	printf(" %12" PRId64 " %12" PRIu64 " %s\n", row->heap, row->totals[FX_LIVE_CALLS], name);
}

static void top_print(struct top *top, const struct top_options *options, uint64_t elapsed)
{
	struct fx_live_row *row = NULL, *next;

	fx_live_sort(&top->live, options->view.order);
	printf("time %.3f s\n%10s %10s %12s %12s %12s %12s %12s %12s %s\n", (double)elapsed / 1e9,
	       "PID", "TID", "CALLS/s", "WAITING_ns/s", "BYTES/s", "LOCKS/s", "HEAP_bytes", "CALLS",
	       "NAME");
	HASH_ITER (hh, top->live.rows, row, next) {
		if (!row->key.tid || options->view.threads)
			top_print_row(row);
	}
	putchar('\n');
	fx_usage_flush_some();
}

static volatile sig_atomic_t top_signal; /* the one that came; 0: none */

static void top_note_signal(int sig)
{
	top_signal = sig;
}

/* Waits until then. True: the session is over, or the user wants no more. */
static bool top_wait(struct top *top, struct top_options *options, uint64_t until, bool *ret_quit)
{
	struct pollfd polled[] = {{.fd = top->over[0]},
				  {.fd = options->batch ? -1 : STDIN_FILENO, .events = POLLIN}};

	for (;;) {
		uint64_t now = fx_monotonic_ns();

		if (top_signal) {
			*ret_quit = true;
			return true;
		}
		if (now >= until)
			return false;
		if (poll(polled, 2, (int)((until - now) / 1000000) + 1) < 0 && options->batch)
			continue;
		if (polled[0].revents)
			return true;
		if (options->batch)
			continue;
		/* A key, or another size of the terminal. */
		if (!fx_screen_keys(&options->view)) {
			*ret_quit = true;
			return true;
		}
		pthread_mutex_lock(&top->lock);
		fx_screen_draw(&top->live, &options->view);
		pthread_mutex_unlock(&top->lock);
	}
}

static void top_show(struct top *top, struct top_options *options)
{
	uint64_t begin = fx_monotonic_ns(), last = begin, samples = 0;
	bool over = false, quit = false;

	while (!over && (options->count == 0 || samples < options->count)) {
		uint64_t now, passed;

		over = top_wait(top, options, last + options->interval, &quit);
		if (quit)
			return;
		now = fx_monotonic_ns();
		/* What comes at the end comes at once. */
		passed = now - last < options->interval ? options->interval : now - last;
		pthread_mutex_lock(&top->lock);
		fx_live_step(&top->live, passed);
		if (options->batch)
			top_print(top, options, now - begin);
		else
			fx_screen_draw(&top->live, &options->view);
		pthread_mutex_unlock(&top->lock);
		last = now;
		samples++;
		if (ferror(stdout))
			return;
	}
}

/* --- The whole -------------------------------------------------------------------------------- */

static int top_fail(const struct top_options *options, int error)
{
	fx_report_as(options->program, "%s: %s", options->file, strerror(-error));
	return FX_EXIT_FAILURE;
}

/* The archive of the running manager's session, in memory that stays; NULL after a line that says why there is none. */
static const char *top_find(const struct top_options *options)
{
	static struct fx_msg_status status;
	struct fx_msg_request request;
	struct fx_link link;
	int r = fx_link_open(&link, options->program, options->socket);

	if (r == 0)
		r = fx_link_call(&link, FX_MSG_GET_STATUS, &request, sizeof(request), -1,
				 FX_MSG_STATUS, &status, sizeof(status));
	fx_link_close(&link);
	if (r)
		return NULL;
	status.output[sizeof(status.output) - 1] = '\0';
	if (status.state != FX_SESSION_READY && status.output[0] == '/')
		return status.output;
	fprintf(stderr, "%s: the manager has no session that writes to a file\n", options->program);
	return NULL;
}

static int top_run(struct top *top, struct top_options *options)
{
	pthread_t thread;
	bool over;
	int r;

	if (pipe2(top->over, O_CLOEXEC) < 0)
		return top_fail(options, -errno);
	options->view.title = options->file;
	if (!options->batch && !fx_screen_open()) {
		fprintf(stderr, "%s: this terminal cannot show it; --batch prints text\n",
			options->program);
		return FX_EXIT_FAILURE;
	}
	for (size_t i = 0; !options->batch && i < 3; i++)
		signal((const int[]){SIGINT, SIGTERM, SIGHUP}[i], top_note_signal);
	r = pthread_create(&thread, NULL, top_read, top);
	if (r == 0)
		top_show(top, options);
	fx_screen_close();
	if (top_signal) {
		signal(top_signal, SIG_DFL);
		raise(top_signal);
	}
	if (r != 0)
		return top_fail(options, -r);
	over = poll(&(struct pollfd){.fd = top->over[0]}, 1, 0) > 0;
	if (!over)
		return FX_EXIT_OK;
	pthread_join(thread, NULL);
	fx_live_free(&top->live);
	if (top->faults > 0)
		return fx_archive_complain(options->program, options->file, top->error,
					   &top->fault);
	return top->error < 0 ? top_fail(options, top->error) : FX_EXIT_OK;
}

int fx_cmd_top(int argc, char **argv)
{
	static struct top top = {.lock = PTHREAD_MUTEX_INITIALIZER};
	struct top_options options = {.program = argv[0], .interval = 1000000000};
	int file;

	fx_usage_parse(argv[0], &top_parser, argc, argv, 0, &options);
	if (!options.file)
		options.file = top_find(&options);
	if (!options.file)
		return FX_EXIT_FAILURE;
	file = open(options.file, O_RDONLY | O_CLOEXEC);
	if (file < 0)
		return top_fail(&options, -errno);
	/* A reader that has seen enough is no failure of ours. */
	signal(SIGPIPE, SIG_DFL);
	top.live.since = fx_boottime_ns();
	top.fd = fx_tail_start(file);
	return top.fd < 0 ? top_fail(&options, top.fd) : top_run(&top, &options);
}
