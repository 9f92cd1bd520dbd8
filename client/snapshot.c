/* SPDX-License-Identifier: MIT */
/* fxtrace snapshot: the last moments of all processes, while tracing goes on. */
#include <argp.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "client/commands.h"
#include "client/control.h"
#include "client/link.h"
#include "client/remote.h"
#include "client/usage.h"
#include "manager/settings/report.h"

static const struct argp_option option_table[] = {
    {"output", 'o', "FILE", 0,
     "Write the archive to FILE, `-' for standard output; .gz and .zst compress (snapshot.fxt)", 0},
    {"mode", OPTION_MODE, "MODE", 0,
     "Permissions of the archive, in octal, without the bits of the umask (600)", 0},
    FX_REMOTE_OPTIONS,
    {0},
};

static bool snapshot_take(const struct fx_remote *remote, int key, char *value)
{
	const char **output = remote->own, *wrong = NULL;

	if (key == OPTION_MODE) {
		wrong = fx_options_permissions(value);
		if (wrong)
			fx_usage_error(remote->command, "--mode", wrong);
		return true;
	}
	if (key != 'o')
		return false;
	if (fx_compression_of(value) == FX_COMPRESSION_UNKNOWN)
		fx_usage_error(remote->command, value, FX_COMPRESSION_WRONG);
	*output = value;
	return true;
}

static int snapshot_execute(const struct fx_remote *remote, struct fx_link *link)
{
	const char *output = *(const char **)remote->own;
	const struct fx_session_config config = {.output = output, .mode = FX_MODE_CIRCULAR};
	struct fx_msg_snapshot request;
	struct fx_msg_result result;
	struct fx_destination destination;
	int r = fx_remote_path(output, request.output, sizeof(request.output));

	if (r == 0)
		r = fx_destination_open(output, false, &destination);
	if (r < 0) {
		fx_report_as(remote->command, "%s: %s", output, fx_destination_why(r));
		return FX_EXIT_FAILURE;
	}
	r = fx_link_ask(link, FX_MSG_SNAPSHOT, &request, sizeof(request), destination.fd, &result);
	fx_control_output_passed(&destination, r == 0);
	if (r == 0)
		fx_remote_print_archive(remote, &config, &result, NULL, false);
	return r;
}

static const struct fx_remote_command command = {
    .doc = "Writes what the buffers of a session with --buffering-mode circular hold, the last "
	   "moments of every process, while tracing goes on.",
    .options = option_table,
    .take = snapshot_take,
    .execute = snapshot_execute,
};

int fx_cmd_snapshot(int argc, char **argv)
{
	const char *output = "snapshot.fxt";

	return fx_remote_run(&command, &output, argc, argv);
}
