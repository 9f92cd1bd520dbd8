/* SPDX-License-Identifier: MIT */
/* fxtrace flush: writes what was recorded so far; tracing goes on. */
#include <stdio.h>

#include "client/commands.h"
#include "client/link.h"
#include "client/remote.h"

static int flush_execute(const struct fx_remote *remote, struct fx_link *link)
{
	struct fx_msg_request request;
	struct fx_msg_result result;
	int r = fx_link_ask(link, FX_MSG_FLUSH, &request, sizeof(request), -1, &result);

	if (r == 0 && remote->json)
		printf("{\"flushed\": true}\n");
	return r;
}

static const struct fx_remote_command command = {
    .doc = "Writes everything that was recorded so far into the session's archive, and returns "
	   "when it is there. Tracing goes on.",
    .execute = flush_execute,
};

int fx_cmd_flush(int argc, char **argv)
{
	return fx_remote_run(&command, NULL, argc, argv);
}
