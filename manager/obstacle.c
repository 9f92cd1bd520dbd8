/* SPDX-License-Identifier: MIT */
/* Why a program can never be traced: what its file says about how it will be started. */
#include <elf.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/loadable.h"
#include "manager/program.h"

/* Interpreters of scripts that are followed. */
#define SCRIPT_DEPTH 4

static bool read_at(int fd, void *to, size_t size, uint64_t offset)
{
	return pread(fd, to, size, (off_t)offset) == (ssize_t)size;
}

static bool has_interpreter(int fd, const Elf64_Ehdr *header)
{
	for (unsigned i = 0; i < header->e_phnum; i++) {
		Elf64_Phdr segment;

		if (!read_at(fd, &segment, sizeof(segment),
			     header->e_phoff + (uint64_t)i * sizeof(segment)))
			return true; /* not ours to judge */
		if (segment.p_type == PT_INTERP)
			return true;
	}
	return false;
}

static const char *elf_obstacle(int fd, const unsigned char *ident)
{
	Elf64_Ehdr header;

	if (ident[EI_CLASS] != ELFCLASS64)
		return "it is a 32-bit program; only 64-bit programs can be traced";
	if (!read_at(fd, &header, sizeof(header), 0))
		return NULL;
	if (header.e_phentsize == sizeof(Elf64_Phdr) && !has_interpreter(fd, &header))
		return "it is linked statically, so that nothing can be preloaded into it";
	if (fx_loadable_fd(fd) == FX_LOADABLE_SANITIZED)
		return "it was built with a sanitizer that allows nothing to be loaded before it";
	return NULL;
}

static const char *mode_obstacle(int fd)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return NULL;
	if (((st.st_mode & S_ISUID) && st.st_uid != geteuid()) ||
	    ((st.st_mode & S_ISGID) && st.st_gid != getegid()))
		return "it is set-user-ID or set-group-ID, and preloading is refused to such "
		       "programs";
	return NULL;
}

/* The interpreter that "#!" names; false if there is none. */
static bool script_interpreter(const char *head, char ret[PATH_MAX])
{
	size_t skip, length;

	if (head[0] != '#' || head[1] != '!')
		return false;
	skip = 2 + strspn(head + 2, " \t");
	length = strcspn(head + skip, " \t\n");
	if (length == 0 || length >= PATH_MAX)
		return false;
	memcpy(ret, head + skip, length);
	ret[length] = 0;
	return true;
}

static const char *file_obstacle(char path[PATH_MAX], unsigned depth)
{
	const char *why = NULL;
	char head[256] = "";
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n;

	if (fd < 0)
		return NULL;
	n = read(fd, head, sizeof(head) - 1);
	if (n >= EI_NIDENT && memcmp(head, ELFMAG, SELFMAG) == 0) {
		why = mode_obstacle(fd);
		if (!why)
			why = elf_obstacle(fd, (const unsigned char *)head);
	} else if (n > 0 && depth && script_interpreter(head, path)) {
		why = file_obstacle(path, depth - 1);
	}
	close(fd);
	return why;
}

const char *fx_program_obstacle(const char *name)
{
	char path[PATH_MAX];

	if (fx_program_find(name, path, sizeof(path)) < 0)
		return NULL;
	return file_obstacle(path, SCRIPT_DEPTH);
}
