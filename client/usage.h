/* SPDX-License-Identifier: MIT */
/*
 * What every command answers to -h, to -V and to wrong usage. `command` is the name to print,
 * "fxtrace run".
 */
#ifndef FX_CLIENT_USAGE_H
#define FX_CLIENT_USAGE_H

#include <argp.h>
#include <stdbool.h>

/* One line: "COMMAND: WHAT: WHY (see COMMAND --help)"; `why` may be NULL. Exits with FX_EXIT_USAGE. */
_Noreturn void fx_usage_error(const char *command, const char *what, const char *why);

/*
 * Parses a command line: argp_parse() with `flags`, 0 or ARGP_IN_ORDER, for a parser that takes options and arguments
 * and nothing else. -h and -V are answered here, and what is wrong with an option or its value is told: it is
 * unknown, it may be several, its value is missing or is none of its own. So is an argument that nobody took.
 */
void fx_usage_parse(const char *command, const struct argp *parser, int argc, char **argv,
		    unsigned flags, void *input);

/* Help is what this prints from now on. */
void fx_usage_print_help_by(void (*print)(const struct argp *parser));

/*
 * The options that every command has, for its table. Keys of a command's own that are no letters begin
 * at FX_USAGE_KEYS.
 */
enum { FX_USAGE_HELP = 'h', FX_USAGE_VERSION = 'V', FX_USAGE_KEYS = 256 };

/* clang-format off */
#define FX_USAGE_OPTIONS                                                                           \
	{"help", FX_USAGE_HELP, NULL, 0, "Print this list", -1},                                   \
	{"version", FX_USAGE_VERSION, NULL, 0, "Print the version", -1}
/* clang-format on */

/* Whether an option has a letter, its key. */
bool fx_usage_has_letter(const struct argp_option *option);

/* Prints the version. */
void fx_usage_print_version(void);

/* Flushes standard output in the middle of things. False: it cannot be written, which fx_usage_flush() will tell. */
bool fx_usage_flush_some(void);

/*
 * Flushes standard output. What could not be written is a failure, told in a line; a reader that went away needs no
 * telling. Returns the status to exit with.
 */
int fx_usage_flush(const char *command, int status);

#endif
