/* SPDX-License-Identifier: MIT */
#include "symbols/debug-by-id.h"

#include <elfutils/libdwelf.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define DEFAULT_DIRECTORY "/usr/lib/debug"

bool fx_elf_has_build_id(Elf *elf, const void *wanted, size_t wanted_size)
{
	const void *build_id;
	ssize_t size = dwelf_elf_gnu_build_id(elf, &build_id);

	return size >= 0 && (size_t)size == wanted_size &&
	       memcmp(build_id, wanted, wanted_size) == 0;
}

/* The end of DIRECTORY/.build-id/xx/rest.debug, from its first '/' on. False: it does not fit. */
static bool debug_by_id_name(const uint8_t *id, size_t size, char *ret, size_t room)
{
	size_t length;

	if (size < 2 || room < 2 * size + sizeof("/.build-id//.debug"))
		return false;
	length = (size_t)sprintf(ret, "/.build-id/%02x/", id[0]);
	for (size_t i = 1; i < size; i++)
		length += (size_t)sprintf(ret + length, "%02x", id[i]);
	strcpy(ret + length, ".debug");
	return true;
}

static bool file_has_build_id(int fd, const void *id, size_t size)
{
	Elf *elf = elf_begin(fd, ELF_C_READ, NULL);
	bool is_it = elf && fx_elf_has_build_id(elf, id, size);

	elf_end(elf);
	return is_it;
}

/* In one directory; -1 if it is not there, or is another's. */
static int debug_by_id_open_in(const char *directory, size_t length, const char *name,
			       const void *id, size_t size)
{
	char path[PATH_MAX];
	int fd;

	if (snprintf(path, sizeof(path), "%.*s%s", (int)length, directory, name) >=
	    (int)sizeof(path))
		return -1;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd >= 0 && !file_has_build_id(fd, id, size)) {
		close(fd);
		fd = -1;
	}
	return fd;
}

int fx_debug_by_id_open(const char *debug_path, Elf *elf)
{
	const char *at = debug_path ? debug_path : DEFAULT_DIRECTORY;
	const void *id;
	ssize_t size = dwelf_elf_gnu_build_id(elf, &id);
	char name[PATH_MAX];
	int fd = -1;

	if (size < 0 || !debug_by_id_name(id, (size_t)size, name, sizeof(name)))
		return -1;
	while (fd < 0) {
		size_t length;

		at += strspn(
		    at,
		    ":+-"); /* signs say whether checksums are looked at, for searches by name */
		length = strcspn(at, ":");
		if (length == 0)
			break;
		if (*at == '/' && length < PATH_MAX)
			fd = debug_by_id_open_in(at, length, name, id, (size_t)size);
		at += length;
	}
	return fd;
}
