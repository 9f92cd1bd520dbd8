/* SPDX-License-Identifier: MIT */
#include "attach/proc.h"

#include <stdlib.h>
#include <string.h>

const char *fx_proc_path(pid_t pid, const char *name, char *ret, size_t size)
{
	snprintf(ret, size, "/proc/%d/%s", (int)pid, name);
	return ret;
}

FILE *fx_proc_open(pid_t pid, const char *name)
{
	char path[64];

	return fopen(fx_proc_path(pid, name, path, sizeof(path)), "re");
}

bool fx_proc_auxv(pid_t pid, uint64_t type, uint64_t *ret)
{
	FILE *file = fx_proc_open(pid, "auxv");
	uint64_t pair[2];
	bool found = false;

	while (file && !found && fread(pair, sizeof(pair), 1, file) == 1) {
		found = pair[0] == type;
		*ret = pair[1];
	}
	if (file)
		fclose(file);
	return found;
}

bool fx_proc_status(pid_t pid, const char *name, char *ret, size_t size)
{
	FILE *file = fx_proc_open(pid, "status");
	char line[512];
	bool found = false;

	while (file && !found && fgets(line, sizeof(line), file)) {
		found = strncmp(line, name, strlen(name)) == 0;
		if (found)
			snprintf(ret, size, "%.*s", (int)strcspn(line + strlen(name), "\n"),
				 line + strlen(name));
	}
	if (file)
		fclose(file);
	return found;
}

long fx_proc_status_number(pid_t pid, const char *name)
{
	char text[512];

	return fx_proc_status(pid, name, text, sizeof(text)) ? strtol(text, NULL, 10) : 0;
}
