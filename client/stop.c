/* SPDX-License-Identifier: MIT */
/* fxtrace stop: stops tracing; the session stays. */
#include <argp.h>
#include <stdio.h>

#include "client/accompany.h"
#include "client/commands.h"
#include "client/link.h"
#include "client/remote.h"

static const struct argp_option option_table[] = {
    {"no-results", OPTION_NO_RESULTS, NULL, 0, "Leave what circular buffers hold in them", 0},
    FX_REMOTE_OPTIONS,
    {0},
};

static int stop_execute(const struct fx_remote *remote, struct fx_link *link)
{
	const bool *no_results = remote->own;
	struct fx_msg_stop request = {.write_results = !*no_results};
	struct fx_msg_result result;
	int r = fx_accompany_end(link);

	if (r == 0)
		r = fx_link_ask(link, FX_MSG_STOP, &request, sizeof(request), -1, &result);

	if (r || !remote->json)
		return r;
	printf("{\"state\": \"stopped\", \"providers\": ");
	r = fx_remote_print_providers(remote, link, true);
	printf("}\n");
	return r;
}

static const struct fx_remote_command command = {
    .doc = "Stops tracing, and saves what was recorded. The session stays: fxtrace start goes on "
	   "with it, and fxtrace terminate completes its archive.",
    .options = option_table,
    .take = fx_remote_take_no_results,
    .execute = stop_execute,
};

int fx_cmd_stop(int argc, char **argv)
{
	bool no_results = false;

	return fx_remote_run(&command, &no_results, argc, argv);
}
