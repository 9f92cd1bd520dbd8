/* SPDX-License-Identifier: MIT */
/*
 * The subcommands of fxtrace, as commands.def lists them. Each has a file of its own, NAME.c,
 * with a function of this shape:
 *
 *   argv[0] is the name to print in messages ("fxtrace check"), and
 *   argv[1] to argv[argc - 1] are the arguments after the subcommand. The result is the exit
 *   status: FX_EXIT_OK, FX_EXIT_FAILURE, FX_EXIT_USAGE, or a status of the command's own.
 */
#ifndef FX_CLIENT_COMMANDS_H
#define FX_CLIENT_COMMANDS_H

enum fx_exit {
	FX_EXIT_OK = 0,
	FX_EXIT_FAILURE = 1,
	FX_EXIT_USAGE = 2,
};

#define FX_COMMAND(name, function, help) int function(int argc, char **argv);
#include "client/commands.def"
#undef FX_COMMAND

#endif
