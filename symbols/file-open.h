/* SPDX-License-Identifier: MIT */
/* Opens the files that processes name, without trusting those names. */
#ifndef FX_SYMBOLS_FILE_OPEN_H
#define FX_SYMBOLS_FILE_OPEN_H

#include <stddef.h>
#include <stdint.h>

/* What tells a file without build-id from its successors under the same path. */
struct fx_file_identity {
	uint64_t device;
	uint64_t inode;
	uint64_t size;
	uint64_t changed_seconds;
	uint64_t changed_nanoseconds;
};

/* Length of path without the " (deleted)" that the kernel appends. */
size_t fx_path_length(const char *path);

/* What stands at path now; all zero if it is no file that can be told again later. */
void fx_file_identify(const char *path, struct fx_file_identity *ret);

/*
 * Opens a regular file for reading. With identity it must be that very file; without, it is the
 * caller who verifies it, by its build-id, and then the path may be one of a deleted file in whose
 * place the same file stands again. 0, or an enum fx_symbol_problem_kind plus one.
 */
int fx_file_open(const char *path, const struct fx_file_identity *identity, int *ret_fd);

/* Opens what is at the path below the directory `root' for reading, whatever links say; with more flags of open(). The
 * descriptor, or -1 and errno. */
int fx_file_open_below(int root, const char *path, int flags);

#endif
