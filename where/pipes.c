/* SPDX-License-Identifier: MIT */
#include "where/pipes.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Nobody has more ancestors; what is read while processes come and go may go round. */
#define ANCESTORS_MAX 10000

static bool pipes_is_one(const struct stat *st)
{
	return S_ISFIFO(st->st_mode) || S_ISSOCK(st->st_mode);
}

bool fx_pipe_of(pid_t pid, int fd, struct fx_pipe *ret)
{
	char path[64];
	struct stat st;

	snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)pid, fd);
	if (stat(path, &st) < 0 || !pipes_is_one(&st))
		return false;
	*ret = (struct fx_pipe){st.st_dev, st.st_ino, S_ISSOCK(st.st_mode)};
	return true;
}

/* --- All processes ------------------------------------------------------------------------------ */

/* The permissions of the link say what the descriptor is open for (proc(5)). */
static int pipes_add_end(struct fx_pipe_ends *ends, pid_t pid, DIR *folder, const char *name)
{
	struct stat st, link;

	if (fstatat(dirfd(folder), name, &st, 0) < 0 || !pipes_is_one(&st) ||
	    fstatat(dirfd(folder), name, &link, AT_SYMLINK_NOFOLLOW) < 0)
		return 0; /* another thing, or closed */
	if (fx_vector_reserve(&ends->items, 1) < 0)
		return -ENOMEM;
	ends->items.items[ends->items.count++] = (struct fx_pipe_end){
	    .pipe = {st.st_dev, st.st_ino, S_ISSOCK(st.st_mode)},
	    .pid = pid,
	    .reads = link.st_mode & S_IRUSR,
	    .writes = link.st_mode & S_IWUSR,
	};
	return 0;
}

static int pipes_hide(struct fx_pipe_ends *ends, pid_t pid)
{
	if (fx_vector_reserve(&ends->hidden, 1) < 0)
		return -ENOMEM;
	ends->hidden.items[ends->hidden.count++] = pid;
	return 0;
}

static int pipes_add_process(struct fx_pipe_ends *ends, pid_t pid)
{
	const struct dirent *entry;
	char path[32];
	DIR *folder;
	int r = 0;

	snprintf(path, sizeof(path), "/proc/%d/fd", (int)pid);
	folder = opendir(path);
	if (!folder)
		return errno == EACCES || errno == EPERM ? pipes_hide(ends, pid) : 0;
	while (r == 0 && (entry = readdir(folder))) {
		if (entry->d_name[0] != '.')
			r = pipes_add_end(ends, pid, folder, entry->d_name);
	}
	closedir(folder);
	return r;
}

int fx_pipe_ends_find(struct fx_pipe_ends *ret)
{
	DIR *processes = opendir("/proc");
	const struct dirent *entry;
	int r = processes ? 0 : -errno;

	*ret = (struct fx_pipe_ends){0};
	while (r == 0 && (entry = readdir(processes))) {
		if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9')
			r = pipes_add_process(ret, (pid_t)atoi(entry->d_name));
	}
	if (processes)
		closedir(processes);
	return r;
}

void fx_pipe_ends_free(struct fx_pipe_ends *ends)
{
	fx_vector_free(&ends->items);
	fx_vector_free(&ends->hidden);
}

/* --- Families ----------------------------------------------------------------------------------- */

/* 0: it has none, or is gone. */
static pid_t pipes_parent(pid_t pid)
{
	char path[32], text[512] = "";
	const char *close;
	int parent = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	file = fopen(path, "re");
	if (!file)
		return 0;
	text[fread(text, 1, sizeof(text) - 1, file)] = 0;
	fclose(file);
	close = strrchr(text, ')'); /* a name may have anything in it */
	if (!close || sscanf(close + 1, " %*c %d", &parent) != 1)
		return 0;
	return parent;
}

static bool pipes_descends(pid_t pid, pid_t from)
{
	for (int i = 0; pid > 1 && i < ANCESTORS_MAX; i++) {
		if (pid == from)
			return true;
		pid = pipes_parent(pid);
	}
	return false;
}

bool fx_pipe_ends_hidden_of(const struct fx_pipe_ends *ends, pid_t pid)
{
	for (size_t i = 0; i < ends->hidden.count; i++) {
		if (pipes_descends(pid, ends->hidden.items[i]) ||
		    pipes_descends(ends->hidden.items[i], pid))
			return true;
	}
	return false;
}
