/* SPDX-License-Identifier: MIT */
/* fxtrace terminate: ends the session and completes its archive. */
#include <argp.h>
#include <stdio.h>

#include "client/commands.h"
#include "client/link.h"
#include "client/remote.h"

struct terminate {
	struct fx_remote remote;
	bool no_results;
};

enum { OPTION_NO_RESULTS = OPTION_OF_COMMAND };

static const struct argp_option option_table[] = {
    {"no-results", OPTION_NO_RESULTS, NULL, 0, "Throw away what circular buffers hold", 0},
    FX_REMOTE_OPTIONS,
    {0},
};

static const struct argp parser;

static error_t parse(int key, char *value, struct argp_state *state)
{
	struct terminate *terminate = state->input;

	if (key != OPTION_NO_RESULTS)
		return fx_remote_parse(&terminate->remote, &parser, key, value, state);
	terminate->no_results = true;
	return 0;
}

static const struct argp parser = {
    .options = option_table,
    .parser = parse,
    .doc = "Ends the session: stops tracing if it runs, completes the archive, and says what is in "
	   "it.",
};

/* What the session was, for the summary. It goes with the session. */
static int ask_config(struct fx_link *link, struct fx_msg_status *status,
		      struct fx_session_config *ret)
{
	struct fx_msg_request request;
	int r = fx_link_call(link, FX_MSG_GET_STATUS, &request, sizeof(request), -1, FX_MSG_STATUS,
			     status, sizeof(*status));

	if (r)
		return r;
	status->output[sizeof(status->output) - 1] = 0;
	*ret = (struct fx_session_config){
	    .output = status->output,
	    .mode = (enum fx_buffering_mode)status->mode,
	    .buffer_size = status->buffer_size,
	};
	return 0;
}

static int execute(struct terminate *terminate, struct fx_link *link)
{
	struct fx_msg_stop request = {.write_results = !terminate->no_results};
	struct fx_session_config config;
	struct fx_msg_status status;
	struct fx_msg_result result;
	int r = ask_config(link, &status, &config);

	if (r == 0)
		r = fx_link_ask(link, FX_MSG_TERMINATE, &request, sizeof(request), -1, &result);
	if (r == 0)
		fx_remote_print_archive(&terminate->remote, &config, &result, NULL, false);
	return r;
}

int fx_cmd_terminate(int argc, char **argv)
{
	struct terminate terminate = {.remote.command = argv[0]};
	struct fx_link link;
	int status;

	argp_parse(&parser, argc, argv, ARGP_NO_ERRS | ARGP_NO_HELP, NULL, &terminate);
	status = fx_link_open(&link, terminate.remote.command, terminate.remote.socket);
	if (status == 0)
		status = execute(&terminate, &link);
	fx_link_close(&link);
	return status;
}
