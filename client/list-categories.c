/* SPDX-License-Identifier: MIT */
/* fxtrace list-categories: what can be recorded. */
#include <argp.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "client/commands.h"
#include "client/link.h"
#include "client/options.h"
#include "client/remote.h"
#include "client/usage.h"

struct list {
	struct fx_remote remote;
	uint64_t timeout_ms;
};

enum { OPTION_TIMEOUT = OPTION_OF_COMMAND };

static const struct argp_option option_table[] = {
    {"timeout", OPTION_TIMEOUT, "TIME", 0,
     "Wait so long for processes that have not said what they know (1s)", 0},
    FX_REMOTE_OPTIONS,
    {0},
};

static const struct argp parser;

static error_t parse(int key, char *value, struct argp_state *state)
{
	struct list *list = state->input;
	uint64_t ns;

	if (key != OPTION_TIMEOUT)
		return fx_remote_parse(&list->remote, &parser, key, value, state);
	if (!fx_options_parse_time(value, &ns) || ns / 1000000 > FX_CATEGORIES_TIMEOUT_MAX)
		fx_usage_error(list->remote.command, "--timeout", "not a time up to 10s");
	list->timeout_ms = ns / 1000000;
	return 0;
}

static const struct argp parser = {
    .options = option_table,
    .parser = parse,
    .doc = "Lists the categories that the manager and the registered processes know; those of "
	   "#default "
	   "are marked with an asterisk.",
};

static void print_one(const struct fx_remote *remote, const struct fx_category_entry *e, bool first)
{
	if (!remote->json) {
		printf("%c %-16s %s\n", e->is_default ? '*' : ' ', e->name, e->help);
		return;
	}
	printf("%s{\"name\": ", first ? "" : ", ");
	fx_json_print(e->name);
	printf(", \"default\": %s, \"providers\": %" PRIu32 ", \"help\": ",
	       e->is_default ? "true" : "false", e->providers);
	fx_json_print(e->help);
	printf("}");
}

static void print_page(const struct fx_remote *remote, struct fx_msg_categories *m, bool first)
{
	for (uint32_t i = 0; i < m->count; i++) {
		m->entries[i].name[sizeof(m->entries[i].name) - 1] = 0;
		m->entries[i].help[sizeof(m->entries[i].help) - 1] = 0;
		print_one(remote, &m->entries[i], first && i == 0);
	}
}

/* The page behind `after`, of at most FX_CATEGORIES_PER_MESSAGE entries. */
static int ask(const struct list *list, struct fx_link *link, const char *after,
	       struct fx_msg_categories *ret)
{
	struct fx_msg_get_categories request = {.timeout_ms = (uint32_t)list->timeout_ms};
	int r;

	memcpy(request.after, after, strnlen(after, sizeof(request.after) - 1));
	r = fx_link_call(link, FX_MSG_GET_CATEGORIES, &request, sizeof(request), -1,
			 FX_MSG_CATEGORIES, ret, sizeof(*ret));
	if (ret->count > FX_CATEGORIES_PER_MESSAGE)
		ret->count = FX_CATEGORIES_PER_MESSAGE;
	return r;
}

/* Prints page by page. Names rise, or it would never end. */
static int show_all(struct list *list, struct fx_link *link, uint32_t *ret_silent)
{
	struct fx_msg_categories m = {.count = 0};
	char after[sizeof(m.entries[0].name)] = "";
	const char *last;
	bool first = true;
	int r;

	do {
		r = ask(list, link, after, &m);
		if (r || m.count == 0)
			break;
		*ret_silent = m.silent;
		print_page(&list->remote, &m, first);
		last = m.entries[m.count - 1].name;
		if (strcmp(last, after) <= 0)
			break;
		memcpy(after, last, sizeof(after));
		first = false;
		list->timeout_ms = 0; /* they have been waited for */
	} while (m.count == FX_CATEGORIES_PER_MESSAGE);
	return r;
}

static int show(struct list *list, struct fx_link *link)
{
	uint32_t silent = 0;
	int r;

	if (list->remote.json)
		printf("[");
	r = show_all(list, link, &silent);
	if (list->remote.json)
		printf("]\n");
	if (silent)
		fprintf(stderr, "%s: %" PRIu32 " process%s not said what %s\n",
			list->remote.command, silent, silent == 1 ? " has" : "es have",
			silent == 1 ? "it knows" : "they know");
	return r;
}

int fx_cmd_list_categories(int argc, char **argv)
{
	struct list list = {.remote.command = argv[0], .timeout_ms = 1000};
	struct fx_link link;
	int status;

	argp_parse(&parser, argc, argv, ARGP_NO_ERRS | ARGP_NO_HELP, NULL, &list);
	status = fx_link_open(&link, list.remote.command, list.remote.socket);
	if (status == 0)
		status = show(&list, &link);
	fx_link_close(&link);
	return status;
}
