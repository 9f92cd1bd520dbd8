/* SPDX-License-Identifier: MIT */
/*
 * Not the uprobes of perf_event_open(2) itself, which need no tracefs: they keep a pointer to the file's name in this process's
 * memory, and a child of the traced program's cannot be made where it is not there, fork() fails.
 *
 * The kernel leaves a breakpoint in a process as long as there is an event of that process. But it exchanges the events of two
 * threads that inherited equal ones when one gives the processor to the other, and then finds none for a process that has some, and
 * takes the breakpoint out of it. So each probe has a guard, an event of all processes on one processor, which nobody reads:
 * while it is there breakpoints stay. They are in every process that runs the file then.
 */
#include "kernel/probe-place.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "kernel/tracefs.h"

/* GROUP_PID/pNUMBER is what probes are called. */
#define GROUP "fxtrace_sdt_"

/* A definition, with all arguments, each twice. */
#define DEFINITION_MAX 4000u

static const char *const places[] = {"/sys/kernel/tracing", "/sys/kernel/debug/tracing"};

/* The folder of tracefs; NULL, with errno. */
static const char *tracefs_find(void)
{
	char path[64];

	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		snprintf(path, sizeof(path), "%s/uprobe_events", places[i]);
		if (access(path, W_OK) == 0 || errno == EACCES)
			return places[i];
	}
	return NULL;
}

/* One command, in one write. 0 or -errno. */
static int command_write(const char *tracefs, const char *command)
{
	char path[64];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "%s/uprobe_events", tracefs);
	fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	n = write(fd, command, strlen(command));
	if (n < 0)
		n = -errno;
	close(fd);
	return n < 0 ? (int)n : 0;
}

/* --- What others have left ---------------------------------------------------------------------- */

/* It has ended, also if nobody has asked how. */
static bool is_dead(unsigned long pid)
{
	char path[48], target[8];

	snprintf(path, sizeof(path), "/proc/%lu/exe", pid);
	return readlink(path, target, sizeof(target)) < 0 && errno == ENOENT;
}

/* A line is "p:GROUP_PID/pNUMBER ...". What is in use cannot be taken away, so nothing is lost if its process is one that is not to
 * be seen from here. */
static void leftover_remove(const char *tracefs, const char *line)
{
	static const char begin[] = "p:" GROUP;
	char command[96];
	unsigned long pid;

	if (strncmp(line, begin, sizeof(begin) - 1) != 0)
		return;
	pid = strtoul(line + sizeof(begin) - 1, NULL, 10);
	if (pid == 0 || !is_dead(pid))
		return;
	snprintf(command, sizeof(command), "-%.*s\n", (int)strcspn(line + 1, " "), line + 1);
	command_write(tracefs, command);
}

static void leftovers_remove(const char *tracefs)
{
	char path[64], *line = NULL;
	size_t size = 0;
	FILE *file;

	snprintf(path, sizeof(path), "%s/uprobe_events", tracefs);
	file = fopen(path, "re");
	while (file && getline(&line, &size, file) >= 0)
		leftover_remove(tracefs, line);
	free(line);
	if (file)
		fclose(file);
}

/* --- Definitions -------------------------------------------------------------------------------- */

/* Names with spaces, colons and the like are no names to the kernel: then it gets one of an open descriptor. -1: none is needed. */
static int probe_path_write(const struct fx_probe *probe, char *ret, size_t size)
{
	int fd = -1;

	snprintf(ret, size, "%s", probe->path);
	for (const char *c = probe->path; *c && fd < 0; c++) {
		if (isalnum((unsigned char)*c) || strchr("/._-+", *c))
			continue;
		fd = open(probe->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
		snprintf(ret, size, "/proc/self/fd/%d", fd);
	}
	return fd;
}

static size_t definition_write(const struct fx_probe *probe, unsigned serial, const char *path,
			       char *ret)
{
	size_t used =
	    (size_t)snprintf(ret, DEFINITION_MAX, "p:" GROUP "%d/p%u %s:0x%llx", (int)getpid(),
			     serial, path, (unsigned long long)probe->offset);

	if (probe->semaphore)
		used += (size_t)snprintf(ret + used, DEFINITION_MAX - used, "(0x%llx)",
					 (unsigned long long)probe->semaphore);
	for (unsigned i = 0; i < probe->count; i++) {
		const struct fx_probe_argument *argument = &probe->arguments[i];

		if (argument->kind != FX_PROBE_FETCHED)
			continue;
		used += (size_t)snprintf(ret + used, DEFINITION_MAX - used, " a%u=%s:%c%u", i,
					 argument->fetch, argument->is_signed ? 's' : 'u',
					 8u * argument->size);
		if (fx_probe_may_be_text(argument))
			used += (size_t)snprintf(ret + used, DEFINITION_MAX - used,
						 " t%u=+0(%s):string", i, argument->fetch);
	}
	return used;
}

static int probe_define(const char *tracefs, const struct fx_probe *probe, unsigned serial)
{
	char definition[DEFINITION_MAX], path[1024];
	int fd, r = -ENAMETOOLONG;

	if (strlen(probe->path) >= sizeof(path))
		return r;
	fd = probe_path_write(probe, path, sizeof(path));
	if (definition_write(probe, serial, path, definition) < sizeof(definition))
		r = command_write(tracefs, definition);
	if (fd >= 0)
		close(fd);
	return r;
}

/* --- What the kernel made of them --------------------------------------------------------------- */

static FILE *probe_file_open(const char *tracefs, unsigned serial, const char *name)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/events/" GROUP "%d/p%u/%s", tracefs, (int)getpid(), serial,
		 name);
	return fopen(path, "re");
}

