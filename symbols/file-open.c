/* SPDX-License-Identifier: MIT */
#include "symbols/file-open.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "symbols/symbols.h"

/* Of Linux 5.6, whose headers may not be there; without it nothing is read below another root. */
#define OPENAT2 437

struct how {
	uint64_t flags, mode, resolve;
};

#define NO_MAGIC_LINKS 0x02u
#define IN_ROOT	       0x10u

size_t fx_path_length(const char *path)
{
	static const char deleted[] = " (deleted)";
	size_t length = strlen(path), suffix = sizeof(deleted) - 1;

	if (length > suffix && !strcmp(path + length - suffix, deleted))
		length -= suffix;
	return length;
}

static void identity_from_stat(const struct stat *st, struct fx_file_identity *ret)
{
	*ret = (struct fx_file_identity){
	    .device = st->st_dev,
	    .inode = st->st_ino,
	    .size = (uint64_t)st->st_size,
	    .changed_seconds = (uint64_t)st->st_mtim.tv_sec,
	    .changed_nanoseconds = (uint64_t)st->st_mtim.tv_nsec,
	};
}

void fx_file_identify(const char *path, struct fx_file_identity *ret)
{
	struct stat st;

	*ret = (struct fx_file_identity){0};
	/* A relative path is the process's, not ours. */
	if (path[0] == '/' && stat(path, &st) == 0)
		identity_from_stat(&st, ret);
}

static int file_open_problem(enum fx_symbol_problem_kind kind)
{
	return (int)kind + 1;
}

static int open_path(const char *path, int *ret_fd)
{
	/* O_NONBLOCK: a FIFO or a device in place of the file must not hold us up. */
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

	if (fd < 0)
		return file_open_problem(errno == ENOENT || errno == ENOTDIR
					     ? FX_SYMBOL_FILE_MISSING
					     : FX_SYMBOL_FILE_UNREADABLE);
	*ret_fd = fd;
	return 0;
}

/* The path of a deleted file, or one that ends in " (deleted)" by itself. */
static int open_maybe_deleted(const char *path, int *ret_fd)
{
	int failed = open_path(path, ret_fd);
	size_t length = fx_path_length(path);
	char *plain;

	if (!failed || !path[length])
		return failed;
	plain = strndup(path, length);
	if (!plain)
		return file_open_problem(FX_SYMBOL_FILE_NO_MEMORY);
	failed = open_path(plain, ret_fd);
	free(plain);
	return failed;
}

int fx_file_open(const char *path, const struct fx_file_identity *identity, int *ret_fd)
{
	struct fx_file_identity found;
	struct stat st;
	int failed, fd;

	if (path[0] != '/')
		return file_open_problem(FX_SYMBOL_FILE_MISSING);
	failed = identity ? open_path(path, &fd) : open_maybe_deleted(path, &fd);
	if (failed)
		return failed;
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode)) {
		failed = file_open_problem(FX_SYMBOL_FILE_UNREADABLE);
	} else if (identity) {
		identity_from_stat(&st, &found);
		if (memcmp(&found, identity, sizeof(found)) != 0)
			failed = file_open_problem(FX_SYMBOL_FILE_CHANGED);
	}
	if (failed)
		close(fd);
	else
		*ret_fd = fd;
	return failed;
}

int fx_file_open_below(int root, const char *path, int flags)
{
	struct how how = {
	    .flags = (uint64_t)(O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | flags),
	    .resolve = IN_ROOT | NO_MAGIC_LINKS,
	};

	return (int)syscall(OPENAT2, root, path, &how, sizeof(how));
}
