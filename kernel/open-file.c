/* SPDX-License-Identifier: MIT */
#include "kernel/open-file.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

static bool link_is(const char *path, dev_t device, uint64_t inode, char *ret)
{
	struct stat st;
	ssize_t n;

	if (stat(path, &st) < 0 || st.st_dev != device || st.st_ino != inode)
		return false;
	n = readlink(path, ret, FX_OPEN_FILE_MAX - 1);
	if (n <= 0)
		return false;
	ret[n] = 0;
	return true;
}

static bool is_open(uint32_t pid, dev_t device, uint64_t inode, char *ret)
{
	char folder[40], path[sizeof(folder) + 256];
	const struct dirent *entry;
	bool found = false;
	DIR *fds;

	snprintf(folder, sizeof(folder), "/proc/%u/fd", pid);
	fds = opendir(folder);
	while (fds && !found && (entry = readdir(fds))) {
		snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
		found = link_is(path, device, inode, ret);
	}
	if (fds)
		closedir(fds);
	return found;
}

static bool is_mapped(uint32_t pid, dev_t device, uint64_t inode, char *ret)
{
	char path[40], line[FX_OPEN_FILE_MAX + 200];
	bool found = false;
	FILE *maps;

	snprintf(path, sizeof(path), "/proc/%u/maps", pid);
	maps = fopen(path, "re");
	while (maps && !found && fgets(line, sizeof(line), maps)) {
		unsigned in_major, in_minor;
		uint64_t number;
		int name = 0;

		if (sscanf(line, "%*x-%*x %*s %*x %x:%x %" SCNu64 " %n", &in_major, &in_minor,
			   &number, &name) < 3 ||
		    !name || makedev(in_major, in_minor) != device || number != inode)
			continue;
		line[strcspn(line, "\n")] = 0;
		found =
		    (size_t)snprintf(ret, FX_OPEN_FILE_MAX, "%s", line + name) < FX_OPEN_FILE_MAX;
	}
	if (maps)
		fclose(maps);
	return found;
}

bool fx_open_file_find(uint32_t pid, dev_t device, uint64_t inode, char ret[FX_OPEN_FILE_MAX])
{
	return is_open(pid, device, inode, ret) || is_mapped(pid, device, inode, ret);
}
