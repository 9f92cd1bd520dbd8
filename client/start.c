/* SPDX-License-Identifier: MIT */
/* fxtrace start: a session that goes on when this command has ended. */
#include <argp.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "client/accompany.h"
#include "client/commands.h"
#include "client/control.h"
#include "client/link.h"
#include "client/remote.h"
#include "client/usage.h"
#include "manager/settings/wanted.h"

struct start {
	struct fx_remote remote;
	struct fx_options options;
	enum fx_disposition disposition; /* 0: not said */
	bool has_options;		 /* of a new session, other than categories */
	bool has_choice;		 /* of functions, */
	bool has_others;		 /* and anything else */
	bool has_categories;
	bool has_kernel_alone; /* which are the kernel provider's */
	bool has_kernel;       /* what the kernel says, probes among it */
};

enum { OPTION_DISPOSITION = OPTION_OF_COMMAND };

static const struct argp_option option_table[] = {
#define FX_OPTION(key, name, argument, variable, setter, where, help)                              \
	{name, key, argument, FX_OPTION_FLAGS(where, OF_START), help, 0},
#include "client/options.def"
#undef FX_OPTION
    {"disposition", OPTION_DISPOSITION, "clear|clear-nondurable|retain", 0,
     "What becomes of events that a stopped session has recorded and not written (retain)", 0},
    FX_REMOTE_OPTIONS,
    {0},
};

static void take_disposition(struct start *start, const char *value)
{
	if (strcmp(value, "clear") == 0)
		start->disposition = FX_CLEAR_ENTIRE;
	else if (strcmp(value, "clear-nondurable") == 0)
		start->disposition = FX_CLEAR_NONDURABLE;
	else if (strcmp(value, "retain") == 0)
		start->disposition = FX_RETAIN;
	else
		fx_usage_error(start->remote.command, "--disposition",
			       "not clear, clear-nondurable or retain");
}

static error_t start_parse(int key, char *value, struct argp_state *state)
{
	struct start *start = state->input;

	if (key == OPTION_DISPOSITION) {
		take_disposition(start, value);
		return 0;
	}
	if (!fx_options_take(&start->options, start->remote.command, OF_START, key, value))
		return fx_remote_parse(&start->remote, key, value);
	if (key == OPTION_KERNEL || key == OPTION_SAMPLE) {
		start->has_kernel = true;
		return 0;
	}
	if (key == 'F' || key == 'N' || key == OPTION_MIN_SIZE)
		start->has_choice = true;
	else if (key != 'c' && key != 'q' && key != 'v')
		start->has_others = true;
	if (key == 'c')
		start->has_categories = true;
	else if (key != 'q' && key != 'v')
		start->has_options = true;
	return 0;
}

static const struct argp parser = {
    .options = option_table,
    .parser = start_parse,
    .doc = "Starts tracing all registered processes and those to come, and returns. A session that "
	   "was stopped goes on, with --categories in addition to its own; one that runs records "
	   "the functions that --filter, --no-trace and "
	   "--min-size choose from now on, and what the kernel says (--kernel, --sample, "
	   "categories sdt:, kernel: and tracepoint:); else a "
	   "new one begins.",
};

static int ask_state(struct fx_link *link, unsigned *ret)
{
	struct fx_msg_request request;
	struct fx_msg_status status;
	int r = fx_link_call(link, FX_MSG_GET_STATUS, &request, sizeof(request), -1, FX_MSG_STATUS,
			     &status, sizeof(status));

	*ret = r ? 0 : status.state;
	return r;
}

/* Tracing runs already: it goes on with other functions, or with what the kernel says. */
static int start_choose(const struct start *start, struct fx_link *link)
{
	int r;

	if (start->has_others || start->disposition ||
	    (start->has_categories && !start->has_kernel_alone))
		fx_usage_error(start->remote.command, "tracing runs already",
			       "it takes other --filter, --no-trace and --min-size, --kernel, "
			       "--sample and categories sdt:, kernel: and tracepoint: alone");
	r = start->has_choice ? fx_control_choose(link, &start->options) : 0;
	if (r == 0 && start->has_kernel)
		r = fx_accompany_session(&start->remote, &start->options, link);
	if (r == 0 && start->remote.json)
		printf("{\"state\": \"started\"}\n");
	return r;
}

static int start_execute(struct start *start, struct fx_link *link)
{
	struct fx_msg_result result;
	unsigned state;
	int r = ask_state(link, &state);
	bool goes_on = state == FX_SESSION_STOPPED || state == FX_SESSION_INITIALIZED;

	if (r)
		return r;
	if ((start->has_choice || start->has_kernel) &&
	    (state == FX_SESSION_STARTED || state == FX_SESSION_STARTING))
		return start_choose(start, link);
	if (goes_on && start->has_options)
		fx_usage_error(start->remote.command, "a stopped session is there",
			       "it keeps its options; fxtrace terminate ends it");
	if (state == FX_SESSION_READY)
		r = fx_control_initialize(link, &start->options, true);
	if (r == 0)
		r = fx_control_start(link, start->disposition ? start->disposition : FX_RETAIN,
				     goes_on && start->has_categories ? &start->options : NULL,
				     &result);
	/* The session goes on without what cannot be had of it. */
	if (r == 0 && start->has_kernel)
		fx_accompany_session(&start->remote, &start->options, link);
	if (r == 0 && start->remote.json)
		printf("{\"state\": \"started\", \"silent_providers\": %u}\n",
		       result.silent_providers);
	return r;
}

int fx_cmd_start(int argc, char **argv)
{
	struct start start = {.remote.command = argv[0]};
	const char *wrong;
	struct fx_link link;
	int status;

	fx_options_init(&start.options);
	fx_usage_parse(argv[0], &parser, argc, argv, 0, &start);
	wrong = fx_options_check(&start.options);
	if (wrong)
		fx_usage_error(start.remote.command, wrong, NULL);
	start.has_kernel_alone = fx_words_are_of_kernel(start.options.config.words);
	start.has_kernel |= fx_words_ask_probes(start.options.config.words) ||
			    fx_words_ask_kernel(start.options.config.words);
	wrong = fx_options_name_output(&start.options, NULL, getpid());
	if (wrong)
		fx_usage_error(start.remote.command, "--output", wrong);
	status = fx_link_open(&link, start.remote.command, start.remote.socket);
	if (status == 0)
		status = start_execute(&start, &link);
	fx_link_close(&link);
	fx_options_destroy(&start.options);
	return status;
}
