/* SPDX-License-Identifier: MIT */
/* fxtrace run: traces a program and its children. */
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "client/commands.h"
#include "client/job.h"
#include "client/json.h"
#include "client/look.h"
#include "client/options.h"
#include "client/usage.h"
#include "manager/archive/destination.h"
#include "manager/session/companion.h"
#include "manager/session/program.h"
#include "manager/session/program-mpi.h"
#include "manager/settings/report.h"
#include "manager/session/single.h"
#include "manager/session/summary.h"
#include "manager/settings/wanted.h"

/* What a shell answers for a program that cannot be found, or not be run. */
#define EXIT_NOT_FOUND	127
#define EXIT_CANNOT_RUN 126

struct run {
	const char *command; /* "fxtrace run" */
	struct fx_options options;
	bool json;
	bool is_chosen; /* of the ranks of a job */
	char **program; /* terminated by NULL */
};

enum { OPTION_JSON = 0x300 };

static const struct argp_option option_table[] = {
#define FX_OPTION(key, name, argument, variable, setter, where, help)                              \
	{name, key, argument, FX_OPTION_FLAGS(where, OF_RUN), help, 0},
#include "client/options.def"
#undef FX_OPTION
    {"json", OPTION_JSON, NULL, 0, "Print the summary as one JSON object, to standard output", 0},
    FX_USAGE_OPTIONS,
    {0},
};

static void run_check(struct run *run)
{
	const char *wrong = fx_options_check(&run->options);

	if (wrong)
		fx_usage_error(run->command, wrong, NULL);
	wrong = fx_options_is_chosen(&run->options, &run->is_chosen);
	if (wrong)
		fx_usage_error(run->command, "--ranks, --every", wrong);
	wrong = fx_options_name_output(&run->options, run->program[0], getpid());
	if (wrong)
		fx_usage_error(run->command, "--output", wrong);
	if (run->json && (run->options.report || strcmp(run->options.config.output, "-") == 0))
		fx_usage_error(run->command, "--json needs standard output for itself",
			       "neither the archive nor --report can go there");
}

static error_t run_parse(int key, char *value, struct argp_state *state)
{
	struct run *run = state->input;

	switch (key) {
	case ARGP_KEY_ARGS:
		run->program = state->argv + state->next;
		state->next = state->argc;
		return 0;
	case OPTION_JSON:
		run->json = true;
		return 0;
	case ARGP_KEY_NO_ARGS:
		fx_usage_error(run->command, "no program to run", NULL);
	case ARGP_KEY_END:
		run_check(run);
		return 0;
	default:
		return fx_options_take(&run->options, run->command, OF_RUN, key, value)
			   ? 0
			   : ARGP_ERR_UNKNOWN;
	}
}

static const struct argp parser = {
    .options = option_table,
    .parser = run_parse,
    .args_doc = "[--] PROGRAM [ARG...]",
    .doc =
	"Traces PROGRAM and its children into one archive, and exits as PROGRAM does.\v"
	"Each option has an environment variable, which it overrides: FXTRACE_ and its long name "
	"in capitals, as in FXTRACE_BUFFER_SIZE. The man page has the rest.",
};

/* 127 or 126, after one line that says why. */
static int cannot_run(const struct run *run, int error)
{
	fx_report_as(run->command, "%s: %s", run->program[0],
		     error == -ENOENT ? "program not found" : strerror(-error));
	return error == -ENOENT ? EXIT_NOT_FOUND : EXIT_CANNOT_RUN;
}

/* Where there is no room for a tracer, the program runs without one. What is wrong with the archive, the user can mend
 * before anything has run. */
static bool is_scarcity(int error)
{
	return error == -EMFILE || error == -ENFILE || error == -ENOMEM || error == -EAGAIN;
}

static void tell_untraced(const char *what, int error)
{
	fx_report("nothing is traced: %s: %s", what, fx_report_why(error));
}

/* No session could be made. */
static int become_program(const struct run *run, const char *what, int error)
{
	tell_untraced(what, error);
	return cannot_run(run, fx_program_become(run->program));
}

static int find_library(const struct run *run, char *ret, size_t size)
{
	int r = fx_program_library(ret, size);

	if (r == -EINVAL)
		fprintf(stderr,
			"%s: libfxtrace.so lies in a folder with a space or a colon in its name, "
			"which LD_PRELOAD cannot express\n",
			run->command);
	else if (r < 0)
		fprintf(stderr, "%s: libfxtrace.so not found beside this command\n", run->command);
	return r;
}

static int run_exit_status(const struct fx_session_result *result)
{
	int status = 0;

	if (result->has_status && WIFSIGNALED(result->wait_status))
		return 128 + WTERMSIG(result->wait_status);
	if (result->has_status)
		status = WEXITSTATUS(result->wait_status);
	else if (result->signal)
		status = 128 + result->signal;
	if (status == 0 && result->output_error)
		return FX_EXIT_FAILURE;
	return status;
}

/* What a terminal or another program may send while the archive is completed: it will be, and the program's status is
 * what we end with. */
static void signals_ignore(void)
{
	static const int numbers[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};

	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		signal(numbers[i], SIG_IGN);
}

