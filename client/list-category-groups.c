/* SPDX-License-Identifier: MIT */
/* fxtrace list-category-groups: what #NAME stands for in a list of categories. */
#include <argp.h>
#include <stdio.h>

#include "client/categories.h"
#include "client/commands.h"
#include "client/groups.h"
#include "client/json.h"
#include "client/remote.h"
#include "client/usage.h"
#include "manager/settings/report.h"

static const struct argp_option option_table[] = {
    {"json", OPTION_JSON, NULL, 0, "Print one JSON array", 0},
    FX_USAGE_OPTIONS,
    {0},
};

static error_t list_category_groups_parse(int key, char *value, struct argp_state *state)
{
	return fx_remote_parse(state->input, key, value);
}

static const struct argp parser = {
    .options = option_table,
    .parser = list_category_groups_parse,
    .doc = "Lists the groups of categories that --categories takes as #NAME: the built-in one, and "
	   "those "
	   "of the user's and the system's file (see fxtrace-categories(5)).",
};

static void list_category_groups_print_json(const struct fx_group *g, bool first)
{
	printf("%s{\"name\": ", first ? "" : ", ");
	fx_json_print(g->name);
	printf(", \"categories\": ");
	fx_json_print(g->list);
	if (g->path) {
		printf(", \"file\": ");
		fx_json_print(g->path);
		printf(", \"line\": %u", g->line);
	}
	printf("}");
}

static void list_category_groups_show(const struct fx_remote *remote,
				      const struct fx_groups *groups)
{
	if (remote->json)
		printf("[");
	for (size_t i = 0; i < groups->count; i++) {
		const struct fx_group *g = &groups->entries[i];

		if (remote->json)
			list_category_groups_print_json(g, i == 0);
		else
			printf("#%-16s %s\n", g->name, g->list);
	}
	if (remote->json)
		printf("]\n");
}

int fx_cmd_list_category_groups(int argc, char **argv)
{
	struct fx_remote remote = {.command = argv[0]};
	struct fx_groups groups;
	const char *wrong;

	fx_usage_parse(argv[0], &parser, argc, argv, 0, &remote);
	wrong = fx_groups_read(&groups, fx_categories_default_list());
	if (wrong)
		fx_report_as(remote.command, "%s", wrong);
	else
		list_category_groups_show(&remote, &groups);
	fx_groups_destroy(&groups);
	return wrong ? FX_EXIT_FAILURE : FX_EXIT_OK;
}
