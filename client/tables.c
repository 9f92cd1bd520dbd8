/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <stdio.h>

#include "client/pager.h"
#include "client/quantity.h"
#include "client/tables.h"
#include "client/usage.h"

enum { TOP_MAX = 1000000000 };

static size_t tables_top(const char *command, const char *text)
{
	uint64_t value;

	if (!fx_quantity_parse(text, FX_QUANTITY_COUNTS, &value) || value > TOP_MAX)
		fx_usage_error(command, "not a number of rows", text);
	return value;
}

static void tables_style(struct fx_tables *tables, const char *command, enum fx_print_style style)
{
	if (tables->style != FX_PRINT_TEXT && tables->style != style)
		fx_usage_error(command, "--json, --csv and --names", "one of them");
	tables->style = style;
}

bool fx_tables_option(struct fx_tables *tables, const char *command, int key, const char *arg)
{
	switch (key) {
	case FX_TABLES_TOP:
		tables->top = tables_top(command, arg);
		return true;
	case FX_TABLES_JSON:
		tables_style(tables, command, FX_PRINT_JSON);
		return true;
	case FX_TABLES_CSV:
		tables_style(tables, command, FX_PRINT_CSV);
		return true;
	case FX_TABLES_NAMES:
		tables_style(tables, command, FX_PRINT_NAMES);
		return true;
	case FX_TABLES_COLOR:
		tables->color = fx_color_option(command, arg);
		return true;
	case FX_TABLES_NO_PAGER:
		tables->no_pager = true;
		return true;
	default:
		return false;
	}
}

void fx_tables_begin(const struct fx_tables *tables, struct fx_print *ret)
{
	bool text = tables->style == FX_PRINT_TEXT;

	*ret = (struct fx_print){
	    .out = stdout,
	    .style = tables->style,
	    .width = text ? fx_terminal_width() : 0,
	    .color = text && fx_color_wanted(tables->color),
	};
	if (text && !tables->no_pager)
		fx_pager_start();
	fx_print_begin(ret);
}
