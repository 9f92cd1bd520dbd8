/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "client/usage.h"

#include <stdio.h>
#include <stdlib.h>

#include "client/commands.h"

_Noreturn void fx_usage_error(const char *command, const char *what, const char *why)
{
	fprintf(stderr, "%s: %s%s%s (see --help)\n", command, what, why ? ": " : "",
		why ? why : "");
	exit(FX_EXIT_USAGE);
}

static void (*help_print)(const struct argp *parser);

void fx_usage_print_help_by(void (*print)(const struct argp *parser))
{
	help_print = print;
}

_Noreturn void fx_usage_help(const char *command, const struct argp *parser)
{
	if (help_print)
		help_print(parser);
	else
		argp_help(parser, stdout, ARGP_HELP_STD_HELP & ~ARGP_HELP_EXIT_OK, (char *)command);
	exit(FX_EXIT_OK);
}

_Noreturn void fx_usage_version(void)
{
	puts(PACKAGE_STRING);
	exit(FX_EXIT_OK);
}

error_t fx_usage_option(const char *command, const struct argp *parser, int key,
			const struct argp_state *state)
{
	switch (key) {
	case FX_USAGE_HELP:
		fx_usage_help(command, parser);
	case FX_USAGE_VERSION:
		fx_usage_version();
	case ARGP_KEY_ERROR:
		fx_usage_error(command, "bad option", state->argv[state->next - 1]);
	default:
		return ARGP_ERR_UNKNOWN;
	}
}
