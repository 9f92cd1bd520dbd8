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

/* Prints the version and exits. */
_Noreturn void fx_usage_version(void);

#endif
