/* SPDX-License-Identifier: MIT */
/* fxtrace record: a session of a running manager, for as long as this command runs. */
#include <argp.h>
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/fault.h"
#include "client/accompany.h"
#include "client/commands.h"
#include "client/control.h"
#include "client/hosts.h"
#include "client/link.h"
#include "client/remote.h"
#include "client/usage.h"
#include "client/watchdog.h"
#include "manager/archive/destination.h"
#include "manager/session/companion.h"
#include "manager/session/program.h"
#include "manager/session/program-mpi.h"
#include "manager/settings/report.h"

/* What a shell answers for a program that cannot be found, or not be run. */
#define EXIT_NOT_FOUND	127
#define EXIT_CANNOT_RUN 126

/* How often the manager is asked whether the session still runs, in milliseconds. */
#define LOOK_MS 200

struct record {
	struct fx_remote remote;
	struct fx_options options;
	char **program; /* terminated by NULL; NULL: none */
	const char *append_args;
	char **arguments; /* of the program, with those appended; owned */
	char *appended;	  /* the words of append_args; owned */
	struct fx_hosts hosts;
	bool detach;
	bool decouple;

	struct fx_companion companion; /* the kernel provider, if it is asked for */
	char socket[FX_OUTPUT_PATH_MAX];

	struct fx_link link;
	struct fx_watchdog dog;
	int signal_fd;
	pid_t child; /* 0 none */
	int child_pidfd;
	bool child_ended;
	int wait_status;
	bool over; /* what is recorded is enough */
};

enum { OPTION_APPEND_ARGS = OPTION_OF_COMMAND, OPTION_DETACH, OPTION_DECOUPLE, OPTION_HOSTS };

static const struct argp_option option_table[] = {
#define FX_OPTION(key, name, argument, variable, setter, where, help)                              \
	{name, key, argument, FX_OPTION_FLAGS(where, OF_RECORD), help, 0},
#include "client/options.def"
#undef FX_OPTION
    {"append-args", OPTION_APPEND_ARGS, "LIST", 0,
     "Append the arguments of this comma list to PROGRAM's", 0},
    {"detach", OPTION_DETACH, NULL, 0, "Do not wait for PROGRAM when the recording ends before it",
     0},
    {"decouple", OPTION_DECOUPLE, NULL, 0, "Go on recording when PROGRAM has ended", 0},
    {"hosts", OPTION_HOSTS, "LIST", 0,
     "Record on these hosts of a comma list, by ssh, into one archive", 0},
    FX_REMOTE_OPTIONS,
    {0},
};

static error_t record_parse(int key, char *value, struct argp_state *state)
{
	struct record *record = state->input;

	if (key != OPTION_HOSTS && key != 'o')
		fx_hosts_take(&record->hosts, option_table, key, value);
	switch (key) {
	case OPTION_HOSTS:
		record->hosts.list = value;
		return 0;
	case OPTION_APPEND_ARGS:
		record->append_args = value;
		return 0;
	case OPTION_DETACH:
		record->detach = true;
		return 0;
	case OPTION_DECOUPLE:
		record->decouple = true;
		return 0;
	case ARGP_KEY_ARG:
		return ARGP_ERR_UNKNOWN; /* all of them together */
	case ARGP_KEY_ARGS:
		record->program = state->argv + state->next;
		state->next = state->argc;
		return 0;
	default:
		if (fx_options_take(&record->options, record->remote.command, OF_RECORD, key,
				    value))
			return 0;
		return fx_remote_parse(&record->remote, key, value);
	}
}

static const struct argp parser = {
    .options = option_table,
    .parser = record_parse,
    .args_doc = "[-- PROGRAM [ARG...]]",
    .doc = "Records all processes that are registered with the manager, and PROGRAM and its "
	   "children, until PROGRAM ends, --duration is over or a signal comes; then completes the "
	   "archive. Exits as PROGRAM does.",
};

/* --- The program ----------------------------------------------------------------------------- */

/* Puts the program's arguments together with those to be appended. 0 or -ENOMEM. */
static int join_arguments(struct record *record)
{
	const char *list = record->append_args ? record->append_args : "";
	size_t count = 0, room = strlen(list) + 2;
	char *next;

	while (record->program[count])
		count++;
	record->appended = strdup(list);
	record->arguments = calloc(count + room, sizeof(*record->arguments));
	if (!record->appended || !record->arguments)
		return -ENOMEM;
	memcpy(record->arguments, record->program, count * sizeof(*record->arguments));
	for (char *word = strtok_r(record->appended, ",", &next); word;
	     word = strtok_r(NULL, ",", &next))
		record->arguments[count++] = word;
	return 0;
}

static uint64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

/* How long the kernel provider may work on when the recording has ended, and how often it is looked whether it does. */
#define COMPANION_PATIENCE_MS 20000
#define COMPANION_LOOK_MS     5

