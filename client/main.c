/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/wide-stack.h"
#include "client/commands.h"
#include "client/completion.h"
#include "client/guess.h"
#include "client/usage.h"
#include "manager/process/limits.h"
#include "manager/settings/report.h"

/* libfxtrace.so knows its own programs by it, and leaves them alone. */
extern const char fxtrace_untraced;
const char fxtrace_untraced __attribute__((used)) = 1;

/* In the names of archives, compressed or not. */
#define ARCHIVE ".fxt"

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
	fputs("\nOptions: -h, --help, -V, --version\n`fxtrace help COMMAND' lists the options of a "
	      "command.\n",
	      out);
}

/* What a shell completes with: client/completion.h. */
static int list_commands(void)
{
	for (size_t i = 0; i < N_COMMANDS; i++)
		printf("%s\t%s\n", commands[i].name, commands[i].help);
	return FX_EXIT_OK;
}

static int run_command(const struct command *command, int argc, char **argv)
{
	static char name[64];

	snprintf(name, sizeof(name), "fxtrace %s", command->name);
	argv[0] = name;
	return fx_usage_flush(name, command->run(argc, argv));
}

static int unknown_command(const char *command, const char *name)
{
	struct fx_guess guess = fx_guess_begin(name, strlen(name));

	for (size_t i = 0; i < N_COMMANDS; i++)
		fx_guess_try(&guess, commands[i].name);
	if (guess.best)
		fx_report_as(command,
			     "unknown command '%.200s', did you mean %s? (see fxtrace --help)",
			     name, guess.best);
	else if (access(name, X_OK) == 0)
		fx_report_as(command, "unknown command '%.200s'; fxtrace run -- %.200s traces it",
			     name, name);
	else if (strlen(name) > strlen(ARCHIVE) && strstr(name, ARCHIVE) && access(name, R_OK) == 0)
		fx_report_as(
		    command,
		    "unknown command '%.200s'; fxtrace report %.200s says what took the time, "
		    "fxtrace view %.200s shows it",
		    name, name, name);
	else
		fx_report_as(command, "unknown command '%.200s' (see fxtrace --help)", name);
	return FX_EXIT_USAGE;
}

/* The help of one command; its own last word, if it is asked for its options, is --help. */
static int help_of(const char *name)
{
	const struct command *command = command_find(name);
	char *argv[] = {(char *)name, (char *)"--help", NULL};

	if (!command)
		return unknown_command("fxtrace help", name);
	return run_command(command, 2, argv);
}

static int list_options(const char *name, const char *option)
{
	fx_completion_want(option);
	return help_of(name);
}

static int print_usage_all(void)
{
	print_usage(stdout);
	return FX_EXIT_OK;
}

static int print_version(void)
{
	fx_usage_print_version();
	return FX_EXIT_OK;
}

static bool is_either(const char *word, const char *letter, const char *name)
{
	return strcmp(word, letter) == 0 || strcmp(word, name) == 0;
}

int fx_cmd_help(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : NULL;

	if (!what)
		return print_usage_all();
	if (argc == 2 && strcmp(what, "--commands") == 0)
		return list_commands();
	if (argc == 3 && strcmp(what, "--options") == 0)
		return list_options(argv[2], NULL);
	if (argc == 4 && strcmp(what, "--values") == 0)
		return list_options(argv[2], argv[3]);
	if (is_either(what, "-h", "--help"))
		return print_usage_all();
	if (is_either(what, "-V", "--version"))
		return print_version();
	if (what[0] == '-')
		fx_usage_error(argv[0], "unknown option", what);
	if (argc > 2)
		fx_usage_error(argv[0], "more than one COMMAND given", argv[2]);
	return help_of(what);
}

static int run_option(const char *option)
{
	if (is_either(option, "-h", "--help"))
		return fx_usage_flush("fxtrace", print_usage_all());
	if (is_either(option, "-V", "--version"))
		return fx_usage_flush("fxtrace", print_version());
	fx_report("unknown option '%.200s' (see fxtrace --help)", option);
	return FX_EXIT_USAGE;
}

/* A standard descriptor that is closed must not be that of a file to come: reading and writing go on to fail. What is started
 * from here finds it closed. */
static void hold_standard(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
		if (fcntl(fd, F_GETFD) < 0 &&
		    open("/dev/null", (fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) | O_CLOEXEC) < 0)
			return;
	}
}

static int main_of_commands(int argc, char **argv)
{
	const struct command *command = argc > 0 ? command_of_alias(argv[0]) : NULL;

	hold_standard();
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
	if (!command)
		return unknown_command("fxtrace", argv[1]);
	return run_command(command, argc - 1, argv + 1);
}

int main(int argc, char **argv)
{
	return fx_wide_stack_call(main_of_commands, argc, argv);
}
