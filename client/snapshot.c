/* SPDX-License-Identifier: MIT */
/* fxtrace snapshot: the last moments of all processes, while tracing goes on. */
#include <argp.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <poll.h>
#include <unistd.h>

#include "client/commands.h"
#include "client/control.h"
#include "client/hosts.h"
#include "client/link.h"
#include "client/remote.h"
#include "client/snapshot.h"
#include "client/usage.h"
#include "manager/settings/report.h"

enum { OPTION_AWAIT = OPTION_OF_COMMAND, OPTION_HOSTS };

/* How often the manager is asked whether it has taken one, in milliseconds. */
enum { AWAIT_LOOK_MS = 100 };

struct snapshot_options {
	const char *output;
	const char *hosts; /* a comma list; NULL: this host alone */
	bool awaits;
};

static const struct argp_option option_table[] = {
    {"output", 'o', "FILE", 0,
     "Write the archive to FILE, `-' for standard output; .gz and .zst compress (snapshot.fxt)", 0},
    {"mode", OPTION_MODE, "MODE", 0,
     "Permissions of the archive, in octal, without the bits of the umask (600)", 0},
    {"await", OPTION_AWAIT, NULL, 0,
     "Wait for a line of standard input, or until the manager takes a snapshot of its own", 0},
    {"hosts", OPTION_HOSTS, "LIST", 0,
     "On these hosts of a comma list, by ssh, at one moment, into one archive", 0},
    FX_REMOTE_OPTIONS,
    {0},
};

static bool snapshot_take(const struct fx_remote *remote, int key, char *value)
{
	struct snapshot_options *options = remote->own;
	const char *wrong = NULL;

	if (key == OPTION_MODE) {
		wrong = fx_options_permissions(value);
		if (wrong)
			fx_usage_error(remote->command, "--mode", wrong);
		return true;
	}
	if (key == OPTION_AWAIT || key == OPTION_HOSTS) {
		options->awaits |= key == OPTION_AWAIT;
		options->hosts = key == OPTION_HOSTS ? value : options->hosts;
		return true;
	}
	if (key != 'o')
		return false;
	if (fx_compression_of(value) == FX_COMPRESSION_UNKNOWN)
		fx_usage_error(remote->command, value, FX_COMPRESSION_WRONG);
	options->output = value;
	return true;
}

/* 0 or a status. */
static int snapshot_look(struct fx_link *link, struct fx_msg_status *ret)
{
	struct fx_msg_request request;

	return fx_link_call(link, FX_MSG_GET_STATUS, &request, sizeof(request), -1, FX_MSG_STATUS,
			    ret, sizeof(*ret));
}

/* Whether a line comes within a moment; false as well if there will be none, which is said. */
static bool snapshot_is_told(const struct fx_remote *remote, bool *ret_ended)
{
	struct pollfd line = {.fd = STDIN_FILENO, .events = POLLIN};
	char c;

	*ret_ended = false;
	if (poll(&line, 1, AWAIT_LOOK_MS) <= 0)
		return false;
	if (read(STDIN_FILENO, &c, 1) == 1)
		return true;
	fx_report_as(remote->command, "standard input has ended: no snapshot");
	*ret_ended = true;
	return false;
}

static int snapshot_without(const char *why)
{
	fprintf(stderr, "%s\n", why);
	return FX_EXIT_FAILURE;
}

/* Returns 0: now, the next one being number *ret_number of the session's; or the status to end with. */
static int snapshot_await(const struct fx_remote *remote, struct fx_link *link,
			  uint64_t *ret_number)
{
	struct fx_msg_status status;
	uint64_t before;
	bool ended = false;
	int r = snapshot_look(link, &status);

	if (r != 0)
		return r;
	if (status.mode != FX_MODE_CIRCULAR)
		return snapshot_without(FX_SNAPSHOT_NONE);
	before = status.snapshots;
	fprintf(stderr, "%s%" PRIu64 "\n%s\n", FX_SNAPSHOT_SO_FAR, before, FX_SNAPSHOT_WAITS);
	while (r == 0 && status.mode == FX_MODE_CIRCULAR && status.snapshots == before) {
		bool told = snapshot_is_told(remote, &ended);

		/* What was called for up to now is had by this one. */
		r = ended ? FX_EXIT_FAILURE : snapshot_look(link, &status);
		*ret_number = status.snapshots + 1;
		if (told)
			return r;
	}
	/* Before it is taken: the session may end meanwhile, and others are to take theirs anyway. */
	if (r == 0 && status.snapshots != before)
		fprintf(stderr, "%s\n", FX_SNAPSHOT_CALLED);
	if (r == 0 && status.mode != FX_MODE_CIRCULAR)
		r = snapshot_without(FX_SNAPSHOT_OVER);
	return r;
}

static int snapshot_execute(const struct fx_remote *remote, struct fx_link *link)
{
	const struct snapshot_options *options = remote->own;
	const char *output = options->output;
	const struct fx_session_config config = {.output = output, .mode = FX_MODE_CIRCULAR};
	struct fx_msg_snapshot request;
	struct fx_msg_result result;
	struct fx_destination destination;
	uint64_t number = 0;
	int r = options->awaits ? snapshot_await(remote, link, &number) : 0;

	if (r != 0)
		return r;
	r = fx_remote_path(output, request.output, sizeof(request.output));
	if (r == 0)
		r = fx_destination_open(output, false, &destination);
	if (r < 0) {
		fx_report_as(remote->command, "%s: %s", output, fx_destination_why(r));
		return FX_EXIT_FAILURE;
	}
	r = fx_link_ask(link, FX_MSG_SNAPSHOT, &request, sizeof(request), destination.fd, &result);
	fx_control_output_passed(&destination, r == 0);
	if (r == 0 && options->awaits)
		fprintf(stderr, "%s%" PRIu64 "\n", FX_SNAPSHOT_SO_FAR, number);
	if (r == 0)
		fx_remote_print_archive(remote, &config, &result, NULL, false);
	return r;
}

static int snapshot_elsewhere(const struct fx_remote *remote)
{
	const struct snapshot_options *options = remote->own;

	if (!options->hosts)
		return -1;
	if (remote->socket || remote->json || fx_destination_is_standard(options->output))
		fx_usage_error(remote->command, "--hosts",
			       "neither --socket, nor --json, nor standard output go with it");
	return fx_hosts_snapshot(options->hosts, remote->command, options->output, options->awaits);
}

static const struct fx_remote_command command = {
    .doc = "Writes what the buffers of a session with --buffering-mode circular hold, the last "
	   "moments of every process, while tracing goes on.",
    .options = option_table,
    .take = snapshot_take,
    .elsewhere = snapshot_elsewhere,
    .execute = snapshot_execute,
};

int fx_cmd_snapshot(int argc, char **argv)
{
	struct snapshot_options options = {.output = "snapshot.fxt"};

	return fx_remote_run(&command, &options, argc, argv);
}
