/* SPDX-License-Identifier: MIT */
/* fxtrace status: what the manager is doing. */
#include <inttypes.h>
#include <stdio.h>

#include "client/commands.h"
#include "client/json.h"
#include "client/link.h"
#include "client/remote.h"

static void print_text(const struct fx_msg_status *s)
{
	printf("manager %" PRIu32 ": %s%s, %" PRIu32 " process%s registered\n", s->pid,
	       fx_link_state_name(s->state), s->aborted ? " (the last session was aborted)" : "",
	       s->providers, s->providers == 1 ? "" : "es");
	if (s->max_memory)
		printf("memory: %" PRIu64 " KiB of %" PRIu64 " KiB\n", s->memory >> 10,
		       s->max_memory >> 10);
	if (s->refused)
		printf("not traced: %" PRIu32 " process%s", s->refused,
		       s->refused == 1 ? "" : "es");
	if (s->no_memory)
		printf(", %" PRIu32 " for want of memory: a larger --max-memory or a smaller "
		       "--buffer-size of the manager traces more",
		       s->no_memory);
	if (s->refused)
		printf("\n");
	if (s->state == FX_SESSION_READY)
		return;
	printf("output: ");
	fx_text_print(s->output, 0);
	printf("\n");
	printf("mode: %s, %" PRIu64 " KiB for each new process\n", fx_mode_name(s->mode),
	       s->buffer_size >> 10);
	printf("for: %.1f s\n", (double)s->state_ns / 1e9);
	if (s->snapshots)
		printf("snapshots: %" PRIu64 "\n", s->snapshots);
}

static void status_print_json(const struct fx_msg_status *s)
{
	printf("{\"pid\": %" PRIu32 ", \"state\": \"%s\", \"aborted\": %s, \"providers\": %" PRIu32
	       ", \"clients\": %" PRIu32 ", \"memory\": %" PRIu64 ", \"max_memory\": %" PRIu64
	       ", \"refused\": %" PRIu32 ", \"refused_memory\": %" PRIu32,
	       s->pid, fx_link_state_name(s->state), s->aborted ? "true" : "false", s->providers,
	       s->clients, s->memory, s->max_memory, s->refused, s->no_memory);
	if (s->state != FX_SESSION_READY) {
		printf(", \"output\": ");
		fx_json_print(s->output);
		printf(", \"mode\": \"%s\", \"buffer_size\": %" PRIu64
		       ", \"detached\": %s, \"snapshots\": %" PRIu64 ", \"seconds\": %.3f",
		       fx_mode_name(s->mode), s->buffer_size, s->detached ? "true" : "false",
		       s->snapshots, (double)s->state_ns / 1e9);
	}
	printf("}\n");
}

static int status_execute(const struct fx_remote *remote, struct fx_link *link)
{
	struct fx_msg_request request;
	struct fx_msg_status status;
	int r = fx_link_call(link, FX_MSG_GET_STATUS, &request, sizeof(request), -1, FX_MSG_STATUS,
			     &status, sizeof(status));

	if (r)
		return r;
	status.output[sizeof(status.output) - 1] = 0;
	if (remote->json)
		status_print_json(&status);
	else
		print_text(&status);
	return FX_EXIT_OK;
}

static const struct fx_remote_command command = {
    .doc =
	"Says what the manager is doing: the state of its session, what is traced, and where to.",
    .execute = status_execute,
};

int fx_cmd_status(int argc, char **argv)
{
	return fx_remote_run(&command, NULL, argc, argv);
}