/* "\tfield:s32 a0;\toffset:16;\tsize:4;\tsigned:1;", and "\tfield:__data_loc char[] t1;" of texts. */
static void probe_field_read(const char *line, struct fx_probe *probe)
{
	const char *end = strchr(line, ';'), *name = end;
	unsigned number, offset, size;

	if (strncmp(line, "\tfield:", 7) != 0 || !end)
		return;
	while (name > line && name[-1] != ' ')
		name--;
	if (sscanf(name + 1, "%u;\toffset:%u;\tsize:%u;", &number, &offset, &size) != 3 ||
	    number >= probe->count || offset > UINT16_MAX || size > 8)
		return;
	if (*name == 'a')
		probe->values[number] = (struct fx_probe_field){(uint16_t)offset, (uint16_t)size};
	else if (*name == 't')
		probe->texts[number] = (struct fx_probe_field){(uint16_t)offset, (uint16_t)size};
}

static int probe_read(const char *tracefs, struct fx_probe *probe, unsigned serial)
{
	FILE *file = probe_file_open(tracefs, serial, "id");
	char line[256];

	if (!file || fscanf(file, "%u", &probe->number) != 1)
		probe->number = 0;
	if (file)
		fclose(file);
	file = probe_file_open(tracefs, serial, "format");
	while (file && fgets(line, sizeof(line), file))
		probe_field_read(line, probe);
	if (file)
		fclose(file);
	return file && probe->number ? 0 : -ENOENT;
}

/* On the first processor that is there. */
static int guard_open(const struct fx_probe *probe)
{
	long cpus = sysconf(_SC_NPROCESSORS_CONF), fd = -1;
	struct perf_event_attr attr = {
	    .type = PERF_TYPE_TRACEPOINT,
	    .size = sizeof(attr),
	    .config = probe->number,
	};

	for (int cpu = 0; fd < 0 && cpu < cpus; cpu++)
		fd = syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
	return fd < 0 ? -errno : (int)fd;
}

static int probe_place(const char *tracefs, struct fx_probe *probe, unsigned serial)
{
	int r = probe_define(tracefs, probe, serial);

	if (r == 0)
		r = probe_read(tracefs, probe, serial);
	if (r == 0) {
		probe->guard = guard_open(probe);
		r = probe->guard < 0 ? probe->guard : 0;
	}
	return r;
}

int fx_probe_place_all(struct fx_probe_list *list)
{
	const char *tracefs;
	int r = 0;

	fx_tracefs_events(); /* mounts it, if need be */
	tracefs = tracefs_find();
	if (!tracefs)
		return -ENOENT;
	leftovers_remove(tracefs);
	for (size_t i = 0; r == 0 && i < list->probes.count; i++)
		r = probe_place(tracefs, &list->probes.items[i], list->first + (unsigned)i);
	if (r < 0)
		fx_probe_remove_all(list);
	return r;
}

void fx_probe_remove_all(struct fx_probe_list *list)
{
	const char *tracefs = tracefs_find();
	char command[64];

	for (size_t i = 0; i < list->probes.count; i++) {
		struct fx_probe *probe = &list->probes.items[i];

		if (probe->guard >= 0)
			close(probe->guard);
		probe->guard = -1;
		snprintf(command, sizeof(command), "-:" GROUP "%d/p%zu\n", (int)getpid(),
			 list->first + i);
		if (tracefs)
			command_write(tracefs, command);
	}
}
