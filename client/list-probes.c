/* SPDX-License-Identifier: MIT */
/* fxtrace list-probes PROGRAM: the static probes (<sys/sdt.h>) of a program and its libraries, as categories name them. */
#include "config.h"

#include <argp.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "client/commands.h"
#include "client/pager.h"
#include "client/tables.h"
#include "client/usage.h"
#include "kernel/probe-operand.h"
#include "kernel/probe.h"
#include "manager/settings/report.h"
#include "report/table.h"
#include "symbols/needed.h"
#include "symbols/probes.h"

struct list_probes {
	const char *command;
	char *program;
	const char *path; /* of the file at hand */
	struct fx_tables tables;
	struct fx_table *table;
};

static const struct argp_option option_table[] = {
    FX_TABLES_OPTIONS(1),
    FX_USAGE_OPTIONS,
    {0},
};

static error_t list_probes_parse(int key, char *arg, struct argp_state *state)
{
	struct list_probes *list = state->input;

	if (fx_tables_option(&list->tables, list->command, key, arg))
		return 0;
	switch (key) {
	case ARGP_KEY_ARG:
		if (list->program)
			fx_usage_error(list->command, "more than one program", arg);
		list->program = arg;
		return 0;
	case ARGP_KEY_NO_ARGS:
		fx_usage_error(list->command, "no program", NULL);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp list_probes_parser = {
    .options = option_table,
    .parser = list_probes_parse,
    .args_doc = "PROGRAM",
    .doc = "Lists the static probes (USDT, <sys/sdt.h>) of a program and of the libraries that it "
	   "needs, by the names that "
	   "--categories of fxtrace run takes.",
};

static const struct fx_column columns[] = {
    {"name", "probe", FX_UNIT_TEXT},
    {"arguments", "arguments", FX_UNIT_TEXT},
    {"semaphore", "semaphore", FX_UNIT_TEXT},
    {"file", "file", FX_UNIT_TEXT},
};

/* What is written of an argument: its type, or "-(thread-local)". */
#define ARGUMENT_MAX 24u

/* Their types; a dash for what cannot be fetched, and why. */
static void argument_types_write(const struct fx_probe_seen *probe, char *ret, size_t size)
{
	struct fx_probe_argument arguments[FX_PROBE_ARGUMENTS];
	unsigned count = fx_probe_operands(probe, arguments);
	size_t used = 0;

	ret[0] = 0;
	for (unsigned i = 0; i < count; i++) {
		const char *gap = i ? " " : "";

		if (arguments[i].kind == FX_PROBE_UNREACHABLE)
			used += (size_t)snprintf(ret + used, size - used, "%s-(%s)", gap,
						 arguments[i].why);
		else
			used += (size_t)snprintf(ret + used, size - used, "%s%s", gap,
						 fx_probe_argument_type(&arguments[i]));
	}
}

static int list_probes_take(void *opaque, const struct fx_probe_seen *probe)
{
	struct list_probes *list = opaque;
	char name[512], arguments[FX_PROBE_ARGUMENTS * ARGUMENT_MAX];

	snprintf(name, sizeof(name), FX_PROBE_PREFIX "%s:%s", probe->provider, probe->name);
	argument_types_write(probe, arguments, sizeof(arguments));
	fx_table_row(list->table);
	fx_table_string(list->table, 0, name);
	fx_table_string(list->table, 1, arguments);
	fx_table_string(list->table, 2, probe->semaphore ? "yes" : "");
	fx_table_string(list->table, 3, list->path);
	return fx_table_error(list->table);
}

static int list_probes_file(void *opaque, const char *path)
{
	struct list_probes *list = opaque;
	int r;

	list->path = path;
	r = fx_probes_of_file(path, list_probes_take, list);
	return r == -ENOMEM ? r : 0;
}

static void list_probes_print(struct list_probes *list)
{
	struct fx_print print;

	fx_table_note(list->table,
		      "arguments: their types; a dash: one that cannot be had, and why");
	fx_table_note(list->table, "semaphore: what the program prepares for the probe, it "
				   "prepares only while it is recorded");
	fx_table_arrange(list->table, NULL, 0);
	fx_tables_begin(&list->tables, &print);
	fx_print_table(&print, list->table);
	fx_print_end(&print);
	fx_pager_end();
}

static int list_probes_fail(const struct list_probes *list, int r)
{
	if (r == -ENOENT)
		fx_report_as(list->command, "%s: no such program", list->program);
	else if (r == -EINVAL)
		fx_report_as(list->command, "%s: no program or library", list->program);
	else if (r < 0)
		fx_report_as(list->command, "%s: %s", list->program, strerror(-r));
	else
		fx_report_as(list->command,
			     "%s: neither it nor its libraries have a probe of <sys/sdt.h>",
			     list->program);
	return FX_EXIT_FAILURE;
}

int fx_cmd_list_probes(int argc, char **argv)
{
	struct list_probes list = {.command = argv[0], .tables = FX_TABLES_INIT};
	char *command[2] = {NULL, NULL};
	int r;

	fx_usage_parse(argv[0], &list_probes_parser, argc, argv, 0, &list);
	command[0] = list.program;
	list.table =
	    fx_table_new("probes", "Probes", columns, sizeof(columns) / sizeof(columns[0]));
	r = list.table ? fx_needed_files(command, list_probes_file, &list) : -ENOMEM;
	if (r == 0 && fx_table_row_count(list.table)) {
		list_probes_print(&list);
		r = FX_EXIT_OK;
	} else {
		r = list_probes_fail(&list, r);
	}
	fx_table_free(list.table);
	return fx_usage_flush(list.command, r);
}
