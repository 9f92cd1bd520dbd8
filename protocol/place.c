/* SPDX-License-Identifier: MIT */
#include "protocol/place.h"

#include <errno.h>
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

int fx_place_find(char ret[FX_SOCKET_PATH_SIZE])
{
	const char *socket = getenv("FXTRACE_SOCKET"), *runtime = getenv("XDG_RUNTIME_DIR");
	char directory[64];

	if (socket && *socket)
		return path_write(ret, socket, "");
	if (runtime && runtime[0] == '/')
		return path_write(ret, runtime, "/fxtrace/manager.sock");
	snprintf(directory, sizeof(directory), "/run/user/%u", (unsigned)geteuid());
	if (access(directory, W_OK) == 0)
		return path_write(ret, directory, "/fxtrace/manager.sock");
	snprintf(directory, sizeof(directory), "/tmp/fxtrace-%u", (unsigned)geteuid());
	return path_write(ret, directory, "/manager.sock");
}

int fx_place_make(const char *path, mode_t mode)
{
	char directory[FX_SOCKET_PATH_SIZE];
	const char *slash = strrchr(path, '/');
	struct stat st;

	if (!slash || slash == path)
		return 0;
	snprintf(directory, sizeof(directory), "%.*s", (int)(slash - path), path);
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
