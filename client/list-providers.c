/* SPDX-License-Identifier: MIT */
/* fxtrace list-providers: the processes that are registered. */
#include <argp.h>
#include <inttypes.h>
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
    .doc = "Lists the processes that are registered with the manager: id, pid, name, and, while a "
	   "session runs, what their buffers have seen.",
};

static void print_text(const struct fx_provider_entry *e)
{
	printf("%6" PRIu32 " %8" PRIu32 " %-24s %9" PRIu64 " KiB", e->id, e->pid, e->name,
	       e->buffer_size >> 10);
	if (e->mode)
		printf("  %s, %" PRIu64 " wraps, %" PRIu64 " dropped%s", fx_mode_name(e->mode),
		       e->wraps, e->dropped, e->started ? "" : ", silent");
	putchar('\n');
}

static void print_json(const struct fx_provider_entry *e)
{
	printf("{\"id\": %" PRIu32 ", \"pid\": %" PRIu32 ", \"name\": ", e->id, e->pid);
	fx_json_print(e->name);
	printf(", \"buffer_size\": %" PRIu64
	       ", \"mode\": \"%s\", \"started\": %s, \"wraps\": %" PRIu64 ", \"dropped\": %" PRIu64
	       ", \"durable_used\": %" PRIu64 ", \"durable_size\": %" PRIu64 "}",
	       e->buffer_size, fx_mode_name(e->mode), e->started ? "true" : "false", e->wraps,
	       e->dropped, e->durable_used, e->durable_size);
}

/* One message's worth; *at is how many came before. */
static void print_some(const struct fx_remote *remote, struct fx_msg_providers *m, unsigned *at)
{
	if (m->count > FX_PROVIDERS_PER_MESSAGE)
		m->count = FX_PROVIDERS_PER_MESSAGE;
	for (uint32_t i = 0; i < m->count; i++) {
		struct fx_provider_entry *e = &m->entries[i];

		e->name[sizeof(e->name) - 1] = 0;
		if (remote->json)
			printf("%s", *at ? ", " : "");
		(remote->json ? print_json : print_text)(e);
		(*at)++;
	}
}

static int show(const struct fx_remote *remote, struct fx_link *link)
{
	struct fx_msg_get_providers request = {.after = 0};
	struct fx_msg_providers some;
	unsigned at = 0;
	int r;

	if (remote->json)
		printf("[");
	do {
		r = fx_link_call(link, FX_MSG_GET_PROVIDERS, &request, sizeof(request), -1,
				 FX_MSG_PROVIDERS, &some, sizeof(some));
		if (r)
			return r;
		print_some(remote, &some, &at);
		if (some.count)
			request.after = some.entries[some.count - 1].id;
	} while (some.count == FX_PROVIDERS_PER_MESSAGE);
	if (remote->json)
		printf("]\n");
	return FX_EXIT_OK;
}

int fx_cmd_list_providers(int argc, char **argv)
{
	struct fx_remote remote = {.command = argv[0]};
	struct fx_link link;
	int status;

	argp_parse(&parser, argc, argv, ARGP_NO_ERRS | ARGP_NO_HELP, NULL, &remote);
	status = fx_link_open(&link, remote.command, remote.socket);
	if (status == 0)
		status = show(&remote, &link);
	fx_link_close(&link);
	return status;
}
