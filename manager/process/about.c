/* SPDX-License-Identifier: MIT */
#include "manager/process/about.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/compiler.h"
#include "manager/process/container-words.h"
#include "manager/process/container.h"

/* So much is read that it is seen whether there is more than an archive has room for. */
#define ABOUT_READ_MAX (FX_ABOUT_MAX + 1)

#define NS_PER_SECOND 1000000000ull

/* The arguments stand one behind the other, each with a NUL at its end. */
char *fx_about_command(pid_t pid)
{
	char path[64], text[ABOUT_READ_MAX];
	ssize_t size;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/cmdline", (int)pid);
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

static char *about_link(pid_t pid, const char *name)
{
	char path[64], target[ABOUT_READ_MAX];
	ssize_t size;

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
	size = readlink(path, target, sizeof(target));
	return size > 0 ? strndup(target, (size_t)size) : NULL;
}

char *fx_about_executable(pid_t pid)
{
	return about_link(pid, "exe");
}

static char *about_started(unsigned long long ticks)
{
	char started[24];

	if (!ticks)
		return NULL;
	snprintf(started, sizeof(started), "%llu",
		 ticks * (NS_PER_SECOND / (unsigned long long)sysconf(_SC_CLK_TCK)));
	return strdup(started);
}

/* Whether the manager is in a container itself, as far as runtimes say so. */
static bool about_is_inside(void)
{
	static int inside = -1;

	if (inside < 0)
		inside = getenv("KUBERNETES_SERVICE_HOST") || getenv("container") ||
			 access("/run/.containerenv", F_OK) == 0 ||
			 access("/.dockerenv", F_OK) == 0;
	return inside;
}

static void about_set(struct fx_abouts *ret, enum fx_about about, const char *text)
{
	if (*text)
		ret->texts[about] = strdup(text);
}

static void about_words(struct fx_abouts *ret, pid_t pid)
{
	struct fx_container_words words;

	fx_container_words_read(pid, &words);
	about_set(ret, FX_ABOUT_IMAGE, words.image);
	about_set(ret, FX_ABOUT_POD_NAME, words.pod_name);
	about_set(ret, FX_ABOUT_POD_NAMESPACE, words.pod_namespace);
}

/* A container whose processes the manager does not see by their cgroups, as from inside of it, has no id. */
static void about_container(struct fx_abouts *ret, pid_t pid)
{
	struct fx_container container = {0};
	char path[64], line[ABOUT_READ_MAX];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/cgroup", (int)pid);
	file = fopen(path, "re");
	if (!file)
		return;
	while (!container.id[0] && fgets(line, sizeof(line), file))
		fx_container_parse(line, &container);
	fclose(file);
	about_set(ret, FX_ABOUT_CONTAINER, container.id);
	about_set(ret, FX_ABOUT_POD, container.pod);
	if (container.id[0] || about_is_inside())
		about_words(ret, pid);
}

void fx_abouts_read(struct fx_abouts *ret, pid_t pid, uid_t uid, unsigned long long born_ticks)
{
	char user[16];

	snprintf(user, sizeof(user), "%u", (unsigned)uid);
	ret->texts[FX_ABOUT_COMMAND] = fx_about_command(pid);
	ret->texts[FX_ABOUT_EXECUTABLE] = fx_about_executable(pid);
	ret->texts[FX_ABOUT_DIRECTORY] = about_link(pid, "cwd");
	/* The links of others may be nobody's to read; of one that has ended there are none. */
	ret->is_over = !ret->texts[FX_ABOUT_DIRECTORY] && (errno == ENOENT || errno == ESRCH);
	ret->texts[FX_ABOUT_USER] = strdup(user);
	ret->texts[FX_ABOUT_STARTED] = about_started(born_ticks);
	about_container(ret, pid);
}

void fx_abouts_inherit(struct fx_abouts *ret, const struct fx_abouts *parent)
{
	static const enum fx_about kept[] = {FX_ABOUT_COMMAND, FX_ABOUT_EXECUTABLE,
					     FX_ABOUT_DIRECTORY};

	if (ret->texts[FX_ABOUT_COMMAND] && !ret->is_over)
		return; /* others may be nobody's to read */
	for (size_t i = 0; i < FX_ARRAY_LEN(kept); i++) {
		const char *text = parent->texts[kept[i]];

		if (!ret->texts[kept[i]] && text)
			ret->texts[kept[i]] = strdup(text);
	}
}

void fx_abouts_free(struct fx_abouts *abouts)
{
	for (unsigned i = 0; i < FX_ABOUT_COUNT; i++)
		free(abouts->texts[i]);
}
