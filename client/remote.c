/* SPDX-License-Identifier: MIT */
#include "client/remote.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "client/usage.h"
#include "convert/utf8.h"
#include "manager/summary.h"

error_t fx_remote_parse(struct fx_remote *remote, const struct argp *parser, int key, char *value,
			struct argp_state *state)
{
	switch (key) {
	case OPTION_SOCKET:
		remote->socket = value;
		return 0;
	case OPTION_JSON:
		remote->json = true;
		return 0;
	case OPTION_HELP:
		fx_usage_help(remote->command, parser);
	case OPTION_VERSION:
		fx_usage_version();
	case ARGP_KEY_ARG:
		fx_usage_error(remote->command, "unexpected argument", value);
	case ARGP_KEY_ERROR:
		fx_usage_error(remote->command, "unknown option, or one without its value",
			       state->argv[state->next - 1]);
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

/* A byte of a clean text. */
static void print_byte(unsigned char byte)
{
	if (byte == '"' || byte == '\\')
		printf("\\%c", byte);
	else if (byte < ' ' || byte == 0x7f)
		printf("\\u%04x", byte);
	else
		putchar(byte);
}

void fx_json_print(const char *text)
{
	size_t length = strlen(text);
	char *clean = malloc(FX_UTF8_CLEAN_MAX(length) + 1);

	putchar('"');
	if (clean) {
		length = fx_utf8_clean(text, length, clean);
		for (size_t i = 0; i < length; i++)
			print_byte((unsigned char)clean[i]);
	}
	putchar('"');
	free(clean);
}

const char *fx_mode_name(unsigned mode)
{
	static const char *const names[] = {"none", "oneshot", "circular", "streaming"};

	return mode < sizeof(names) / sizeof(names[0]) ? names[mode] : "unknown";
}

static void print_json(const struct fx_session_config *config, const struct fx_msg_result *r,
		       const char *unseen)
{
	printf("{\"output\": ");
	fx_json_print(config->output);
	printf(", \"bytes\": %" PRIu64 ", \"processes\": %" PRIu64 ", \"threads\": %" PRIu64
	       ", \"events\": %" PRIu64 ", \"dropped\": %" PRIu64 ", \"too_deep\": %" PRIu64
	       ", \"invalid\": %" PRIu64,
	       r->file_size, r->processes, r->threads, r->events, r->dropped, r->too_deep,
	       r->invalid);
	printf(", \"unseen_categories\": ");
	fx_json_print(unseen);
	if (r->flags & FX_RESULT_CIRCULAR)
		printf(", \"history_seconds\": %.6f, \"wrapped\": %s", (double)r->history_ns / 1e9,
		       r->flags & FX_RESULT_WRAPPED ? "true" : "false");
	printf("}\n");
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
		    .history_ns = r->flags & FX_RESULT_CIRCULAR ? r->history_ns : 0,
		    .wrapped = (r->flags & FX_RESULT_WRAPPED) != 0,
		    .counts =
			{
			    .events = r->events,
			    .dropped = r->dropped,
			    .too_deep = r->too_deep,
			    .invalid = r->invalid,
			    .numbered = r->numbered_strings,
			},
		},
	};

	memcpy(result.totals.unseen, r->unseen, sizeof(result.totals.unseen) - 1);
	if (remote->json)
		print_json(config, r, result.totals.unseen);
	else
		fx_summary_print(config, &result, program, quiet);
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
