/* SPDX-License-Identifier: MIT */
/* fxtrace stop: stops tracing; the session stays. */
#include <argp.h>
#include <stdio.h>

#include "client/commands.h"
#include "client/link.h"
#include "client/remote.h"

struct stop {
	struct fx_remote remote;
	bool no_results;
};

enum { OPTION_NO_RESULTS = OPTION_OF_COMMAND };

static const struct argp_option option_table[] = {
    {"no-results", OPTION_NO_RESULTS, NULL, 0, "Leave what circular buffers hold in them", 0},
    FX_REMOTE_OPTIONS,
    {0},
};

static const struct argp parser;

static error_t parse(int key, char *value, struct argp_state *state)
{
	struct stop *stop = state->input;

	if (key != OPTION_NO_RESULTS)
		return fx_remote_parse(&stop->remote, &parser, key, value, state);
	stop->no_results = true;
	return 0;
}

static const struct argp parser = {
    .options = option_table,
    .parser = parse,
    .doc = "Stops tracing, and saves what was recorded. The session stays: fxtrace start goes on "
	   "with it, and fxtrace terminate completes its archive.",
};

static int execute(struct stop *stop, struct fx_link *link)
{
	struct fx_msg_stop request = {.write_results = !stop->no_results};
	struct fx_msg_result result;
	int r = fx_link_ask(link, FX_MSG_STOP, &request, sizeof(request), -1, &result);

	if (r || !stop->remote.json)
		return r;
	printf("{\"state\": \"stopped\", \"providers\": ");
	r = fx_remote_print_providers(&stop->remote, link, true);
	printf("}\n");
	return r;
}

int fx_cmd_stop(int argc, char **argv)
{
	struct stop stop = {.remote.command = argv[0]};
	struct fx_link link;
	int status;

	argp_parse(&parser, argc, argv, ARGP_NO_ERRS | ARGP_NO_HELP, NULL, &stop);
	status = fx_link_open(&link, stop.remote.command, stop.remote.socket);
	if (status == 0)
		status = execute(&stop, &link);
	fx_link_close(&link);
	return status;
}
