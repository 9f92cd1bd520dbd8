/* SPDX-License-Identifier: MIT */
#include "manager/session/program-mpi.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "manager/session/program.h"

#if defined(__x86_64__)
#define LINKER "/lib64/ld-linux-x86-64.so.2"
#else
#define LINKER "/lib/ld-linux-aarch64.so.1"
#endif

/* Words of the command that are looked at, and what is read of a list. */
enum { WORDS_MAX = 64, LIST_MAX = 64 << 10 };

/* Open MPI since 2.0 has the first one's interface, and MPICH, MVAPICH and Intel's the other's. */
static const struct {
	const char *library, *kind;
} mpi_libraries[] = {
    {"libmpi.so.20 ", "openmpi"},
    {"libmpi.so.40 ", "openmpi"},
    {"libmpi.so.12 ", "mpich"},
    {"libmpich.so.12 ", "mpich"},
};

const char *fx_program_mpi_kind(const char *list)
{
	for (size_t i = 0; i < sizeof(mpi_libraries) / sizeof(mpi_libraries[0]); i++) {
		const char *found = strstr(list, mpi_libraries[i].library);

		if (found && found > list && (found[-1] == '\t' || found[-1] == '/'))
			return mpi_libraries[i].kind;
	}
	return NULL;
}

/* An executable with a dynamic linker's work to do: others are not asked about. */
static bool mpi_is_program(const char *path)
{
	char head[SELFMAG];
	struct stat st;
	bool is_elf;
	int fd;

	if (stat(path, &st) < 0 || !S_ISREG(st.st_mode) || access(path, X_OK) < 0)
		return false;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	is_elf = read(fd, head, sizeof(head)) == (ssize_t)sizeof(head) &&
		 memcmp(head, ELFMAG, SELFMAG) == 0;
	close(fd);
	return is_elf;
}

/* Nothing of the program itself runs. */
static _Noreturn void mpi_become_linker(const char *path, int to)
{
	int null = open("/dev/null", O_RDWR);

	unsetenv("LD_PRELOAD");
	dup2(to, STDOUT_FILENO);
	if (null >= 0) {
		dup2(null, STDIN_FILENO);
		dup2(null, STDERR_FILENO);
	}
	execl(LINKER, LINKER, "--list", path, (char *)NULL);
	_exit(127);
}

static size_t mpi_read_list(int from, char *ret, size_t size)
{
	size_t length = 0;

	while (length < size - 1) {
		ssize_t n = read(from, ret + length, size - 1 - length);

		if (n == 0 || (n < 0 && errno != EINTR))
			break;
		length += n > 0 ? (size_t)n : 0;
	}
	ret[length] = 0;
	return length;
}

static const char *mpi_kind_of(const char *path)
{
	static char list[LIST_MAX];
	int ends[2];
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC) < 0)
		return NULL;
	pid = fork();
	if (pid == 0)
		mpi_become_linker(path, ends[1]);
	close(ends[1]);
	mpi_read_list(ends[0], list, sizeof(list));
	close(ends[0]);
	while (pid > 0 && waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
	return fx_program_mpi_kind(list);
}

/* The library for this kind, beside libfxtrace.so. */
static bool mpi_library(const char *library, const char *kind, char *ret, size_t size)
{
	const char *slash = strrchr(library, '/');
	int length = slash ? (int)(slash - library) : 0;
	int n = snprintf(ret, size, "%.*s/libfxtrace-mpi-%s.so", length, library, kind);

	return n > 0 && (size_t)n < size && access(ret, R_OK) == 0;
}

const char *fx_program_mpi(char *const *argv, const char *library, char *ret, size_t size)
{
	const char *before = getenv("LD_PRELOAD");
	char path[PATH_MAX];

	if (before && strstr(before, "libfxtrace-mpi"))
		return NULL;
	if (!mpi_library(library, "openmpi", ret, size) &&
	    !mpi_library(library, "mpich", ret, size))
		return NULL;
	for (int i = 0; argv[i] && i < WORDS_MAX; i++) {
		const char *kind;

		if (argv[i][0] == '-' || fx_program_find(argv[i], path, sizeof(path)) < 0 ||
		    !mpi_is_program(path))
			continue;
		kind = mpi_kind_of(path);
		if (kind)
			return mpi_library(library, kind, ret, size) ? ret : NULL;
	}
	return NULL;
}
