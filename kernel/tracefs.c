/* SPDX-License-Identifier: MIT */
#include "kernel/tracefs.h"

#include <errno.h>
#include <sched.h>
#include <stddef.h>
#include <string.h>
#include <sys/mount.h>
#include <unistd.h>

#define PLACE	  "/sys/kernel/tracing"
#define EVENTS	  PLACE "/events"
#define OLD_PLACE "/sys/kernel/debug/tracing/events"

/* In a mount namespace of its own, of which nothing comes out. */
static bool tracefs_mount(void)
{
	return geteuid() == 0 && unshare(CLONE_NEWNS) == 0 &&
	       mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
	       mount("tracefs", PLACE, "tracefs", 0, NULL) == 0;
}

static bool may_read(const char *path)
{
	return access(path, R_OK | X_OK) == 0;
}

const char *fx_tracefs_events(void)
{
	static const char *found;
	int error;

	if (found)
		return found;
	if (may_read(EVENTS))
		return found = EVENTS;
	error = errno;
	if (error == ENOENT && may_read(OLD_PLACE))
		return found = OLD_PLACE;
	if (error == ENOENT && tracefs_mount() && may_read(EVENTS))
		return found = EVENTS;
	errno = error;
	return NULL;
}

FILE *fx_tracefs_open(const char *group, const char *name, const char *file)
{
	const char *events = fx_tracefs_events();
	char path[256];

	if (!events)
		return NULL;
	if ((size_t)snprintf(path, sizeof(path), "%s/%s/%s/%s", events, group, name, file) >=
	    sizeof(path)) {
		errno = ENAMETOOLONG;
		return NULL;
	}
	return fopen(path, "re");
}

bool fx_tracefs_field(const char *line, unsigned *offset, unsigned *size)
{
	const char *end = strchr(line, ';');

	return strncmp(line, "\tfield:", 7) == 0 && end &&
	       sscanf(end, ";\toffset:%u;\tsize:%u;", offset, size) == 2;
}
