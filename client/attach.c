/* SPDX-License-Identifier: MIT */
/* fxtrace attach: traces a program that runs already, until it is told to stop, and puts back what it has changed in it. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "attach/inject.h"
#include "attach/open.h"
#include "client/attached.h"
#include "client/commands.h"
#include "client/look.h"
#include "client/options.h"
#include "client/usage.h"
#include "manager/archive/destination.h"
#include "manager/session/program.h"
#include "manager/session/single.h"
#include "manager/session/summary.h"
#include "manager/settings/report.h"

struct attach {
	const char *command; /* "fxtrace attach" */
	struct fx_options options;
	pid_t pid;
	char name[32]; /* the program's */
	uid_t user;
};

static const struct argp_option option_table[] = {
#define FX_OPTION(key, name, argument, variable, setter, where, help)                              \
	{name, key, argument, FX_OPTION_FLAGS(where, OF_ATTACH), help, 0},
#include "client/options.def"
#undef FX_OPTION
    FX_USAGE_OPTIONS,
    {0},
};

static void attach_check(struct attach *attach)
{
	const char *wrong;

	if (!attach->pid)
		fx_usage_error(attach->command, "no process to attach to", NULL);
	wrong = fx_options_check(&attach->options);
	if (wrong)
		fx_usage_error(attach->command, wrong, NULL);
}

static error_t attach_parse(int key, char *value, struct argp_state *state)
{
	struct attach *attach = state->input;

	switch (key) {
	case ARGP_KEY_ARG:
		if (attach->pid)
			return ARGP_ERR_UNKNOWN;
		attach->pid = fx_attached_pid(attach->command, value);
		return 0;
	case ARGP_KEY_END:
		attach_check(attach);
		return 0;
	default:
		return fx_options_take(&attach->options, attach->command, OF_ATTACH, key, value)
			   ? 0
			   : ARGP_ERR_UNKNOWN;
	}
}

static const struct argp parser = {
    .options = option_table,
    .parser = attach_parse,
    .args_doc = "PID",
    .doc = "Traces a program that runs already, until ^C, the time of --duration, or its end. "
	   "libfxtrace.so is loaded into it, and calls of the C library lead to that meanwhile; "
	   "afterwards they lead to where they led before.\v"
	   "Children of the program are not traced. The man page says which programs are refused, "
	   "and why.",
};

/* What the process is called, and whose it is. 0 or an exit status. */
static int attach_look(struct attach *attach)
{
	char path[64], why[FX_TARGET_WHY];
	struct fx_target target;
	struct stat st;
	FILE *file;

	if (fx_target_open(attach->pid, &target, why) < 0) {
		fx_report_as(attach->command, "%d: %s", (int)attach->pid, why);
		return FX_EXIT_FAILURE;
	}
	fx_target_close(&target);
	snprintf(path, sizeof(path), "/proc/%d", (int)attach->pid);
	if (stat(path, &st) == 0)
		attach->user = st.st_uid;
	snprintf(path, sizeof(path), "/proc/%d/comm", (int)attach->pid);
	file = fopen(path, "re");
	if (file && fgets(attach->name, sizeof(attach->name), file))
		attach->name[strcspn(attach->name, "\n")] = 0;
	if (file)
		fclose(file);
	return 0;
}

/* In a process of its own, since this one answers the program meanwhile. Waits for a word. */
static void attach_help(const struct attach *attach, int word, const char *library,
			const char *socket)
{
	char why[FX_TARGET_WHY], byte;
	struct fx_injected injected;

	if (read(word, &byte, 1) != 1)
		_exit(FX_EXIT_FAILURE);
	if (fx_inject_begin(attach->pid, library, socket, FX_ATTACHED_PATIENCE, &injected, why) <
	    0) {
		fx_report_as(attach->command, "%d: %s", (int)attach->pid, why);
		_exit(FX_EXIT_FAILURE);
	}
	if (attach->options.config.verbose || injected.left)
		fx_report("%u words of %s lead to libfxtrace.so, %u could not be changed",
			  injected.words, attach->name, injected.left);
	_exit(0);
}

/* The helper, which waits for a byte at *word; or -errno. */
static pid_t helper_start(const struct attach *attach, const char *socket, int *word)
{
	char library[PATH_MAX], resolved[PATH_MAX];
	int ends[2], r = fx_program_library(library, sizeof(library));
	pid_t helper;

	if (r < 0 || !realpath(library, resolved))
		return r < 0 ? r : -errno;
	if (pipe2(ends, O_CLOEXEC) < 0)
		return -errno;
	fflush(NULL);
	helper = fork();
	if (helper == 0) {
		close(ends[1]);
		attach_help(attach, ends[0], resolved, socket);
	}
	r = helper < 0 ? -errno : 0;
	close(ends[0]);
	*word = ends[1];
	return r < 0 ? r : helper;
}

static int attach_fail(const struct attach *attach, const char *what, int error)
{
	fx_report_as(attach->command, "%s: %s", what,
		     what == attach->options.config.output ? fx_destination_why(error)
							   : fx_report_why(error));
	return FX_EXIT_FAILURE;
}

static int attach_trace(const struct attach *attach, struct fx_single *single, pid_t helper,
			int word)
{
	struct fx_session_result result;
	const char *what;
	int r = fx_single_begin(single, &what), status = 0;

	if (r < 0) {
		close(word);
		waitpid(helper, &status, 0);
		fx_single_cancel(single);
		return attach_fail(attach, what, r);
	}
	r = write(word, "b", 1) == 1 ? 0 : -errno;
	close(word);
	if (!fx_single_run_attached(single, helper) || r < 0)
		status = FX_EXIT_FAILURE;
	if (status == 0 && !fx_single_has_ended(single))
		status = fx_attached_end(attach->command, attach->pid, attach->name,
					 attach->options.config.verbose);
	fx_single_finish(single, &result);
	if (result.totals.processes || status == 0)
		fx_summary_print(&attach->options.config, &result, attach->name,
				 attach->options.quiet);
	return status ? status : result.output_error ? FX_EXIT_FAILURE : 0;
}

static int attach_execute(struct attach *attach)
{
	struct fx_single *single;
	const char *what, *wrong;
	pid_t helper;
	int word, r = attach_look(attach);

	if (r)
		return r;
	wrong = fx_options_name_output(&attach->options, attach->name, attach->pid);
	if (wrong)
		fx_usage_error(attach->command, "--output", wrong);
	r = fx_single_create(&attach->options.config, &single, &what);
	if (r < 0)
		return attach_fail(attach, what, r);
	fx_single_let_look(single, fx_client_look);
	fx_single_expect(single, attach->pid, attach->user);
	helper = helper_start(attach, fx_single_socket(single), &word);
	if (helper < 0) {
		fx_single_cancel(single);
		return attach_fail(attach, "cannot start", (int)helper);
	}
	return attach_trace(attach, single, helper, word);
}

int fx_cmd_attach(int argc, char **argv)
{
	static struct attach attach; /* large for a narrow stack */
	bool known;
	int status;

	attach.command = argv[0];
	fx_options_init(&attach.options);
	fx_options_take_environment(&attach.options, attach.command);
	fx_usage_parse(argv[0], &parser, argc, argv, 0, &attach);
	/* What it had before is not known, so neither is what it has. */
	fx_options_set(&attach.options, 'c', "-heap", &known);
	status = attach_execute(&attach);
	fx_options_destroy(&attach.options);
	return status;
}
