/* SPDX-License-Identifier: MIT */
#include "protocol/place.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int path_write(char ret[FX_SOCKET_PATH_SIZE], const char *directory, const char *name)
{
	int n = snprintf(ret, FX_SOCKET_PATH_SIZE, "%s%s", directory, name);

	return n < 0 || n >= (int)FX_SOCKET_PATH_SIZE ? -ENAMETOOLONG : 0;
}

static bool place_is_trusted(const struct stat *st)
{
	return st->st_uid == 0 || st->st_uid == geteuid();
}

const char *fx_place_runtime(void)
{
	const char *runtime = getenv("XDG_RUNTIME_DIR");
	struct stat st;

	if (!runtime || runtime[0] != '/' || (stat(runtime, &st) == 0 && !place_is_trusted(&st)))
		return NULL;
	return runtime;
}

static const char *place_temporary(void)
{
	const char *folder = getenv("TMPDIR");

	return folder && folder[0] == '/' ? folder : NULL;
}

const char *fx_place_number(unsigned number)
{
	static const char *const usual[FX_PLACES - 2] = {"/tmp", "/var/tmp", "/dev/shm"};

	switch (number) {
	case 0:
		return fx_place_runtime();
	case 1:
		return place_temporary();
	default:
		return usual[number - 2];
	}
}

int fx_place_find(char ret[FX_SOCKET_PATH_SIZE])
{
	const char *socket = getenv("FXTRACE_SOCKET"), *runtime = fx_place_runtime();
	const char *temporary = place_temporary();
	char directory[FX_SOCKET_PATH_SIZE];

	if (socket && *socket)
		return path_write(ret, socket, "");
	if (runtime)
		return path_write(ret, runtime, "/fxtrace/manager.sock");
	snprintf(directory, sizeof(directory), "/run/user/%u", (unsigned)geteuid());
	if (access(directory, W_OK) == 0)
		return path_write(ret, directory, "/fxtrace/manager.sock");
	if (!temporary || access("/tmp", W_OK) == 0)
		temporary = "/tmp";
	snprintf(directory, sizeof(directory), "%.80s/fxtrace-%u", temporary, (unsigned)geteuid());
	return path_write(ret, directory, "/manager.sock");
}

/* The folder that a path lies in; false if that is the root's or the working directory. */
static bool folder_of(const char *path, char ret[FX_SOCKET_PATH_SIZE])
{
	const char *slash = strrchr(path, '/');

	if (!slash || slash == path)
		return false;
	snprintf(ret, FX_SOCKET_PATH_SIZE, "%.*s", (int)(slash - path), path);
	return true;
}

int fx_place_check(const char *path)
{
	char directory[FX_SOCKET_PATH_SIZE];
	struct stat st;

	if (!folder_of(path, directory) || lstat(directory, &st) < 0)
		return 0;
	return S_ISDIR(st.st_mode) && place_is_trusted(&st) && !(st.st_mode & 022) ? 0 : -EACCES;
}

int fx_place_make(const char *path, mode_t mode)
{
	char directory[FX_SOCKET_PATH_SIZE];
	struct stat st;

	if (!folder_of(path, directory))
		return 0;
	if (mkdir(directory, 0700) < 0 && errno != EEXIST)
		return -errno;
	if (lstat(directory, &st) < 0)
		return -errno;
	if (!S_ISDIR(st.st_mode))
		return -ENOTDIR;
	/* 011: of a manager that served others. */
	if (st.st_uid != geteuid() || (st.st_mode & 066))
		return -EACCES;
	return (st.st_mode & 0777) != mode && chmod(directory, mode) < 0 ? -errno : 0;
}
