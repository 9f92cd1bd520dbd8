/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <argp.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "client/commands.h"
#include "client/completion.h"
#include "manager/process/limits.h"

/* libfxtrace.so knows its own programs by it, and leaves them alone. */
extern const char fxtrace_untraced;
const char fxtrace_untraced __attribute__((used)) = 1;

struct command {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *help;
};

static const struct command commands[] = {
#define FX_COMMAND(name, function, help) {name, function, help},
#include "client/commands.def"
#undef FX_COMMAND
};

#define N_COMMANDS (sizeof(commands) / sizeof(commands[0]))

static const struct command *command_find(const char *name)
{
	for (size_t i = 0; i < N_COMMANDS; i++) {
		if (strcmp(commands[i].name, name) == 0)
			return &commands[i];
	}
	return NULL;
}

/* The subcommand that the program's own name asks for: "run" for ".../fxtrace-run", else NULL. */
static const struct command *command_of_alias(const char *argv0)
{
	static const char prefix[] = "fxtrace-";
	const char *slash = strrchr(argv0, '/');
	const char *base = slash ? slash + 1 : argv0;

	if (strncmp(base, prefix, strlen(prefix)) != 0)
		return NULL;
	return command_find(base + strlen(prefix));
}

static void print_usage(FILE *out)
{
	fputs("Usage: fxtrace COMMAND [OPTION...] [ARG...]\n"
	      "Records what a native Linux program does, in time.\n\n"
	      "Commands:\n",
	      out);
	for (size_t i = 0; i < N_COMMANDS; i++)
		fprintf(out, "  %-20s %s\n", commands[i].name, commands[i].help);
	fputs("\nOptions: --help, --version\n`fxtrace COMMAND --help' lists the options of a "
	      "command.\n",
	      out);
}

/*
 * Output that could not be written is a failure, even of --help. A reader that went away needs
 * no telling.
 */
static int finish_stdout(int status)
{
	if (fflush(stdout) == 0)
		return status;
	if (errno != EPIPE)
		perror("fxtrace: standard output");
	return status == FX_EXIT_OK ? FX_EXIT_FAILURE : status;
}

/* What a shell completes with: client/completion.h. */
static int list_commands(void)
{
	for (size_t i = 0; i < N_COMMANDS; i++)
		printf("%s\t%s\n", commands[i].name, commands[i].help);
	return FX_EXIT_OK;
}

static int list_options(const char *name, const char *option)
{
	const struct command *command = command_find(name);
	char *argv[] = {(char *)name, (char *)"--help", NULL};

	if (!command) {
		fprintf(stderr, "fxtrace help: unknown command '%s'\n", name);
		return FX_EXIT_USAGE;
	}
	if (command->run == fx_cmd_help)
		return FX_EXIT_OK;
	fx_completion_want(option);
	return command->run(2, argv);
}

int fx_cmd_help(int argc, char **argv)
{
	if (argc == 2 && strcmp(argv[1], "--commands") == 0)
		return list_commands();
	if (argc == 3 && strcmp(argv[1], "--options") == 0)
		return list_options(argv[2], NULL);
	if (argc == 4 && strcmp(argv[1], "--values") == 0)
		return list_options(argv[2], argv[3]);
	if (argc > 1) {
		fprintf(stderr, "%s: unexpected argument '%s'\n", argv[0], argv[1]);
		return FX_EXIT_USAGE;
	}
	print_usage(stdout);
	return FX_EXIT_OK;
}

static int run_command(const struct command *command, int argc, char **argv)
{
	char name[64];

	snprintf(name, sizeof(name), "fxtrace %s", command->name);
	argv[0] = name;
	argp_program_version = PACKAGE_STRING;
	argp_err_exit_status = FX_EXIT_USAGE;
	return finish_stdout(command->run(argc, argv));
}

static int run_option(const char *option)
{
	if (strcmp(option, "--help") == 0 || strcmp(option, "-?") == 0) {
		print_usage(stdout);
		return finish_stdout(FX_EXIT_OK);
	}
	if (strcmp(option, "--version") == 0 || strcmp(option, "-V") == 0) {
		puts(PACKAGE_STRING);
		return finish_stdout(FX_EXIT_OK);
	}
	fprintf(stderr, "fxtrace: unknown option '%s' (see fxtrace --help)\n", option);
	return FX_EXIT_USAGE;
}

int main(int argc, char **argv)
{
	const struct command *command = argc > 0 ? command_of_alias(argv[0]) : NULL;

	fx_limits_take();
	if (command)
		return run_command(command, argc, argv);
	if (argc < 2) {
		print_usage(stderr);
		return FX_EXIT_USAGE;
	}
	if (argv[1][0] == '-')
		return run_option(argv[1]);
	command = command_find(argv[1]);
	if (!command) {
		fprintf(stderr, "fxtrace: unknown command '%s' (see fxtrace --help)\n", argv[1]);
		return FX_EXIT_USAGE;
	}
	return run_command(command, argc - 1, argv + 1);
}
