/* SPDX-License-Identifier: MIT */
/*
 * What every command answers to --help, to --version and to wrong usage. `command` is the name to
 * print, "fxtrace run".
 */
#ifndef FX_CLIENT_USAGE_H
#define FX_CLIENT_USAGE_H

#include <argp.h>

/* One line: "COMMAND: WHAT: WHY (see --help)"; `why` may be NULL. Exits with FX_EXIT_USAGE. */
_Noreturn void fx_usage_error(const char *command, const char *what, const char *why);

/* Prints the help of `parser` and exits. */
_Noreturn void fx_usage_help(const char *command, const struct argp *parser);

/* From now on help is what this prints. */
void fx_usage_print_help_by(void (*print)(const struct argp *parser));

/* Prints the version and exits. */
_Noreturn void fx_usage_version(void);

/*
 * The options that every command has, for its table, and what answers them: the default case of its
 * parser. Returns ARGP_ERR_UNKNOWN for any other key; a bad option is wrong usage. Keys of a command's
 * own that are no letters begin at FX_USAGE_KEYS.
 */
enum { FX_USAGE_HELP = '?', FX_USAGE_VERSION = 256, FX_USAGE_KEYS };

/* clang-format off */
#define FX_USAGE_OPTIONS                                                                           \
	{"help", FX_USAGE_HELP, NULL, 0, "Print this list", -1},                                   \
	{"version", FX_USAGE_VERSION, NULL, 0, "Print the version", -1}
/* clang-format on */

error_t fx_usage_option(const char *command, const struct argp *parser, int key,
			const struct argp_state *state);

#endif
