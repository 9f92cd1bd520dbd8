/* SPDX-License-Identifier: MIT */
/* fxtrace detach: what an `fxtrace attach' that was killed has left in a program is put back. */
#include "attach/inject.h"
#include "client/attached.h"
#include "client/commands.h"
#include "client/usage.h"
#include "manager/settings/report.h"

struct detach {
	const char *command;
	pid_t pid;
	bool verbose;
};

static const struct argp_option option_table[] = {
    {"verbose", 'v', NULL, 0, "Say how many words were put back", 0},
    FX_USAGE_OPTIONS,
    {0},
};

static error_t detach_parse(int key, char *value, struct argp_state *state)
{
	struct detach *detach = state->input;

	switch (key) {
	case 'v':
		detach->verbose = true;
		return 0;
	case ARGP_KEY_ARG:
		if (detach->pid)
			return ARGP_ERR_UNKNOWN;
		detach->pid = fx_attached_pid(detach->command, value);
		return 0;
	case ARGP_KEY_END:
		if (!detach->pid)
			fx_usage_error(detach->command, "no process to detach from", NULL);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp parser = {
    .options = option_table,
    .parser = detach_parse,
    .args_doc = "PID",
    .doc = "Puts back what `fxtrace attach' has changed in a program, if that did not do so at its "
	   "end: it was killed, or no thread could be used. libfxtrace.so stays in the program and "
	   "does nothing.",
};

int fx_cmd_detach(int argc, char **argv)
{
	struct detach detach = {.command = argv[0]};
	char why[FX_TARGET_WHY];
	struct fx_injected injected;

	fx_usage_parse(argv[0], &parser, argc, argv, 0, &detach);
	if (fx_inject_end(detach.pid, FX_ATTACHED_PATIENCE, &injected, why) < 0) {
		fx_report_as(detach.command, "%d: %s", (int)detach.pid, why);
		return FX_EXIT_FAILURE;
	}
	if (detach.verbose || injected.left)
		fx_report_as(detach.command, "%u words are put back, %u could not be",
			     injected.words, injected.left);
	return injected.left ? FX_EXIT_FAILURE : 0;
}
