/* SPDX-License-Identifier: MIT */
/*
 * A source of bytes: a file, memory or a function, plain, gzip or zstd. What it is, its first bytes
 * tell. Concatenated members and frames read as one.
 */
#ifndef FX_FORMAT_INPUT_H
#define FX_FORMAT_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <fxtrace/reader.h>

struct fx_input;

/* Each returns 0 or -errno. A descriptor is borrowed unless @own; it is then closed with it. */
int fx_input_open_fd(int fd, int own, struct fx_input **ret);
int fx_input_open_memory(const void *data, size_t size, struct fx_input **ret);
int fx_input_open_function(fxt_read_function *read, void *opaque, struct fx_input **ret);
void fx_input_close(struct fx_input *input);

/* Whether more may come behind what seems to be the end: fx_input_read() says -EAGAIN there. */
void fx_input_set_growing(struct fx_input *input, bool growing);

/*
 * Fills @buffer as far as there is input. Returns the bytes read (0 at the end alone; of a pipe or a
 * function, what there is), or -errno of read(2); -EAGAIN: nothing yet. -EBADMSG: compressed data are
 * corrupt; -EPIPE: compressed data end too early. Those two come after every byte before them was
 * returned.
 */
ssize_t fx_input_read(struct fx_input *input, void *buffer, size_t size);

/* Bytes of the source taken so far, and their total, 0 if unknown. */
void fx_input_progress(const struct fx_input *input, uint64_t *ret_done, uint64_t *ret_total);

#endif /* FX_FORMAT_INPUT_H */
