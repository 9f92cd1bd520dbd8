/* SPDX-License-Identifier: MIT */
#include "client/remote.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "client/json.h"
#include "client/usage.h"
#include "manager/session/summary.h"
#include "protocol/place.h"

error_t fx_remote_parse(struct fx_remote *remote, int key, char *value)
{
	switch (key) {
	case OPTION_SOCKET:
		remote->socket = value;
		return 0;
	case OPTION_JSON:
		remote->json = true;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

struct parsing {
	struct fx_remote remote;
	const struct fx_remote_command *command;
};

static error_t remote_parse(int key, char *value, struct argp_state *state)
{
	struct parsing *p = state->input;

	if (p->command->take && p->command->take(&p->remote, key, value))
		return 0;
	return fx_remote_parse(&p->remote, key, value);
}

bool fx_remote_take_no_results(const struct fx_remote *remote, int key, char *value)
{
	bool *no_results = remote->own;

	(void)value;
	if (key != OPTION_NO_RESULTS)
		return false;
	*no_results = true;
	return true;
}

int fx_remote_run(const struct fx_remote_command *command, void *own, int argc, char **argv)
{
	static const struct argp_option common[] = {FX_REMOTE_OPTIONS, {0}};
	const struct argp parser = {
	    .options = command->options ? command->options : common,
	    .parser = remote_parse,
	    .doc = command->doc,
	};
	struct parsing p = {.remote = {.command = argv[0], .own = own}, .command = command};
	struct fx_link link;
	int status;

	fx_usage_parse(argv[0], &parser, argc, argv, 0, &p);
	status = command->elsewhere ? command->elsewhere(&p.remote) : -1;
	if (status >= 0)
		return status;
	if (command->without && !p.remote.socket && !fx_link_is_there())
		return command->without(&p.remote);
	status = fx_link_open(&link, p.remote.command, p.remote.socket);
	if (status == 0)
		status = command->execute(&p.remote, &link);
	fx_link_close(&link);
	return status;
}

const char *fx_mode_name(unsigned mode)
{
	static const char *const names[] = {"none", "oneshot", "circular", "streaming"};

	return mode < sizeof(names) / sizeof(names[0]) ? names[mode] : "unknown";
}

void fx_remote_print_archive(const struct fx_remote *remote, const struct fx_session_config *config,
			     const struct fx_msg_result *r, const char *program, bool quiet)
{
	struct fx_session_result result = {
	    .output_error = r->output_error,
	    .totals =
		{
		    .processes = r->processes,
		    .threads = r->threads,
		    .file_size = r->file_size,
		    .events = r->events,
		    .history_ns = r->flags & FX_RESULT_CIRCULAR ? r->history_ns : 0,
		    .wrapped = (r->flags & FX_RESULT_WRAPPED) != 0,
		    .shortened = (r->flags & FX_RESULT_SHORTENED) != 0,
		    .counts =
			{
			    .events = r->flags & FX_RESULT_EMPTY ? 0 : r->events,
			    .dropped = r->dropped,
			},
		},
	};

	memcpy(result.totals.unseen, r->unseen, sizeof(result.totals.unseen) - 1);
	memcpy(result.totals.suppressed, r->suppressed, sizeof(result.totals.suppressed) - 1);
	memcpy(result.totals.counts.lost, r->lost, sizeof(result.totals.counts.lost));
	result.totals.transfers.arrows = r->messages[0];
	memcpy(result.totals.transfers.left, r->messages + 1, sizeof(result.totals.transfers.left));
	result.totals.shares.arrows = r->shares[0];
	memcpy(result.totals.shares.left, r->shares + 1, sizeof(result.totals.shares.left));
	if (remote->json)
		fx_json_summary(config, &result, r->flags & FX_RESULT_CIRCULAR);
	else
		fx_summary_print(config, &result, program, quiet);
}

/* --- Providers ------------------------------------------------------------------------------- */

static void print_provider_text(const struct fx_provider_entry *e)
{
	printf("%6" PRIu32 " %8" PRIu32 " ", e->id, e->pid);
	fx_text_print(e->name, 24);
	printf(" %9" PRIu64 " KiB", e->buffer_size >> 10);
	if (e->mode)
		printf("  %s, %" PRIu64 " wraps, %" PRIu64 " dropped%s", fx_mode_name(e->mode),
		       e->wraps, e->dropped,
		       e->gone	    ? ", gone"
		       : e->started ? ""
				    : ", silent");
	putchar('\n');
}

static void print_provider_json(const struct fx_provider_entry *e)
{
	double part =
	    e->durable_size ? 100.0 * (double)e->durable_used / (double)e->durable_size : 0;

	printf("{\"id\": %" PRIu32 ", \"pid\": %" PRIu32 ", \"name\": ", e->id, e->pid);
	fx_json_print(e->name);
	printf(", \"buffer_size\": %" PRIu64
	       ", \"mode\": \"%s\", \"started\": %s, \"wraps\": %" PRIu64 ", \"dropped\": %" PRIu64
	       ", \"durable_used\": %" PRIu64 ", \"durable_size\": %" PRIu64
	       ", \"durable_percent\": %.1f, \"rolling_used\": %" PRIu64 ", \"gone\": %s}",
	       e->buffer_size, fx_mode_name(e->mode), e->started ? "true" : "false", e->wraps,
	       e->dropped, e->durable_used, e->durable_size, part, e->rolling_used,
	       e->gone ? "true" : "false");
}

int fx_remote_each_provider(struct fx_link *link, bool of_session,
			    void (*see)(void *opaque, const struct fx_provider_entry *entry),
			    void *opaque)
{
	struct fx_msg_get_providers request = {.after = 0, .of_session = of_session};
	struct fx_msg_providers some;
	int r;

	do {
		r = fx_link_call(link, FX_MSG_GET_PROVIDERS, &request, sizeof(request), -1,
				 FX_MSG_PROVIDERS, &some, sizeof(some));
		if (r)
			return r;
		for (uint32_t i = 0; i < some.count && i < FX_PROVIDERS_PER_MESSAGE; i++) {
			struct fx_provider_entry *e = &some.entries[i];

			e->name[sizeof(e->name) - 1] = 0;
			see(opaque, e);
			request.after = e->id;
		}
	} while (some.count == FX_PROVIDERS_PER_MESSAGE);
	return 0;
}

struct providers_printed {
	bool json;
	unsigned count;
};

static void print_provider(void *opaque, const struct fx_provider_entry *e)
{
	struct providers_printed *printed = opaque;

	if (printed->json)
		printf("%s", printed->count ? ", " : "");
	(printed->json ? print_provider_json : print_provider_text)(e);
	printed->count++;
}

int fx_remote_print_providers(const struct fx_remote *remote, struct fx_link *link, bool of_session)
{
	struct providers_printed printed = {.json = remote->json};
	int r;

	if (remote->json)
		printf("[");
	r = fx_remote_each_provider(link, of_session, print_provider, &printed);
	if (r == 0 && remote->json)
		printf("]%s", of_session ? "" : "\n");
	return r;
}

int fx_remote_socket(const struct fx_remote *remote, char *ret, size_t size)
{
	char usual[FX_SOCKET_PATH_SIZE];
	const char *socket = remote->socket;
	int r = 0;

	if (!socket) {
		r = fx_place_find(usual);
		socket = usual;
	}
	return r < 0 ? r : fx_remote_path(socket, ret, size);
}

int fx_remote_path(const char *path, char *ret, size_t size)
{
	char directory[FX_OUTPUT_PATH_MAX];
	int n;

	if (path[0] == '/' || strcmp(path, "-") == 0)
		n = snprintf(ret, size, "%s", path);
	else if (getcwd(directory, sizeof(directory)))
		n = snprintf(ret, size, "%s/%s", directory, path);
	else
		return -errno;
	return n < 0 || (size_t)n >= size ? -ENAMETOOLONG : 0;
}
