/* SPDX-License-Identifier: MIT */
/* fxtrace list-functions PROGRAM: what the compiler plugin has put into it, and what a filter would choose of that. */
#include "config.h"

#include <argp.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include <fxtrace/gate.h>

#include "client/commands.h"
#include "client/pager.h"
#include "client/tables.h"
#include "client/usage.h"
#include "manager/session/program.h"
#include "manager/settings/functions.h"
#include "manager/settings/report.h"
#include "protocol/messages.h"
#include "report/table.h"
#include "symbols/demangle.h"
#include "symbols/inspect.h"
#include "symbols/listing.h"
#include "symbols/symbols.h"

struct list_functions {
	const char *command;
	const char *program;
	const char *module; /* the same without its folders */
	char patterns[FX_FUNCTION_LIST_MAX];
	struct fx_tables tables;
	struct fx_table *table;
	size_t all;
	size_t unsure; /* of the rows: which the linker may have left out */
};

static const struct argp_option option_table[] = {
    {"filter", 'F', "GLOB", 0,
     "Show those that --filter of fxtrace run would record; may be repeated", 0},
    {"no-trace", 'N', "GLOB", 0,
     "Do not show those that --no-trace would leave out; may be repeated", 0},
    FX_TABLES_OPTIONS(1),
    FX_USAGE_OPTIONS,
    {0},
};

static void list_functions_pattern(struct list_functions *list, char sign, const char *glob)
{
	const char *wrong = fx_functions_check_glob(sign, glob);
	size_t used = strlen(list->patterns);

	if (!wrong && used + strlen(glob) + sizeof("+\n") > sizeof(list->patterns))
		wrong = "longer than all patterns together may be";
	if (wrong)
		fx_usage_error(list->command, wrong, glob);
	snprintf(list->patterns + used, sizeof(list->patterns) - used, "%c%s\n", sign, glob);
}

static error_t list_functions_parse(int key, char *arg, struct argp_state *state)
{
	struct list_functions *list = state->input;

	if (fx_tables_option(&list->tables, list->command, key, arg))
		return 0;
	switch (key) {
	case 'F':
		list_functions_pattern(list, '+', arg);
		return 0;
	case 'N':
		list_functions_pattern(list, '-', arg);
		return 0;
	case ARGP_KEY_ARG:
		if (list->program)
			fx_usage_error(list->command, "more than one file", arg);
		list->program = arg;
		return 0;
	case ARGP_KEY_NO_ARGS:
		fx_usage_error(list->command, "no program", NULL);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp list_functions_parser = {
    .options = option_table,
    .parser = list_functions_parse,
    .args_doc = "PROGRAM",
    .doc = "Lists the functions of a program or library that was built with a compiler plugin of "
	   "fxtrace: "
	   "those whose calls can be "
	   "recorded.",
};

static const struct fx_column columns[] = {
    {"name", "function", FX_UNIT_TEXT}, {"size", "size", FX_UNIT_COUNT},
    {"has", "has", FX_UNIT_TEXT},	{"line", "line", FX_UNIT_NUMBER},
    {"file", "file", FX_UNIT_TEXT},
};

static void list_functions_flags(uint32_t flags, char ret[32])
{
	snprintf(ret, 32, "%s%s%s%s%s", flags & FXTRACE_SITE_LOOP ? "loop" : "",
		 flags & FXTRACE_SITE_LOOP && flags & FXTRACE_SITE_CALL ? ", " : "",
		 flags & FXTRACE_SITE_CALL ? "calls" : "",
		 flags & FXTRACE_SITE_EARLY && flags & (FXTRACE_SITE_LOOP | FXTRACE_SITE_CALL)
		     ? ", "
		     : "",
		 flags & FXTRACE_SITE_EARLY ? "early" : "");
}

static int list_functions_take(void *opaque, const struct fx_site_seen *site)
{
	struct list_functions *list = opaque;
	char name[FX_SYMBOL_NAME_MAX + 1], flags[32];
	const struct fx_pattern_subject function = {
	    .module = list->module,
	    .name = name,
	    .source = site->file,
	};

	list->all++;
	fx_demangle(site->name, name);
	if (!fx_functions_wanted(list->patterns, &function))
		return 0;
	list_functions_flags(site->flags, flags);
	list->unsure += site->address == 0;
	fx_table_row(list->table);
	fx_table_string(list->table, 0, name);
	fx_table_number(list->table, 1, site->size);
	fx_table_string(list->table, 2, flags);
	/* Not known of clang's without debug information. */
	if (site->line > 0)
		fx_table_number(list->table, 3, site->line);
	fx_table_string(list->table, 4, site->file);
	return fx_table_error(list->table);
}

static int list_functions_print(struct list_functions *list)
{
	struct fx_print print;

	if (list->patterns[0])
		fx_table_note(list->table, "%zu of %zu functions", fx_table_row_count(list->table),
			      list->all);
	fx_table_note(list->table,
		      "size: instructions, as the compiler counts them before the plugin's own");
	if (list->unsure > 0)
		fx_table_note(
		    list->table,
		    "%zu were compiled with -flto, and linked without the plugin: the symbols that "
		    "would tell which of them are left were stripped",
		    list->unsure);
	fx_table_arrange(list->table, NULL, 0);
	fx_tables_begin(&list->tables, &print);
	fx_print_table(&print, list->table);
	fx_print_end(&print);
	fx_pager_end();
	return FX_EXIT_OK;
}

static void list_functions_none(const struct list_functions *list, const char *path)
{
	struct fx_elf_facts facts;

	if (fx_elf_inspect(path, &facts) == 0 && facts.promised)
		fx_report_as(
		    list->command,
		    "%s: no function has the plugin's code: it was compiled with -flto and the "
		    "plugin for GCC, and linked without the plugin; give the linker "
		    "-fplugin, too",
		    list->program);
	else
		fx_report_as(list->command,
			     "%s: no function was built with the plugin for GCC; what "
			     "-finstrument-functions gives hooks "
			     "is not written down anywhere",
			     list->program);
}

static int list_functions_fail(const struct list_functions *list, const char *path, int r)
{
	if (r == -ENOMEM)
		fx_report_as(list->command, "%s: %s", list->program, strerror(ENOMEM));
	else if (r == -EINVAL)
		fx_report_as(list->command, "%s: no program or library", list->program);
	else if (r < 0)
		fx_report_as(list->command, "%s: %s", list->program, strerror(-r));
	else
		list_functions_none(list, path);
	return FX_EXIT_FAILURE;
}

int fx_cmd_list_functions(int argc, char **argv)
{
	struct list_functions list = {.command = argv[0], .tables = FX_TABLES_INIT};
	char path[PATH_MAX];
	const char *slash;
	int r;

	fx_usage_parse(argv[0], &list_functions_parser, argc, argv, 0, &list);
	slash = strrchr(list.program, '/');
	list.module = slash ? slash + 1 : list.program;
	/* As the shell finds programs; a library is named with its folder, or is here. */
	if (fx_program_find(list.program, path, sizeof(path)) != 0)
		snprintf(path, sizeof(path), "%s", list.program);
	list.table =
	    fx_table_new("functions", "Functions", columns, sizeof(columns) / sizeof(columns[0]));
	r = list.table ? fx_sites_of_file(path, list_functions_take, &list) : -ENOMEM;
	r = r == 0 && list.all > 0 ? list_functions_print(&list)
				   : list_functions_fail(&list, path, r);
	fx_table_free(list.table);
	return fx_usage_flush(list.command, r);
}
