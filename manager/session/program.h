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

/*
 * `to_stderr`: what it writes to standard output goes to standard error, since standard output is the archive's.
 * Starts argv[0], looked for in PATH, with `library` preloaded and `socket` in its environment.
 * Returns once the program's image has replaced ours: its pid; or -errno if it cannot be run
 * (-ENOENT: not found).
 */
pid_t fx_program_start(char *const *argv, const char *library, const char *socket, bool to_stderr);

/* Becomes argv[0], looked for in PATH, as it would run without us. -errno if it cannot be run. */
int fx_program_become(char *const *argv);

/* The file that argv[0] names, looked for in PATH. 0 or -ENOENT. */
int fx_program_find(const char *name, char *ret, size_t size);

/* Why a program can never be traced, as far as its file tells. */
enum fx_loadable fx_program_obstacle(const char *name);

#endif
