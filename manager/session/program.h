/* SPDX-License-Identifier: MIT */
/*
 * The traced program: where libfxtrace.so is, and starting a program with it.
 */
#ifndef FX_MANAGER_PROGRAM_H
#define FX_MANAGER_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/loadable.h"

/* Finds libfxtrace.so: in the build tree, beside the installed command, or where it was configured
 * to be. Writes its path; 0, -ENOENT, or -EINVAL for a path that LD_PRELOAD cannot express. */
int fx_program_library(char *ret, size_t size);

/* The file of the running command, also without a /proc. 0 or -errno. */
int fx_program_own(char *ret, size_t size);

/* How a program is started. */
struct fx_program_way {
	const char *library; /* preloaded */
	const char *mpi;     /* preloaded beside it (program-mpi.h); NULL: nothing is */
	const char *socket;  /* in its environment */
	bool to_stderr; /* its standard output goes to standard error: the archive goes to ours */
	bool alone;	/* what it starts does not ask to be traced */
	void (*prepare)(void *opaque,
			pid_t pid); /* called before its image replaces ours; NULL: nothing is */
	void *opaque;
};

/*
 * Starts argv[0], looked for in PATH.
 * Returns once the program's image has replaced ours: its pid; or -errno if it cannot be run
 * (-ENOENT: not found).
 */
pid_t fx_program_start(char *const *argv, const struct fx_program_way *way);

/* Becomes argv[0], looked for in PATH, as it would run without us. -errno if it cannot be run. */
int fx_program_become(char *const *argv);

/* The file that argv[0] names, looked for in PATH. 0 or -ENOENT. */
int fx_program_find(const char *name, char *ret, size_t size);

/* Why a program can never be traced, as far as its file tells. */
enum fx_loadable fx_program_obstacle(const char *name);

#endif
