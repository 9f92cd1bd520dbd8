/* SPDX-License-Identifier: MIT */
/* fxtrace list-providers: the processes that are registered. */
#include <stddef.h>

#include "client/commands.h"
#include "client/link.h"
#include "client/remote.h"

static int list_providers_execute(const struct fx_remote *remote, struct fx_link *link)
{
	return fx_remote_print_providers(remote, link, false);
}

static const struct fx_remote_command command = {
    .doc = "Lists the processes that are registered with the manager: id, pid, name, and, while a "
	   "session runs, what their buffers have seen.",
    .execute = list_providers_execute,
};

int fx_cmd_list_providers(int argc, char **argv)
{
	return fx_remote_run(&command, NULL, argc, argv);
}
