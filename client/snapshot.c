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

struct snapshot {
	struct fx_remote remote;
	const char *output;
};

static const struct argp_option option_table[] = {
    {"output", 'o', "FILE", 0,
     "Write the archive to FILE, `-' for standard output; .gz and .zst compress (snapshot.fxt)", 0},
    FX_REMOTE_OPTIONS,
    {0},
};

static const struct argp parser;

static error_t parse(int key, char *value, struct argp_state *state)
{
	struct snapshot *snapshot = state->input;

	if (key != 'o')
		return fx_remote_parse(&snapshot->remote, &parser, key, value, state);
	snapshot->output = value;
	return 0;
}

static const struct argp parser = {
    .options = option_table,
    .parser = parse,
    .doc = "Writes what the buffers of a session with --buffering-mode circular hold, the last "
	   "moments of every process, while tracing goes on.",
};

static int execute(struct snapshot *snapshot, struct fx_link *link)
{
	const struct fx_session_config config = {.output = snapshot->output,
						 .mode = FX_MODE_CIRCULAR};
	struct fx_msg_snapshot request;
	struct fx_msg_result result;
	bool made = false;
	int r = fx_remote_path(snapshot->output, request.output, sizeof(request.output)), fd = -1;

	if (r == 0)
		r = fd = fx_control_output(snapshot->output, &made);
	if (r < 0) {
		fprintf(stderr, "%s: %s: %s\n", snapshot->remote.command, snapshot->output,
			strerror(-r));
		return FX_EXIT_FAILURE;
	}
	r = fx_link_ask(link, FX_MSG_SNAPSHOT, &request, sizeof(request), fd, &result);
	close(fd);
	if (r == 0)
		fx_remote_print_archive(&snapshot->remote, &config, &result, NULL, false);
	else if (made)
		unlink(snapshot->output);
	return r;
}

int fx_cmd_snapshot(int argc, char **argv)
{
	struct snapshot snapshot = {.remote.command = argv[0], .output = "snapshot.fxt"};
	struct fx_link link;
	int status;

	argp_parse(&parser, argc, argv, ARGP_NO_ERRS | ARGP_NO_HELP, NULL, &snapshot);
	status = fx_link_open(&link, snapshot.remote.command, snapshot.remote.socket);
	if (status == 0)
		status = execute(&snapshot, &link);
	fx_link_close(&link);
	return status;
}
