/* SPDX-License-Identifier: MIT */
#include "manager/process/about.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* So much is read that it is seen whether there is more than an archive has room for. */
#define ABOUT_READ_MAX (FX_ABOUT_MAX + 1)

/* The arguments stand one behind the other, each with a NUL at its end. */
static char *about_command(const char *folder)
{
	char path[64], text[ABOUT_READ_MAX];
	ssize_t size;
	int fd;

	snprintf(path, sizeof(path), "%s/cmdline", folder);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return NULL;
	size = read(fd, text, sizeof(text));
	close(fd);
	while (size > 0 && text[size - 1] == 0)
		size--;
	if (size <= 0)
		return NULL;
	for (ssize_t i = 0; i < size; i++) {
		if (text[i] == 0)
			text[i] = ' ';
	}
	return strndup(text, (size_t)size);
}

static char *about_link(const char *folder, const char *name)
{
	char path[64], target[ABOUT_READ_MAX];
	ssize_t size;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	size = readlink(path, target, sizeof(target));
	return size > 0 ? strndup(target, (size_t)size) : NULL;
}

void fx_abouts_read(struct fx_abouts *ret, pid_t pid, uid_t uid)
{
	char folder[32], user[16];

	snprintf(folder, sizeof(folder), "/proc/%d", (int)pid);
	snprintf(user, sizeof(user), "%u", (unsigned)uid);
	ret->texts[FX_ABOUT_COMMAND] = about_command(folder);
	ret->texts[FX_ABOUT_EXECUTABLE] = about_link(folder, "exe");
	ret->texts[FX_ABOUT_DIRECTORY] = about_link(folder, "cwd");
	ret->texts[FX_ABOUT_USER] = strdup(user);
}

void fx_abouts_free(struct fx_abouts *abouts)
{
	for (unsigned i = 0; i < FX_ABOUT_COUNT; i++)
		free(abouts->texts[i]);
}
