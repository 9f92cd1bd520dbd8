/* SPDX-License-Identifier: MIT */
#include "manager/door/stale.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "protocol/socket.h"

/* A manager that begins has not got to listen yet; nobody takes a minute for that. */
#define SETTLED_S 60

/* Entries that are looked at: a full /tmp must not keep a program from starting. */
#define ENTRIES_MAX 4096u

static bool is_our_name(const char *name)
{
	const size_t prefix = strlen(FX_PRIVATE_TEMPLATE) - 6;

	if (strlen(name) != prefix + 6 || strncmp(name, FX_PRIVATE_TEMPLATE, prefix) != 0)
		return false;
	for (const char *at = name + prefix; *at; at++) {
		if (!isalnum((unsigned char)*at))
			return false;
	}
	return true;
}

static bool is_our_directory(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 && st.st_uid == geteuid() && (st.st_mode & 07666) == 0600 &&
	       time(NULL) - st.st_mtime >= SETTLED_S;
}

/* Whether there is nothing in the directory but, possibly, our socket. Takes the descriptor over. */
static bool holds_no_more(int fd)
{
	DIR *dir = fdopendir(fd);
	struct dirent *entry;
	bool more = false;

	if (!dir) {
		close(fd);
		return false;
	}
	while (!more && (entry = readdir(dir))) {
		more = strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0 &&
		       strcmp(entry->d_name, FX_PRIVATE_SOCKET) != 0;
	}
	closedir(dir);
	return !more;
}

/* Whether the socket is one, and the kernel says that nobody listens at it. */
static bool is_refusing(int directory)
{
	char path[64];
	struct stat st;
	int fd;

	if (fstatat(directory, FX_PRIVATE_SOCKET, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT;
	if (!S_ISSOCK(st.st_mode))
		return false;
	/* The directory itself, whatever stands at its name by now. */
	snprintf(path, sizeof(path), "/proc/self/fd/%d/" FX_PRIVATE_SOCKET, directory);
	fd = fx_socket_connect(path);
	if (fd >= 0)
		close(fd);
	return fd == -ECONNREFUSED;
}

static void consider(int base, const char *name)
{
	const int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
	int directory = openat(base, name, flags);

	if (directory < 0)
		return;
	if (is_our_directory(directory) && holds_no_more(openat(directory, ".", flags)) &&
	    is_refusing(directory)) {
		unlinkat(directory, FX_PRIVATE_SOCKET, 0);
		/* Only if it is empty. */
		unlinkat(base, name, AT_REMOVEDIR);
	}
	close(directory);
}

void fx_stale_remove(const char *base)
{
	DIR *dir = opendir(base);
	struct dirent *entry;

	for (unsigned i = 0; dir && i < ENTRIES_MAX && (entry = readdir(dir)); i++) {
		if (is_our_name(entry->d_name))
			consider(dirfd(dir), entry->d_name);
	}
	if (dir)
		closedir(dir);
}
