/* SPDX-License-Identifier: MIT */
/*
 * The file that an archive is written to: plain, gzip (.gz) or zstd (.zst) by its name, or standard
 * output ("-").
 *
 * Only whole records ever stay in a file. Plain data goes out in writes of whole records; when the
 * disk is full, what a failed write left behind is cut off again. Compressed data is a row of
 * independent members of some MiB each, and is cut back to the last whole member. Within a member, what a
 * compressor holds is asked of it several times a second, so that a reader of the file while it is
 * written, or after the manager was killed, finds what is not older than that.
 */
#ifndef FX_MANAGER_OUTPUT_H
#define FX_MANAGER_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fx_output;

/*
 * Makes ready to write, without touching what the file holds: nothing is lost if the session does
 * not come about. A file that did not exist is made, and fx_output_close() removes it again if
 * fx_output_begin() was never called. 0 or -errno.
 */
int fx_output_open(const char *path, struct fx_output **ret);

/* The same for what is of use only as a whole (fx_destination_open_whole()): without fx_output_keep() it goes when it is
 * closed, and what had its name is as it was. */
int fx_output_open_whole(const char *path, struct fx_output **ret);

/* What was committed is the whole: unless writing it fails, fx_output_close() gives it its name. */
void fx_output_keep(struct fx_output *out);

/* The same for an open descriptor, which becomes the output's if this succeeds; compressed by the
 * extension of `path`, which is not opened. -ENOTTY for a terminal: nobody can say how long it takes to write there. */
int fx_output_adopt(int fd, const char *path, struct fx_output **ret);

/* One that holds what was committed in memory, until it is taken from there (scope.h). 0 or -ENOMEM. When there is no memory
 * for more, that is its error, and nothing more comes in. */
int fx_output_hold(struct fx_output **ret);

/* What it holds; good until the next call. */
uint64_t *fx_output_held(struct fx_output *out, size_t *ret_words);

/* Lets go of the first `words` of it. */
void fx_output_let_go(struct fx_output *out, size_t words);

/* Empties the file; from here on records may be written. 0 or -errno. */
int fx_output_begin(struct fx_output *out);

/*
 * Room for a record of `words` words, at most FX_OUTPUT_RECORD_MAX. Never NULL: after an error the
 * words go nowhere. The memory is valid until the next call.
 */
#define FX_OUTPUT_RECORD_MAX (64u << 10) /* words */
uint64_t *fx_output_reserve(struct fx_output *out, size_t words);

/* Appends the record of `words` words that now stands in the reserved room. */
void fx_output_commit(struct fx_output *out, size_t words);

/* Hands what is complete to the system; what was just compressed, a little later, when fx_output_rest() is over.
 * 0, or the first error of this output. */
int fx_output_flush(struct fx_output *out);

/* After how many ns fx_output_flush() is to be called again, though nothing was committed; UINT64_MAX: never. */
uint64_t fx_output_rest(const struct fx_output *out);

/* The same for all that was committed: a compressed file's member ends here. */
int fx_output_complete(struct fx_output *out);

/*
 * A reader of a pipe or a socket may take as long as it likes (0), or, from now on, must take something every
 * `patience_ns`: else the output fails with -ETIMEDOUT, and what is written waits for nobody any more. The one
 * function that may be called while another thread is in the others.
 */
#define FX_OUTPUT_PATIENCE_NS UINT64_C(5000000000)
void fx_output_set_patience(struct fx_output *out, uint64_t patience_ns);

/* The first error so far, 0 if none. */
int fx_output_error(const struct fx_output *out);

/* Bytes of records committed, before compression. */
uint64_t fx_output_bytes(const struct fx_output *out);

/* Writes the rest and closes; *ret_size, which may be NULL, gets the size of the file in bytes. Returns
 * the first error, 0 if none. *out is gone. */
int fx_output_close(struct fx_output *out, uint64_t *ret_size);

#endif
