/* SPDX-License-Identifier: MIT */
/* Archives as they are named on a command line. */
#ifndef FX_CLIENT_ARCHIVE_H
#define FX_CLIENT_ARCHIVE_H

#include <stdbool.h>

#include <fxtrace/reader.h>

struct fx_output;
struct fx_timeline;

/* Where a session's archive is unless its FILE is given. */
#define FX_ARCHIVE_USUAL "fxtrace.fxt"

/* Takes an argument as the one FILE of a command, NULL so far. A second one is wrong usage. */
void fx_archive_argument(const char *program, const char **file, const char *arg);

/* Opens the archive at `file`, "-" for standard input. Returns 0 or -errno. */
int fx_archive_open(const char *file, struct fxt_reader **ret);

/* The same as a descriptor, or -errno; fx_archive_close_fd() leaves standard input open. */
int fx_archive_open_fd(const char *file);
void fx_archive_close_fd(int fd);

/*
 * One line on what is wrong with a file: the fault, if there is one (NULL: none) and no other error; else the error.
 * Returns FX_EXIT_FAILURE.
 */
int fx_archive_complain(const char *program, const char *file, int error,
			const struct fxt_fault *fault);

/* As above, on a fault that is there; what `then` says comes behind it. */
int fx_archive_complain_of(const char *program, const char *file, const struct fxt_fault *fault,
			   const char *then);

/* One line on what was lost while recording, if anything was: the first note, and how many there are, with what `where` says. */
void fx_archive_say_notes(const char *program, const char *file, const struct fx_timeline *timeline,
			  const char *where);

/* Keeps a fault in the struct fxt_fault that `opaque` is: a handler of a reader's. */
void fx_archive_note_fault(void *opaque, const struct fxt_fault *fault);

/*
 * Makes an archive at `path`, whole or not at all; write() writes it, and *ret is what it returned. False: the output cannot
 * be had, which was said.
 */
bool fx_archive_make(const char *program, const char *path,
		     int (*write)(void *opaque, struct fx_output *out), void *opaque, int *ret);

/* What the first four bytes of a file say of its compression, if it is an archive: "gzip", "zstd" or "plain". */
const char *fx_archive_compression(const unsigned char bytes[4]);

/* Whether it looks like an archive by them. */
bool fx_archive_begins(const unsigned char *bytes, size_t size);

/* Whether both names stand for one file that is there. */
bool fx_archive_is_same(const char *file, const char *other);

#endif