/* The program runs, and its session cannot begin. */
static int wait_untraced(const char *what, int error, pid_t child)
{
	struct fx_session_result result = {.has_status = true};

	tell_untraced(what, error);
	signals_ignore();
	while (waitpid(child, &result.wait_status, 0) < 0) {
		if (errno != EINTR)
			return FX_EXIT_FAILURE;
	}
	return run_exit_status(&result);
}

/* The report of an archive, as if it had been asked for; whatever ends it, we go on. Its status. */
static int run_report(const struct run *run)
{
	char command[] = "fxtrace report", output[PATH_MAX + 8], end_of_options[] = "--";
	char *argv[] = {command, end_of_options, output, NULL};
	pid_t reporter;
	int status = 0;

	snprintf(output, sizeof(output), "%s", run->options.config.output);
	fflush(NULL);
	reporter = fork();
	if (reporter == 0)
		exit(fx_usage_flush(run->command, fx_cmd_report(3, argv)));
	while (reporter > 0 && waitpid(reporter, &status, 0) < 0 && errno == EINTR)
		;
	if (reporter > 0 && WIFEXITED(status))
		return WEXITSTATUS(status);
	fx_report("no report: %s", reporter < 0 ? strerror(errno) : strsignal(WTERMSIG(status)));
	return FX_EXIT_FAILURE;
}

/* A second signal has ended the recording, and the program goes on. A launcher of ranks takes us for the program: it sends the
 * last signal, and its own account of what it has started ends, with us. */
static void stay_for_launcher(pid_t child, struct fx_session_result *result)
{
	uint64_t rank;

	if (result->has_status || !fx_job_rank(&rank))
		return;
	while (waitpid(child, &result->wait_status, 0) < 0) {
		if (errno != EINTR)
			return;
	}
	result->has_status = true;
}

/* The program runs; its session has not begun. */
static int trace(const struct run *run, struct fx_single *single, pid_t child,
		 const struct fx_companion *companion)
{
	struct fx_session_result result;
	const char *what;
	int r = fx_single_begin(single, &what);

	if (r < 0) {
		fx_single_cancel(single);
		return wait_untraced(what, r, child);
	}
	fx_single_run_program(single, child);
	signals_ignore();
	fx_single_finish(single, &result);
	if (run->json)
		fx_json_summary(&run->options.config, &result,
				run->options.config.mode == FX_MODE_CIRCULAR);
	else
		fx_summary_print(&run->options.config, &result, run->program[0],
				 run->options.quiet);
	if (!run->options.quiet)
		fx_companion_report(companion);
	if (run->options.report && !result.output_error)
		r = run_report(run);
	stay_for_launcher(child, &result);
	/* A program that ended well does not hide that. */
	return run_exit_status(&result) ? run_exit_status(&result) : r;
}

static void run_prepare(void *opaque, pid_t program)
{
	fx_companion_start(opaque, program);
}

static int run_execute(const struct run *run)
{
	struct fx_companion companion = {.hz = run->options.config.sample_hz,
					 .switches = run->options.config.kernel,
					 .machine = run->options.config.kernel_machine,
					 .categories = run->options.config.words,
					 .calls =
					     run->options.config.kernel_calls ||
					     fx_program_obstacle(run->program[0]) != FX_LOADABLE,
					 .alone = !run->options.config.follow};
	char library[PATH_MAX], mpi[PATH_MAX];
	struct fx_program_way way;
	struct fx_single *single;
	const char *what;
	pid_t child;
	int r;

	if (find_library(run, library, sizeof(library)) < 0)
		return FX_EXIT_FAILURE;
	r = fx_single_create(&run->options.config, &single, &what);
	if (r < 0 && what == run->options.config.output && !is_scarcity(r)) {
		fx_report_as(run->command, "%s: %s%s", what, fx_destination_why(r),
			     strcmp(what, FX_DEFAULT_OUTPUT) == 0
				 ? "; --output FILE names another place"
				 : "");
		return FX_EXIT_FAILURE;
	}
	if (r < 0)
		return become_program(run, what, r);
	fx_single_let_look(single, fx_client_look);
	way = (struct fx_program_way){
	    .library = library,
	    .mpi = fx_program_mpi(run->program, library, mpi, sizeof(mpi)),
	    .socket = fx_single_socket(single),
	    .to_stderr = fx_destination_is_standard(run->options.config.output),
	    .alone = !run->options.config.follow,
	    .prepare = run_prepare,
	    .opaque = &companion,
	};
	companion.socket = way.socket;
	if (fx_words_ask_probes(companion.categories))
		companion.probes = companion.categories;
	companion.command = run->program;
	child = fx_program_start(run->program, &way);
	if (child < 0) {
		fx_companion_kill(&companion);
		fx_single_cancel(single);
		return is_scarcity(child) ? become_program(run, "cannot start a process", child)
					  : cannot_run(run, child);
	}
	fx_single_accompany(single, &companion);
	return trace(run, single, child, &companion);
}

int fx_cmd_run(int argc, char **argv)
{
	static struct run run; /* large for a narrow stack */
	int status;

	run.command = argv[0];
	fx_options_init(&run.options);
	fx_options_take_environment(&run.options, run.command);
	fx_usage_parse(argv[0], &parser, argc, argv, ARGP_IN_ORDER, &run);
	if (run.is_chosen)
		status = run_execute(&run);
	else
		status = cannot_run(&run, fx_program_become(run.program));
	fx_options_destroy(&run.options);
	return status;
}
