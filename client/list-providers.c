/* SPDX-License-Identifier: MIT */
/* fxtrace list-providers: the processes that are registered. */
#include <argp.h>

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
    .doc = "Lists the processes that are registered with the manager: id, pid, name, and, while a "
	   "session runs, what their buffers have seen.",
};

int fx_cmd_list_providers(int argc, char **argv)
{
	struct fx_remote remote = {.command = argv[0]};
	struct fx_link link;
	int status;

	argp_parse(&parser, argc, argv, ARGP_NO_ERRS | ARGP_NO_HELP, NULL, &remote);
	status = fx_link_open(&link, remote.command, remote.socket);
	if (status == 0)
		status = fx_remote_print_providers(&remote, &link, false);
	fx_link_close(&link);
	return status;
}
