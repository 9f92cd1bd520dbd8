/* SPDX-License-Identifier: MIT */
#include "manager/kin.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Parents that are followed. */
#define GENERATIONS_MAX 256u

/* The second field behind the name, which may hold anything; 0 unknown, or none. */
static pid_t parent_of(pid_t pid)
{
	char path[32], text[512], *end;
	int fd, parent;
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	text[n > 0 ? n : 0] = 0;
	end = strrchr(text, ')');
	return end && sscanf(end, ") %*c %d", &parent) == 1 ? parent : 0;
}

bool fx_kin_descends(pid_t pid, bool (*is_head)(void *opaque, pid_t pid), void *opaque)
{
	for (unsigned i = 0; i < GENERATIONS_MAX; i++) {
		pid = parent_of(pid);
		if (pid <= 0)
			return false;
		if (is_head(opaque, pid))
			return true;
	}
	return false;
}