static void record_accompany(void *opaque, pid_t program)
{
	struct record *record = opaque;

	fx_accompany(&record->remote, &record->options, record->socket, program,
		     program ? record->program : NULL, &record->companion);
}

/* Nothing is to be recorded after all: whoever asks the manager next finds it without a session. */
static int record_give_up(struct record *record, int status)
{
	struct fx_msg_stop request = {.write_results = true};
	struct fx_msg_result result;

	fx_companion_kill(&record->companion);
	fx_link_ask(&record->link, FX_MSG_TERMINATE, &request, sizeof(request), -1, &result);
	return status;
}

/* What the kernel said is recorded before the session ends. */
static void record_await_companion(struct record *record)
{
	uint64_t end = now_ms() + COMPANION_PATIENCE_MS;

	fx_companion_finish(&record->companion);
	while (!fx_companion_is_over(&record->companion) && now_ms() < end)
		poll(NULL, 0, COMPANION_LOOK_MS);
	fx_companion_kill(&record->companion);
}

/* 0, or the exit status after a line that says why. */
static int program_start(struct record *record)
{
	char library[PATH_MAX], mpi[PATH_MAX];
	struct fx_program_way way = {
	    .library = library,
	    .socket = record->socket,
	    .to_stderr = fx_destination_is_standard(record->options.config.output),
	    .prepare = record_accompany,
	    .opaque = record,
	};
	pid_t pid = join_arguments(record);

	if (pid == 0)
		pid = fx_program_library(library, sizeof(library));
	if (pid < 0) {
		fprintf(stderr, "%s: libfxtrace.so: %s\n", record->remote.command, strerror(-pid));
		return FX_EXIT_FAILURE;
	}
	/* The program trusts the user that we were told to trust. */
	if (fx_link_is_foreign(&record->link)) {
		char owner[16];

		snprintf(owner, sizeof(owner), "%u", (unsigned)record->link.owner);
		setenv("FXTRACE_MANAGER_USER", owner, 1);
	}
	way.mpi = fx_program_mpi(record->arguments, library, mpi, sizeof(mpi));
	if (pid == 0)
		pid = fx_program_start(record->arguments, &way);
	if (pid < 0) {
		fx_report_as(record->remote.command, "%s: %s", record->program[0],
			     pid == -ENOENT ? "program not found" : strerror(-pid));
		return pid == -ENOENT ? EXIT_NOT_FOUND : EXIT_CANNOT_RUN;
	}
	record->child = pid;
	record->child_pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	return 0;
}

static void program_reap(struct record *record, int flags)
{
	if (!record->child || record->child_ended)
		return;
	record->child_ended = waitpid(record->child, &record->wait_status, flags) == record->child;
}

/* --- Waiting --------------------------------------------------------------------------------- */

static int record_signals_take(struct record *record)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	sigprocmask(SIG_BLOCK, &set, NULL);
	record->signal_fd = signalfd(-1, &set, SFD_CLOEXEC);
	return record->signal_fd < 0 ? -errno : 0;
}

/* From the terminal the program got the signal itself; what was sent to us alone is passed on. With a
 * program, it is the program that ends the recording, unless we are told twice. */
static void record_take_signal(struct record *record, bool *told)
{
	struct signalfd_siginfo info;
	bool runs = record->child && !record->child_ended;

	if (read(record->signal_fd, &info, sizeof(info)) != sizeof(info))
		return;
	if (!runs || *told)
		record->over = true;
	else if (info.ssi_code != SI_KERNEL)
		kill(record->child, (int)info.ssi_signo);
	*told = true;
}

/* Somebody else, or a trigger, may have stopped the session. */
static int record_look(struct record *record)
{
	struct fx_msg_request request;
	struct fx_msg_status status;
	int r = fx_link_call(&record->link, FX_MSG_GET_STATUS, &request, sizeof(request), -1,
			     FX_MSG_STATUS, &status, sizeof(status));

	if (r == 0 && status.state != FX_SESSION_STARTED && status.state != FX_SESSION_STARTING)
		record->over = true;
	return r;
}

/* The program as long as it runs. */
static pid_t record_watched(const struct record *record)
{
	return record->child_ended ? 0 : record->child;
}

static int wait_for_end(struct record *record)
{
	uint64_t end = record->options.config.duration_ns
			   ? now_ms() + (record->options.config.duration_ns + 999999) / 1000000
			   : UINT64_MAX;
	bool told = false;
	int r = 0;

	while (r == 0 && !record->over) {
		uint64_t now = now_ms(), left = end > now ? end - now : 0;
		struct pollfd fds[] = {
		    {.fd = record->signal_fd, .events = POLLIN},
		    {.fd = record->child_ended ? -1 : record->child_pidfd, .events = POLLIN},
		    {.fd = record->dog.poller.fd, .events = POLLIN},
		};
		int patience = fx_watchdog_patience(&record->dog, LOOK_MS);

		if (poll(fds, 3, left < (uint64_t)patience ? (int)left : patience) > 0 &&
		    fds[0].revents)
			record_take_signal(record, &told);
		/* waitpid() would take a stop by the watchdog for the end, and from it. */
		if (fds[1].revents || !record->dog.look.is_on)
			program_reap(record, WNOHANG);
		if ((record->child_ended && !record->decouple) || now_ms() >= end)
			record->over = true;
		if (!record->over)
			r = record_look(record);
		if (r == 0 && !record->over)
			r = fx_watchdog_turn(&record->dog, record_watched(record));
	}
	fx_watchdog_end(&record->dog);
	return r;
}

