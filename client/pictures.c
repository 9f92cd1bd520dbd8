/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "client/pictures.h"
#include "client/quantity.h"

/* More than these would not fit into the numbers of paths, their rests included. */
enum { MOST_PATHS = 1000000000 };

static void pictures_set_time(const char *command, const char *option, const char *value,
			      uint64_t *ret)
{
	if (!fx_quantity_parse(value, FX_QUANTITY_TIMES, ret))
		fx_usage_error(command, option, "not a time with its unit, such as 1.5ms");
}

static void pictures_check_range(const struct fx_picture_choice *choice, const char *command)
{
	if (choice->options.from >= choice->options.to)
		fx_usage_error(command, "--from is not before --to", NULL);
}

static void pictures_set_paths(const char *command, const char *value, uint32_t *ret)
{
	uint64_t paths;

	if (!fx_quantity_parse(value, FX_QUANTITY_COUNTS, &paths) || paths < 1 ||
	    paths > MOST_PATHS)
		fx_usage_error(command, "--max-paths", "not a number from 1 to 1000000000");
	*ret = (uint32_t)paths;
}

bool fx_picture_option(struct fx_picture_choice *choice, const char *command, int key,
		       const char *value)
{
	struct fx_picture_options *options = &choice->options;

	switch (key) {
	case FX_PICTURE_WEIGHT:
		choice->given = "--weight";
		if (!fx_weight_find(value, &options->weight))
			fx_usage_error(command, "unknown weight", value);
		return true;
	case FX_PICTURE_GROUP:
		choice->given = "--group";
		if (!fx_grouping_find(value, &options->grouping))
			fx_usage_error(command, "unknown group", value);
		return true;
	case FX_PICTURE_TIMELINE:
		choice->given = "--timeline";
		options->timeline = true;
		return true;
	case FX_PICTURE_FROM:
		choice->given = "--from";
		pictures_set_time(command, choice->given, value, &options->from);
		pictures_check_range(choice, command);
		return true;
	case FX_PICTURE_TO:
		choice->given = "--to";
		pictures_set_time(command, choice->given, value, &options->to);
		pictures_check_range(choice, command);
		return true;
	case FX_PICTURE_MAX_PATHS:
		choice->given = "--max-paths";
		pictures_set_paths(command, value, &options->paths);
		return true;
	default:
		return false;
	}
}
