/* SPDX-License-Identifier: MIT */
/* Options that choose functions: patterns, a line each behind a sign (symbols/patterns.h). */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/options.h"
#include "client/quantity.h"
#include "manager/settings/functions.h"

/* Takes the patterns of one sign away. */
static void patterns_drop(struct fx_options *o, char sign)
{
	char *to = o->functions;
	size_t length;

	/* What is moved may end where the next line begins, never behind. */
	for (const char *line = o->functions; *line; line += length) {
		length = strcspn(line, "\n") + 1;
		if (*line == sign)
			continue;
		memmove(to, line, length);
		to += length;
	}
	*to = 0;
}

/* Adds one, of `length' bytes. */
static const char *pattern_add(struct fx_options *o, char sign, const char *text, size_t length)
{
	size_t used = strlen(o->functions);
	char glob[FX_FUNCTION_GLOB_MAX];
	const char *wrong;

	if (length >= sizeof(glob) || used + length + sizeof("+\n") > sizeof(o->functions))
		return "longer than all patterns together may be";
	memcpy(glob, text, length);
	glob[length] = 0;
	wrong = fx_functions_check_glob(sign, glob);
	if (wrong)
		return wrong;
	snprintf(o->functions + used, sizeof(o->functions) - used, "%c%s\n", sign, glob);
	o->config.functions = o->functions;
	return NULL;
}

/* The first of the command line stands in place of the variable's, which may have several, one a line. */
static const char *patterns_add(struct fx_options *o, int key, char sign, const char *value)
{
	const char *wrong = NULL;
	size_t length;

	if (!fx_options_given(o, key))
		patterns_drop(o, sign);
	for (; value && !wrong; value = value[length] ? value + length + 1 : NULL) {
		length = strcspn(value, "\n");
		wrong = pattern_add(o, sign, value, length);
	}
	return wrong;
}

const char *fx_options_filter(struct fx_options *o, const char *value)
{
	return patterns_add(o, 'F', '+', value);
}

const char *fx_options_no_trace(struct fx_options *o, const char *value)
{
	return patterns_add(o, 'N', '-', value);
}

const char *fx_options_when(struct fx_options *o, const char *value)
{
	return patterns_add(o, OPTION_WHEN, '>', value);
}

const char *fx_options_args(struct fx_options *o, const char *value)
{
	return patterns_add(o, OPTION_ARGS, '(', value);
}

const char *fx_options_retval(struct fx_options *o, const char *value)
{
	return patterns_add(o, OPTION_RETVAL, '=', value);
}

/* TIME or GLOB=TIME. The first of the command line stands in place of the variable's, of either kind. */
const char *fx_options_min_duration(struct fx_options *o, const char *value)
{
	char line[FX_FUNCTION_GLOB_MAX];

	if (!fx_options_given(o, 't')) {
		patterns_drop(o, '~');
		o->config.min_duration_ns = 0;
	}
	if (!strchr(value, '='))
		return fx_quantity_parse(value, FX_QUANTITY_TIMES, &o->config.min_duration_ns)
			   ? NULL
			   : FX_OPTIONS_BAD_TIME;
	if (!fx_quantity_of_glob(value, line, sizeof(line)))
		return "not GLOB=TIME, such as draw*=10us";
	return pattern_add(o, '~', line, strlen(line));
}

const char *fx_options_min_size(struct fx_options *o, const char *value)
{
	char line[24];
	uint64_t bytes;

	if (!fx_quantity_parse(value, FX_QUANTITY_SIZES, &bytes) || bytes == 0)
		return "not a size";
	patterns_drop(o, '#');
	snprintf(line, sizeof(line), "%" PRIu64, bytes);
	return pattern_add(o, '#', line, strlen(line));
}

/* SHARE in percent, with or without its sign; a variable is set to nothing for the usual one. */
const char *fx_options_auto_suppress(struct fx_options *o, const char *value)
{
	char line[24], *end;
	double share = 5;

	patterns_drop(o, '!');
	if (value && strcmp(value, "0") == 0)
		return NULL;
	if (value && *value) {
		share = strtod(value, &end);
		if (end == value || strcmp(end + (*end == '%'), "") != 0 || !(share >= 0.1) ||
		    share > 100)
			return "not a share from 0.1% to 100%";
	}
	snprintf(line, sizeof(line), "%.0f", share * 10);
	return pattern_add(o, '!', line, strlen(line));
}

const char *fx_options_max_depth(struct fx_options *o, const char *value)
{
	uint64_t depth;

	if (!fx_quantity_parse(value, FX_QUANTITY_COUNTS, &depth) || depth == 0 ||
	    depth > FX_FRAMES - 1)
		return "not a number between 1 and 503";
	o->config.max_depth = (uint32_t)depth;
	return NULL;
}
