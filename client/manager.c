/* SPDX-License-Identifier: MIT */
/*
 * fxtrace manager: the daemon (daemon.c), and, with --private, the manager that libfxtrace.so starts for a program that was preloaded
 * by hand. It is configured by the environment, says over the descriptor it was given where it
 * listens, and ends when all that it traces have ended. Nobody waits for it and nobody reads what
 * it prints, unless FXTRACE_VERBOSE is set.
 */
#include <argp.h>
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "client/allow.h"
#include "client/commands.h"
#include "client/daemon.h"
#include "client/options.h"
#include "client/usage.h"
#include "manager/archive/destination.h"
#include "manager/session/single.h"
#include "manager/session/snapshot.h"
#include "manager/session/summary.h"
#include "manager/settings/report.h"
#include "protocol/socket.h"

/* Each 10 ms; the program waits as long. */
#define BUSY_TRIES 50u

enum {
	KEY_PRIVATE = 0x200,
	KEY_FD,
	KEY_NAME,
	KEY_PID,
	KEY_SOCKET,
	KEY_FOREGROUND,
	KEY_STOP,
	KEY_ALLOW_USERS,
	KEY_ALLOW_GROUP,
	KEY_ALLOW_CONTROL,
	KEY_MAX_USER_MEMORY,
};

struct manager {
	const char *command;
	bool is_private;
	int fd;
	int pid;
	const char *name;
	const char *socket;
	bool foreground;
	bool stop;
	struct fx_options options;
	char output[256];
	char *beside; /* the output, if the one that was asked for is in use */
};

static const struct argp_option option_table[] = {
    {"socket", KEY_SOCKET, "PATH", 0,
     "Listen at PATH ($FXTRACE_SOCKET, or fxtrace/manager.sock in the user's runtime directory)",
     0},
    {"foreground", KEY_FOREGROUND, NULL, 0, "Stay in the foreground", 0},
    {"stop", KEY_STOP, NULL, 0, "End the manager that runs, and its session; wait for that", 0},
#define FX_OPTION(key, name, argument, variable, setter, where, help)                              \
	{name, key, argument, FX_OPTION_FLAGS(where, OF_MANAGER), help, 0},
#include "client/options.def"
#undef FX_OPTION
    {"max-user-memory", KEY_MAX_USER_MEMORY, "SIZE", 0,
     "The same as --max-memory for each user who is neither root nor the manager's own (any)", 0},
    {"allow-users", KEY_ALLOW_USERS, "LIST", 0,
     "Trace processes of these users too: a comma list of names and numbers, or all", 0},
    {"allow-group", KEY_ALLOW_GROUP, "GROUP", 0, "The same of the members of a group", 0},
    {"allow-control", KEY_ALLOW_CONTROL, NULL, 0,
     "Let those users control sessions, and so see what all traced processes do", 0},
    {"private", KEY_PRIVATE, NULL, 0,
     "Serve the program that started this manager, and its children", 0},
    {"fd", KEY_FD, "N", 0, "Descriptor of a socket to that program", 0},
    {"name", KEY_NAME, "NAME", 0, "Its name; the archive is NAME.PID.fxt", 0},
    {"pid", KEY_PID, "PID", 0, "Its process id", 0},
    FX_USAGE_OPTIONS,
    {0},
};

static int parse_number(const struct manager *m, const char *option, const char *value, long least)
{
	char *end;
	long n;

	errno = 0;
	n = strtol(value, &end, 10);
	if (errno || end == value || *end || n < least || n > INT32_MAX)
		fx_usage_error(m->command, option, "not a number that it can be");
	return (int)n;
}

static void take_policy(const struct manager *m, const char *value, const char *wrong)
{
	if (wrong)
		fx_usage_error(m->command, value, wrong);
}

static error_t manager_parse(int key, char *value, struct argp_state *state)
{
	struct manager *m = state->input;

	switch (key) {
	case KEY_SOCKET:
		m->socket = value;
		return 0;
	case KEY_FOREGROUND:
		m->foreground = true;
		return 0;
	case KEY_STOP:
		m->stop = true;
		return 0;
	case KEY_ALLOW_USERS:
		take_policy(m, value, fx_allow_users(&m->options.config.policy, value));
		return 0;
	case KEY_ALLOW_GROUP:
		take_policy(m, value, fx_allow_group(&m->options.config.policy, value));
		return 0;
	case KEY_ALLOW_CONTROL:
		m->options.config.policy.control = true;
		return 0;
	case KEY_MAX_USER_MEMORY:
		take_policy(m, value, fx_options_max_user_memory(&m->options, value));
		return 0;
	case KEY_PRIVATE:
		m->is_private = true;
		return 0;
	case KEY_FD:
		m->fd = parse_number(m, "--fd", value, 3);
		return 0;
	case KEY_NAME:
		m->name = value;
		return 0;
	case KEY_PID:
		m->pid = parse_number(m, "--pid", value, 1);
		return 0;
	default:
		return fx_options_take(&m->options, m->command, OF_MANAGER, key, value)
			   ? 0
			   : ARGP_ERR_UNKNOWN;
	}
}

