/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "lists/spill.h"

/* Each makes a file in a folder: its descriptor or -errno. */
typedef int spill_maker(const char *folder, char **ret_path);

static int spill_make_named(const char *folder, char **ret_path)
{
	char *path;
	int fd;

	if (asprintf(&path, "%s/fxtrace-XXXXXX", folder) < 0)
		return -ENOMEM;
	fd = mkostemp(path, O_CLOEXEC);
	if (fd < 0) {
		fd = -errno;
		free(path);
		return fd;
	}
	*ret_path = path;
	return fd;
}

/* File systems without O_TMPFILE get a name that is taken away at once. */
static int spill_make_nameless(const char *folder, char **ret_path)
{
	int fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC | O_EXCL, 0600);

	if (fd >= 0)
		return fd;
	fd = spill_make_named(folder, ret_path);
	if (fd < 0)
		return fd;
	unlink(*ret_path);
	free(*ret_path);
	return fd;
}

static int spill_make_somewhere(spill_maker *maker, char **ret_path)
{
	const char *folders[] = {getenv("TMPDIR"), "/var/tmp", "/tmp"};
	int r = -ENOENT;

	for (size_t i = 0; i < sizeof(folders) / sizeof(*folders); i++) {
		if (!folders[i] || !*folders[i])
			continue;
		r = maker(folders[i], ret_path);
		if (r >= 0)
			return r;
	}
	return r;
}

int fx_spill_file(void)
{
	char *path;

	return spill_make_somewhere(spill_make_nameless, &path);
}

int fx_spill_file_named(char **ret_path)
{
	return spill_make_somewhere(spill_make_named, ret_path);
}

static int spill_make(struct fx_spill *spill)
{
	spill->fd = fx_spill_file();
	return spill->fd < 0 ? spill->fd : 0;
}

int fx_spill_append(struct fx_spill *spill, const void *data, size_t size)
{
	size_t done = 0;
	int r = spill->fd < 0 ? spill_make(spill) : 0;

	if (r < 0)
		return r;
	while (done < size) {
		ssize_t n = pwrite(spill->fd, (const char *)data + done, size - done,
				   (off_t)(spill->size + done));

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : -ENOSPC;
		done += (size_t)n;
	}
	spill->size += size;
	return 0;
}

int fx_spill_read(const struct fx_spill *spill, uint64_t offset, void *data, size_t size)
{
	size_t done = 0;

	while (done < size) {
		ssize_t n =
		    pread(spill->fd, (char *)data + done, size - done, (off_t)(offset + done));

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : -EIO;
		done += (size_t)n;
	}
	return 0;
}

void fx_spill_close(struct fx_spill *spill)
{
	if (spill->fd >= 0)
		close(spill->fd);
	*spill = (struct fx_spill)FX_SPILL_EMPTY;
}
