/* SPDX-License-Identifier: MIT */
/* fxtrace flush: writes what was recorded so far; tracing goes on. */
#include <argp.h>
#include <stdio.h>

#include "client/commands.h"
#include "client/link.h"
#include "client/remote.h"

static const struct argp_option option_table[] = {
    FX_REMOTE_OPTIONS,
    {0},
};

static const struct argp parser;

static error_t parse(int key, char *value, struct argp_state *state)
{
	return fx_remote_parse(state->input, &parser, key, value, state);
}

static const struct argp parser = {
    .options = option_table,
    .parser = parse,
    .doc = "Writes everything that was recorded so far into the session's archive, and returns "
	   "when it is "
	   "there. Tracing goes on.",
};

int fx_cmd_flush(int argc, char **argv)
{
	struct fx_remote remote = {.command = argv[0]};
	struct fx_msg_request request;
	struct fx_msg_result result;
	struct fx_link link;
	int status;

	argp_parse(&parser, argc, argv, ARGP_NO_ERRS | ARGP_NO_HELP, NULL, &remote);
	status = fx_link_open(&link, remote.command, remote.socket);
	if (status == 0)
		status = fx_link_ask(&link, FX_MSG_FLUSH, &request, sizeof(request), -1, &result);
	if (status == 0 && remote.json)
		printf("{\"flushed\": true}\n");
	fx_link_close(&link);
	return status;
}