/* --- The session ----------------------------------------------------------------------------- */

static int terminate(struct record *record)
{
	struct fx_msg_stop request = {.write_results = true};
	struct fx_msg_result result;
	int r =
	    fx_link_ask(&record->link, FX_MSG_TERMINATE, &request, sizeof(request), -1, &result);

	if (r == 0)
		fx_remote_print_archive(&record->remote, &record->options.config, &result,
					record->program ? record->program[0] : NULL,
					record->options.quiet);
	return r;
}

static int record_exit_status(const struct record *record, int status)
{
	if (!record->child_ended)
		return status;
	if (WIFSIGNALED(record->wait_status))
		return 128 + WTERMSIG(record->wait_status);
	return WEXITSTATUS(record->wait_status) ? WEXITSTATUS(record->wait_status) : status;
}

/* 0, or the exit status after a line that says why. */
static int record_watch(struct record *record)
{
	int r = fx_watchdog_begin(&record->dog, &record->link, record->options.config.watchdog_ns);

	if (r == 0)
		return 0;
	fx_report_as(record->remote.command, "no watchdog: %s", fx_report_why(r));
	return FX_EXIT_FAILURE;
}

static int record_execute(struct record *record)
{
	struct fx_msg_result started;
	int r;

	fx_watchdog_clear(&record->dog);
	r = fx_control_initialize(&record->link, &record->options, false);

	if (r == 0)
		r = fx_control_start(&record->link, FX_CLEAR_ENTIRE, NULL, &started);
	if (r)
		return r; /* what there is of a session ends with the connection */
	FX_FAULT(client_started);
	if (fx_remote_socket(&record->remote, record->socket, sizeof(record->socket)) < 0)
		r = FX_EXIT_FAILURE;
	if (r == 0)
		r = record_watch(record);
	if (r == 0 && record->program)
		r = program_start(record);
	else if (r == 0)
		record_accompany(record, 0);
	if (r == 0 && record_signals_take(record) < 0)
		r = FX_EXIT_FAILURE;
	if (r)
		return record_give_up(record, r);
	r = wait_for_end(record);
	record_await_companion(record);
	FX_FAULT(client_terminate);
	if (r == 0)
		r = terminate(record);
	if (r == 0 && !record->options.quiet)
		fx_companion_report(&record->companion);
	if (!record->detach)
		program_reap(record, 0);
	return record_exit_status(record, r);
}

static int record_on_hosts(struct record *record)
{
	const char *output = record->options.config.output;

	if (record->remote.json || fx_destination_is_standard(output))
		fx_usage_error(record->remote.command, "--hosts",
			       "its archive and its summary cannot go to standard output");
	return fx_hosts_record(&record->hosts, record->remote.command, output, record->program,
			       fx_options_has_snapshots(&record->options.config));
}

int fx_cmd_record(int argc, char **argv)
{
	struct record record = {.remote.command = argv[0], .signal_fd = -1, .child_pidfd = -1};
	const char *wrong;
	int status;

	fx_options_init(&record.options);
	fx_options_take_environment(&record.options, record.remote.command);
	fx_usage_parse(argv[0], &parser, argc, argv, ARGP_IN_ORDER, &record);
	wrong = fx_options_check(&record.options);
	if (wrong)
		fx_usage_error(record.remote.command, wrong, NULL);
	wrong = fx_options_name_output(&record.options, record.program ? record.program[0] : NULL,
				       getpid());
	if (wrong)
		fx_usage_error(record.remote.command, "--output", wrong);
	if (record.remote.json && strcmp(record.options.config.output, "-") == 0)
		fx_usage_error(record.remote.command, "--json needs standard output for itself",
			       "the archive goes there");
	if (!record.program && (record.append_args || record.detach || record.decouple))
		fx_usage_error(record.remote.command, "--append-args, --detach and --decouple",
			       "for a PROGRAM, and there is none");
	if (record.hosts.list) {
		status = record_on_hosts(&record);
		fx_hosts_release(&record.hosts);
		fx_options_destroy(&record.options);
		return status;
	}
	fx_hosts_release(&record.hosts);
	status = fx_link_open(&record.link, record.remote.command, record.remote.socket);
	if (status == 0)
		status = record_execute(&record);
	fx_link_close(&record.link);
	free(record.arguments);
	free(record.appended);
	fx_options_destroy(&record.options);
	return status;
}
