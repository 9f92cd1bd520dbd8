/* SPDX-License-Identifier: MIT */
/* Archives as they are named on a command line. */
#ifndef FX_CLIENT_ARCHIVE_H
#define FX_CLIENT_ARCHIVE_H

#include <stdbool.h>

#include <fxtrace/reader.h>

/* Opens the archive at `file`, "-" for standard input. Returns 0 or -errno. */
int fx_archive_open(const char *file, struct fxt_reader **ret);

/*
 * One line on what is wrong with a file: the fault, if there is one (NULL: none) and no other error; else the error.
 * Returns FX_EXIT_FAILURE.
 */
int fx_archive_complain(const char *program, const char *file, int error,
			const struct fxt_fault *fault);

/* Whether both names stand for one file that is there. */
bool fx_archive_is_same(const char *file, const char *other);

#endif
