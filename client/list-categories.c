/* SPDX-License-Identifier: MIT */
/* fxtrace list-categories: what can be recorded. */
#include <argp.h>
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
    .doc = "Lists the categories that the manager knows; those of #default are marked with an "
	   "asterisk.",
};

static void print_one(const struct fx_remote *remote, const struct fx_category_entry *e, bool first)
{
	if (!remote->json) {
		printf("%c %-16s %s\n", e->is_default ? '*' : ' ', e->name, e->help);
		return;
	}
	printf("%s{\"name\": ", first ? "" : ", ");
	fx_json_print(e->name);
	printf(", \"default\": %s, \"help\": ", e->is_default ? "true" : "false");
	fx_json_print(e->help);
	printf("}");
}

static int show(const struct fx_remote *remote, struct fx_link *link)
{
	struct fx_msg_request request;
	struct fx_msg_categories m;
	int r = fx_link_call(link, FX_MSG_GET_CATEGORIES, &request, sizeof(request), -1,
			     FX_MSG_CATEGORIES, &m, sizeof(m));

	if (r)
		return r;
	if (remote->json)
		printf("[");
	for (uint32_t i = 0; i < m.count && i < sizeof(m.entries) / sizeof(m.entries[0]); i++) {
		m.entries[i].name[sizeof(m.entries[i].name) - 1] = 0;
		m.entries[i].help[sizeof(m.entries[i].help) - 1] = 0;
		print_one(remote, &m.entries[i], i == 0);
	}
	if (remote->json)
		printf("]\n");
	return FX_EXIT_OK;
}

int fx_cmd_list_categories(int argc, char **argv)
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
