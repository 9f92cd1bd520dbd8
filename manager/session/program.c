/* SPDX-License-Identifier: MIT */
#include "manager/session/program.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "manager/process/limits.h"

#define LIBRARY "libfxtrace.so"

/* --- The library ----------------------------------------------------------------------------- */

int fx_program_own(char *ret, size_t size)
{
	ssize_t n = readlink("/proc/self/exe", ret, size - 1);
	/* what it was started by */
	const char *name = (const char *)getauxval(AT_EXECFN);
	char real[PATH_MAX];

	if (n >= 0) {
		ret[n] = 0;
		return 0;
	}
	if (!name || !realpath(name, real))
		return -ENOENT;
	if (strlen(real) >= size)
		return -ENAMETOOLONG;
	strcpy(ret, real);
	return 0;
}

/* Directory of the running command. 0 or -errno. */
static int own_directory(char ret[PATH_MAX])
{
	int r = fx_program_own(ret, PATH_MAX);
	char *slash;

	if (r < 0)
		return r;
	slash = strrchr(ret, '/');
	if (!slash)
		return -ENOENT;
	*slash = 0;
	return 0;
}

static int try_library(const char *directory, const char *below, char *ret, size_t size)
{
	char path[PATH_MAX], real[PATH_MAX];
	int n = snprintf(path, sizeof(path), "%s/%s%s", directory, below, LIBRARY);

	if (n < 0 || (size_t)n >= sizeof(path) || !realpath(path, real))
		return -ENOENT;
	if (strlen(real) >= size || strpbrk(real, ": "))
		return -EINVAL;
	strcpy(ret, real);
	return 0;
}

int fx_program_library(char *ret, size_t size)
{
	/* From the command's directory: the build tree, an installation, one of several bits, one put
	 * together by hand. */
	static const char *const below[] = {
	    ".libs/",  "preload/.libs/", "../lib/fxtrace/", "../lib64/fxtrace/",
	    "../lib/", "../lib64/",
	};
	char own[PATH_MAX];
	int r = own_directory(own);

	for (size_t i = 0; r == 0 && i < sizeof(below) / sizeof(below[0]); i++) {
		int found = try_library(own, below[i], ret, size);

		if (found != -ENOENT)
			return found;
	}
	return try_library(FX_PKGLIBDIR, "", ret, size);
}

/* --- Starting -------------------------------------------------------------------------------- */

static int prepend_preload(const char *library)
{
	const char *before = getenv("LD_PRELOAD");
	char *value;
	int r;

	if (!before || !*before)
		return setenv("LD_PRELOAD", library, 1);
	if (asprintf(&value, "%s:%s", library, before) < 0)
		return -1;
	r = setenv("LD_PRELOAD", value, 1);
	free(value);
	return r;
}

/* In the child: by its number the library knows it from what it starts, whatever it becomes itself. */
static int program_set_alone(bool alone)
{
	char pid[24];

	if (!alone)
		return unsetenv("FXTRACE_PID");
	unsetenv("FXTRACE_NO_FOLLOW"); /* of which it becomes nothing would be traced either */
	snprintf(pid, sizeof pid, "%d", (int)getpid());
	return setenv("FXTRACE_PID", pid, 1);
}

/* In the child: waits until the parent has prepared what there is to prepare. */
static void program_wait(int gate)
{
	char nothing;

	while (read(gate, &nothing, 1) < 0 && errno == EINTR)
		;
}

/* In the child. Tells the parent why it could not be. */
static _Noreturn void program_become(char *const *argv, const struct fx_program_way *way, int tell)
{
	int error;

	if ((fx_loadable_complains(fx_program_obstacle(argv[0])) ||
	     ((!way->mpi || prepend_preload(way->mpi) == 0) &&
	      prepend_preload(way->library) == 0)) &&
	    setenv("FXTRACE_SOCKET", way->socket, 1) == 0 && program_set_alone(way->alone) == 0)
		execvp(argv[0], argv);
	error = errno;
	while (write(tell, &error, sizeof(error)) < 0 && errno == EINTR)
		;
	_exit(127);
}

/* Reads the child's error; 0 if its image was replaced. */
static int program_hear(int from)
{
	int error = 0;
	ssize_t n;

	do {
		n = read(from, &error, sizeof(error));
	} while (n < 0 && errno == EINTR);
	return n == sizeof(error) ? -error : 0;
}

pid_t fx_program_start(char *const *argv, const struct fx_program_way *way)
{
	const struct sigaction by_default = {.sa_handler = SIG_DFL};
	struct sigaction before;
	int ends[2], gate[2], r;
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC) < 0)
		return -errno;
	if (pipe2(gate, O_CLOEXEC) < 0) {
		r = -errno;
		close(ends[0]);
		close(ends[1]);
		return r;
	}
	/* A process that ignores SIGCHLD loses its children's status; the program has it as it was. */
	sigaction(SIGCHLD, &by_default, &before);
	pid = fork();
	if (pid == 0) {
		sigaction(SIGCHLD, &before, NULL);
		fx_limits_give_back();
		if (way->to_stderr)
			dup2(STDERR_FILENO, STDOUT_FILENO);
		close(gate[1]);
		program_wait(gate[0]);
		program_become(argv, way, ends[1]);
	}
	r = pid < 0 ? -errno : 0;
	close(ends[1]);
	close(gate[0]);
	if (r == 0 && way->prepare)
		way->prepare(way->opaque, pid);
	close(gate[1]);
	if (r == 0)
		r = program_hear(ends[0]);
	close(ends[0]);
	if (r < 0 && pid > 0)
		waitpid(pid, NULL, 0);
	return r < 0 ? r : pid;
}

int fx_program_become(char *const *argv)
{
	fx_limits_give_back();
	execvp(argv[0], argv);
	return -errno;
}

int fx_program_find(const char *name, char *ret, size_t size)
{
	const char *path = getenv("PATH"), *end;

	if (strchr(name, '/'))
		return (size_t)snprintf(ret, size, "%s", name) < size ? 0 : -ENOENT;
	for (; path && *path; path = *end ? end + 1 : end) {
		int length;

		end = strchrnul(path, ':');
		length = (int)(end - path);
		if ((size_t)snprintf(ret, size, "%.*s/%s", length, path, name) < size &&
		    access(ret, X_OK) == 0)
			return 0;
	}
	return -ENOENT;
}

/* Whether the file is the one that runs here. */
static bool is_this(const char *path)
{
	struct stat own, other;

	return stat("/proc/self/exe", &own) == 0 && stat(path, &other) == 0 &&
	       own.st_dev == other.st_dev && own.st_ino == other.st_ino;
}

enum fx_loadable fx_program_obstacle(const char *name)
{
	enum fx_loadable verdict;
	char path[PATH_MAX];

	if (fx_loadable_names_sanitizer(getenv("LD_PRELOAD")))
		return FX_LOADABLE_SANITIZER_NAMED;
	if (fx_program_find(name, path, sizeof(path)) < 0)
		return FX_LOADABLE;
	if (is_this(path))
		return FX_LOADABLE_OWN;
	verdict = fx_loadable_file(AT_FDCWD, path);
	return verdict == FX_LOADABLE ? fx_loadable_here() : verdict;
}
