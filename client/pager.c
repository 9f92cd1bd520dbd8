/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "client/pager.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "client/usage.h"

static pid_t pager;

static const char *pager_command(void)
{
	const char *command = getenv("FXTRACE_PAGER");

	if (!command)
		command = getenv("PAGER");
	if (!command)
		command = "less";
	return *command && strcmp(command, "cat") != 0 ? command : NULL;
}

_Noreturn static void pager_run(const char *command, int in)
{
	dup2(in, STDIN_FILENO);
	setenv("LESS", "FRX", 0);
	execl("/bin/sh", "sh", "-c", command, (char *)NULL);
	_exit(127);
}

void fx_pager_start(void)
{
	const char *command = pager_command();
	int fds[2];

	if (!command || !isatty(STDOUT_FILENO) || pipe(fds) < 0)
		return;
	pager = fork();
	if (pager == 0) {
		close(fds[1]);
		pager_run(command, fds[0]);
	}
	close(fds[0]);
	if (pager > 0)
		dup2(fds[1], STDOUT_FILENO);
	close(fds[1]);
}

void fx_pager_end(void)
{
	if (pager <= 0)
		return;
	fflush(stdout);
	close(STDOUT_FILENO);
	waitpid(pager, NULL, 0);
	pager = 0;
}

bool fx_color_wanted(const char *when)
{
	const char *none = getenv("NO_COLOR"), *terminal = getenv("TERM");

	if (strcmp(when, "auto") != 0)
		return strcmp(when, "always") == 0;
	return isatty(STDOUT_FILENO) && !(none && *none) && terminal &&
	       strcmp(terminal, "dumb") != 0;
}

const char *fx_color_option(const char *command, const char *when)
{
	if (strcmp(when, "always") != 0 && strcmp(when, "never") != 0 && strcmp(when, "auto") != 0)
		fx_usage_error(command, "not always, never or auto", when);
	return when;
}

unsigned fx_terminal_width(void)
{
	const char *columns = getenv("COLUMNS");
	struct winsize size;

	if (columns && atoi(columns) > 0)
		return (unsigned)atoi(columns);
	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0)
		return size.ws_col;
	return 0;
}
