/* SPDX-License-Identifier: MIT */
/* fxtrace list-categories: what can be recorded. */
#include <argp.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "client/categories.h"
#include "client/commands.h"
#include "client/json.h"
#include "client/kernel-categories.h"
#include "client/link.h"
#include "client/quantity.h"
#include "client/remote.h"
#include "client/usage.h"

enum { OPTION_TIMEOUT = OPTION_OF_COMMAND };

static const struct argp_option option_table[] = {
    {"timeout", OPTION_TIMEOUT, "TIME", 0,
     "Wait so long for processes that have not said what they know (1s)", 0},
    FX_REMOTE_OPTIONS,
    {0},
};

static bool list_categories_take(const struct fx_remote *remote, int key, char *value)
{
	uint64_t *timeout_ms = remote->own, ns;

	if (key != OPTION_TIMEOUT)
		return false;
	if (!fx_quantity_parse(value, FX_QUANTITY_TIMES, &ns) ||
	    ns / 1000000 > FX_CATEGORIES_TIMEOUT_MAX)
		fx_usage_error(remote->command, "--timeout", "not a time up to 10s");
	*timeout_ms = ns / 1000000;
	return true;
}

/* On a line of its own, what it costs to record one of the tracer's. */
static void list_categories_print_cost(const char *name)
{
	const char *when;
	unsigned bytes = fx_categories_cost(name, &when);

	if (!when)
		return;
	printf("  %16s ", "");
	if (bytes)
		printf("some %u bytes ", bytes);
	printf("%s\n", when);
}

static void list_categories_print_json(const struct fx_category_entry *e, bool first)
{
	const char *when;
	unsigned bytes = fx_categories_cost(e->name, &when);

	printf("%s{\"name\": ", first ? "" : ", ");
	fx_json_print(e->name);
	printf(", \"default\": %s, \"providers\": %" PRIu32 ", \"help\": ",
	       e->is_default ? "true" : "false", e->providers);
	fx_json_print(e->help);
	if (when) {
		printf(", \"bytes\": %u, \"when\": ", bytes);
		fx_json_print(when);
	}
	printf("}");
}

static void print_one(const struct fx_remote *remote, const struct fx_category_entry *e, bool first)
{
	if (remote->json) {
		list_categories_print_json(e, first);
		return;
	}
	printf("%c ", e->is_default ? '*' : ' ');
	fx_text_print(e->name, 16);
	printf(" ");
	fx_text_print(e->help, 0);
	printf("\n");
	list_categories_print_cost(e->name);
}

static void print_kernel(const struct fx_remote *remote, const struct fx_kernel_category *c,
			 bool first)
{
	if (!remote->json) {
		printf("  ");
		fx_text_print(c->name, 16);
		printf(" ");
		fx_text_print(c->help, 0);
		printf("\n  %16s some %u bytes %s\n", "", c->bytes, c->when);
		if (c->cure)
			printf("  %16s not permitted here: %s\n", "", c->cure);
		return;
	}
	printf("%s{\"name\": ", first ? "" : ", ");
	fx_json_print(c->name);
	printf(", \"default\": false, \"providers\": 0, \"help\": ");
	fx_json_print(c->help);
	printf(", \"bytes\": %u, \"when\": ", c->bytes);
	fx_json_print(c->when);
	printf(", \"permitted\": %s", c->cure ? "false" : "true");
	if (c->cure) {
		printf(", \"cure\": ");
		fx_json_print(c->cure);
	}
	printf("}");
}

/* A list that is being printed, by name: the kernel's stand among those that it is given. */
struct list_categories_list {
	const struct fx_remote *remote;
	bool has_some;
	size_t kernel; /* the next of the kernel's */
};

/* Those of the kernel that come before a name; NULL: all that are left. One that is known by it is left to it. */
static void list_categories_up_to(struct list_categories_list *list, const char *name)
{
	struct fx_kernel_category c;

	while (fx_kernel_category(list->kernel, &c)) {
		int order = name ? strcmp(c.name, name) : -1;

		if (order > 0)
			return;
		if (order < 0)
			print_kernel(list->remote, &c, !list->has_some);
		list->has_some |= order < 0;
		list->kernel++;
	}
}

