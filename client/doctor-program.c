/* SPDX-License-Identifier: MIT */
#include "client/doctor.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "manager/process/limits.h"
#include "manager/session/program.h"
#include "symbols/inspect.h"

/* Interpreters of scripts that are followed. */
#define SCRIPT_DEPTH 4

/* What the program and its libraries have between them. */
struct code {
	bool hooks;
	char promised
	    [PATH_MAX]; /* the first file that was linked without the plugin that it needs */
	char stripped[PATH_MAX]; /* the first file with hooks and without names */
};

static bool is_program(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, X_OK) == 0;
}

/* The first word at `text`, ended in place; *ret_next is what follows. */
static char *word_cut(char *text, char **ret_next)
{
	char *word = text + strspn(text, " \t"), *end = word + strcspn(word, " \t\n");

	*ret_next = *end == 0 || *end == '\n' ? end : end + 1;
	*end = 0;
	return word;
}

/* Replaces the path of a script by that of its interpreter; false if it is none. */
static bool script_follow(char path[PATH_MAX])
{
	char line[256] = "", *start, *next;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, line, sizeof(line) - 1);

	if (fd >= 0)
		close(fd);
	if (n < 3 || line[0] != '#' || line[1] != '!')
		return false;
	start = word_cut(line + 2, &next);
	strcpy(path, start);
	/* "#!/usr/bin/env python3" */
	if (strcmp(basename(path), "env") == 0)
		fx_program_find(word_cut(next, &next), path, PATH_MAX);
	return true;
}

/* --- Its code ---------------------------------------------------------------------------------- */

static void take_code(struct code *code, const char *path, const struct fx_elf_facts *facts)
{
	code->hooks |= facts->hooks;
	if (facts->promised && !code->promised[0])
		snprintf(code->promised, sizeof(code->promised), "%s", path);
	if (facts->hooks && !facts->names && !code->stripped[0])
		snprintf(code->stripped, sizeof(code->stripped), "%s", path);
}

/* A line of the dynamic linker's list: "NAME => PATH (ADDRESS)", or "PATH (ADDRESS)". */
static bool library_path(char *line, char **ret)
{
	char *arrow = strstr(line, "=> "), *end;

	*ret = arrow ? arrow + strlen("=> ") : line + strspn(line, " \t");
	end = strstr(*ret, " (0x");
	if (end)
		*end = 0;
	return end && **ret == '/';
}

static void take_libraries(struct code *code, FILE *list)
{
	char line[PATH_MAX + 256], *path;
	struct fx_elf_facts facts;

	while (fgets(line, sizeof(line), list))
		if (library_path(line, &path) && fx_elf_inspect(path, &facts) == 0)
			take_code(code, path, &facts);
}

/* The dynamic linker lists what it would load, and runs nothing of it. -1 without a process. */
static pid_t list_libraries(const char *linker, const char *path, int *ret_output)
{
	int ends[2];
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC) < 0)
		return -1;
	pid = fork();
	if (pid == 0) {
		int null = open("/dev/null", O_RDWR | O_CLOEXEC);

		dup2(null, STDIN_FILENO);
		dup2(ends[1], STDOUT_FILENO);
		dup2(null, STDERR_FILENO);
		fx_limits_give_back();
		execl(linker, linker, "--list", path, (char *)NULL);
		_exit(127);
	}
	close(ends[1]);
	if (pid < 0)
		close(ends[0]);
	*ret_output = ends[0];
	return pid;
}

static void inspect_libraries(struct code *code, const char *linker, const char *path)
{
	int output;
	pid_t pid = list_libraries(linker, path, &output);
	FILE *list;

	if (pid < 0)
		return;
	list = fdopen(output, "r");
	if (list) {
		take_libraries(code, list);
		fclose(list);
	}
	waitpid(pid, NULL, 0);
}

static void tell_code(struct fx_doctor *d, const char *path, const struct fx_elf_facts *facts)
{
	struct code code = {0};

	take_code(&code, path, facts);
	inspect_libraries(&code, facts->interpreter, path);
	if (code.promised[0])
		fx_doctor_tell(d, code.promised, FX_FACT_PROMISED, NULL);
	else if (!code.hooks)
		fx_doctor_tell(d, path, FX_FACT_NOT_INSTRUMENTED, NULL);
	if (code.stripped[0])
		fx_doctor_tell(d, code.stripped, FX_FACT_STRIPPED, NULL);
	if (facts->profiling)
		fx_doctor_tell(d, path, FX_FACT_PROFILING, NULL);
	if (facts->room)
		fx_doctor_tell(d, path, FX_FACT_ROOM, NULL);
	if (facts->sleds)
		fx_doctor_tell(d, path, FX_FACT_SLEDS, NULL);
	if (facts->allocator)
		fx_doctor_tell(d, path, FX_FACT_ALLOCATOR, NULL);
	if (facts->filters)
		fx_doctor_tell(d, path, FX_FACT_FILTERS, NULL);
	if (facts->go)
		fx_doctor_tell(d, path, FX_FACT_GO, NULL);
}

void fx_doctor_program(struct fx_doctor *d, const char *name)
{
	char path[PATH_MAX];
	struct fx_elf_facts facts;
	enum fx_loadable obstacle;
	unsigned depth = 0;

	if (fx_program_find(name, path, sizeof(path)) < 0 || access(path, F_OK) < 0) {
		fx_doctor_tell(d, name, FX_FACT_NOT_FOUND, NULL);
		return;
	}
	if (!is_program(path)) {
		fx_doctor_tell(d, path, FX_FACT_NOT_RUNNABLE, NULL);
		return;
	}
	obstacle = fx_program_obstacle(path);
	while (depth++ < SCRIPT_DEPTH && script_follow(path))
		;
	if (obstacle != FX_LOADABLE)
		fx_doctor_tell_obstacle(d, path, obstacle);
	else if (fx_elf_inspect(path, &facts) == 0 && facts.interpreter[0])
		tell_code(d, path, &facts);
}