static const struct argp parser = {
    .options = option_table,
    .parser = manager_parse,
    .args_doc = "\n--private --fd=N --name=NAME --pid=PID",
    .doc = "Runs the daemon at which processes register, and which fxtrace record, start and their "
	   "like control; in the background, unless told otherwise. With --private: collects the "
	   "trace of a program that was started with LD_PRELOAD=libfxtrace.so and without a "
	   "manager; libfxtrace.so runs that by itself.\v"
	   "The variables of fxtrace run say how to trace, as in FXTRACE_BUFFER_SIZE.",
};

static int manager_failure(const struct manager *m, const char *what, int error)
{
	fx_report_as(m->command, "%s: %s", what, fx_destination_why(error));
	return FX_EXIT_FAILURE;
}

/* What the program had set up for itself does not apply here. */
static void manager_signals_reset(void)
{
	sigset_t none;

	for (int nr = 1; nr < NSIG; nr++) {
		if (nr != SIGXFSZ) /* see fx_limits_take() */
			signal(nr, SIG_DFL);
	}
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

/* NAME.PID.fxt in the working directory, unless FXTRACE_OUTPUT says otherwise. NULL, or what is wrong with that. */
static const char *choose_output(struct manager *m)
{
	const char *chosen = getenv("FXTRACE_OUTPUT");

	/* Standard output is not ours. */
	if (chosen && *chosen && strcmp(chosen, "-") != 0)
		return fx_options_name_output(&m->options, m->name, m->pid);
	snprintf(m->output, sizeof(m->output), "%.200s.%d.fxt", m->name, m->pid);
	for (char *at = m->output; *at; at++) {
		if (*at == '/')
			*at = '_';
	}
	m->options.config.output = m->output;
	return NULL;
}

static int say_ready(const struct manager *m, const struct fx_single *single)
{
	struct fx_msg_manager_ready message = {.header = fx_message_header(FX_MSG_MANAGER_READY)};
	const char *path = fx_single_socket(single);

	memcpy(message.path, path, strnlen(path, sizeof(message.path) - 1));
	return fx_socket_send(m->fd, &message, sizeof(message), NULL, 0);
}

static int manager_serve(struct manager *m, struct fx_single *single)
{
	struct fx_session_result result;
	const char *what;
	int r = fx_single_begin(single, &what);

	if (r < 0) {
		fx_single_cancel(single);
		return manager_failure(m, what, r);
	}
	r = say_ready(m, single);
	if (r == 0)
		fx_single_run_private(single, m->fd, m->pid);
	fx_single_finish(single, &result);
	if (r < 0)
		return manager_failure(m, "the program that started this manager is gone", r);
	fx_summary_print(&m->options.config, &result, NULL, !m->options.config.verbose);
	return result.output_error ? FX_EXIT_FAILURE : FX_EXIT_OK;
}

/* A run that is just over may still be completing the archive of this name. Beside one that goes on, this one's is
 * NAME.PID.fxt. */
static int single_create(struct manager *m, struct fx_single **ret, const char **ret_what)
{
	const struct timespec nap = {.tv_nsec = 10000000};
	char beside[FX_OUTPUT_PATH_MAX];
	int r = -EBUSY;

	for (unsigned i = 0; r == -EBUSY && i < BUSY_TRIES; i++) {
		if (i > 0)
			nanosleep(&nap, NULL);
		r = fx_single_create(&m->options.config, ret, ret_what);
	}
	if (r != -EBUSY || fx_snapshot_path(m->options.config.output, (unsigned)m->pid, beside,
					    sizeof(beside)) < 0)
		return r;
	m->beside = strdup(beside);
	if (!m->beside)
		return -ENOMEM;
	m->options.config.output = m->beside;
	return fx_single_create(&m->options.config, ret, ret_what);
}

static int manage(struct manager *m)
{
	struct fx_single *single;
	const char *what, *wrong;
	int r;

	manager_signals_reset();
	wrong = choose_output(m);
	if (wrong) {
		fx_report_as(m->command, "FXTRACE_OUTPUT: %s", wrong);
		return FX_EXIT_FAILURE;
	}
	r = single_create(m, &single, &what);
	if (r < 0)
		return manager_failure(m, what, r);
	/* The program's directory must not be kept busy; the archive is open. */
	if (chdir("/") < 0) {
		fx_single_cancel(single);
		return manager_failure(m, "/", -errno);
	}
	return manager_serve(m, single);
}

int fx_cmd_manager(int argc, char **argv)
{
	struct manager m = {.command = argv[0], .fd = -1, .pid = -1};
	const char *wrong;
	int status;

	fx_options_init(&m.options);
	fx_options_take_environment(&m.options, m.command);
	fx_usage_parse(argv[0], &parser, argc, argv, 0, &m);
	if (m.stop && (m.foreground || m.is_private || m.options.given))
		fx_usage_error(m.command, "--stop goes with --socket alone",
			       "the manager that runs keeps its options");
	if (m.stop) {
		status = fx_daemon_stop(m.command, m.socket);
		fx_options_destroy(&m.options);
		return status;
	}
	if (!m.is_private) {
		status = fx_daemon_main(m.command, m.socket, m.foreground, &m.options);
		fx_options_destroy(&m.options);
		return status;
	}
	if (m.fd < 0 || m.pid < 0 || !m.name)
		fx_usage_error(m.command, "--private, --fd, --name and --pid are needed", NULL);
	wrong = fx_options_check(&m.options);
	if (wrong)
		fx_usage_error(m.command, wrong, NULL);
	status = manage(&m);
	free(m.beside);
	fx_options_destroy(&m.options);
	return status;
}