static void list_categories_add(struct list_categories_list *list,
				const struct fx_category_entry *entry)
{
	list_categories_up_to(list, entry->name);
	print_one(list->remote, entry, !list->has_some);
	list->has_some = true;
}

static void print_page(struct list_categories_list *list, struct fx_msg_categories *m)
{
	for (uint32_t i = 0; i < m->count; i++) {
		m->entries[i].name[sizeof(m->entries[i].name) - 1] = 0;
		m->entries[i].help[sizeof(m->entries[i].help) - 1] = 0;
		list_categories_add(list, &m->entries[i]);
	}
}

static void list_categories_see(void *opaque, const char *name, bool by_default, const char *help)
{
	struct fx_category_entry entry = {.is_default = by_default};

	snprintf(entry.name, sizeof(entry.name), "%s", name);
	snprintf(entry.help, sizeof(entry.help), "%s", help);
	list_categories_add(opaque, &entry);
}

/* What is known without a manager. */
static int list_categories_without(const struct fx_remote *remote)
{
	struct list_categories_list list = {.remote = remote};

	if (remote->json)
		printf("[");
	fx_categories_each(list_categories_see, &list);
	list_categories_up_to(&list, NULL);
	if (remote->json)
		printf("]\n");
	return FX_EXIT_OK;
}

/* The page behind `after`, of at most FX_CATEGORIES_PER_MESSAGE entries. */
static int ask(struct fx_link *link, uint64_t timeout_ms, const char *after,
	       struct fx_msg_categories *ret)
{
	struct fx_msg_get_categories request = {.timeout_ms = (uint32_t)timeout_ms};
	int r;

	memcpy(request.after, after, strnlen(after, sizeof(request.after) - 1));
	r = fx_link_call(link, FX_MSG_GET_CATEGORIES, &request, sizeof(request), -1,
			 FX_MSG_CATEGORIES, ret, sizeof(*ret));
	if (ret->count > FX_CATEGORIES_PER_MESSAGE)
		ret->count = FX_CATEGORIES_PER_MESSAGE;
	return r;
}

/* Prints page by page. Names rise, or it would never end. */
static int show_all(const struct fx_remote *remote, struct fx_link *link, uint32_t *ret_silent)
{
	uint64_t timeout_ms = *(const uint64_t *)remote->own;
	struct list_categories_list list = {.remote = remote};
	struct fx_msg_categories m = {.count = 0};
	char after[sizeof(m.entries[0].name)] = "";
	const char *last;
	int r;

	do {
		r = ask(link, timeout_ms, after, &m);
		if (r || m.count == 0)
			break;
		*ret_silent = m.silent;
		print_page(&list, &m);
		last = m.entries[m.count - 1].name;
		if (strcmp(last, after) <= 0)
			break;
		memcpy(after, last, sizeof(after));
		timeout_ms = 0; /* they have been waited for */
	} while (m.count == FX_CATEGORIES_PER_MESSAGE);
	if (r == 0)
		list_categories_up_to(&list, NULL);
	return r;
}

static int list_categories_execute(const struct fx_remote *remote, struct fx_link *link)
{
	uint32_t silent = 0;
	int r;

	if (remote->json)
		printf("[");
	r = show_all(remote, link, &silent);
	if (remote->json)
		printf("]\n");
	if (silent)
		fprintf(stderr, "%s: %" PRIu32 " process%s not said what %s\n", remote->command,
			silent, silent == 1 ? " has" : "es have",
			silent == 1 ? "it knows" : "they know");
	return r;
}

static const struct fx_remote_command command = {
    .doc = "Lists what can be recorded, with what it costs; the categories of #default are marked "
	   "with "
	   "an asterisk. Where a manager runs, those that the registered processes know as well.",
    .options = option_table,
    .take = list_categories_take,
    .execute = list_categories_execute,
    .without = list_categories_without,
};

int fx_cmd_list_categories(int argc, char **argv)
{
	uint64_t timeout_ms = 1000;

	return fx_remote_run(&command, &timeout_ms, argc, argv);
}
