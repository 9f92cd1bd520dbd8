/* SPDX-License-Identifier: MIT */
/*
 * A file without a name, for what is too much to keep in memory. It lies in TMPDIR, else in
 * /var/tmp or /tmp, is made when it is first written to, and is gone with the process.
 */
#ifndef FX_LISTS_SPILL_H
#define FX_LISTS_SPILL_H

#include <stddef.h>
#include <stdint.h>

/* All zeros but @fd, which is -1: empty. */
struct fx_spill {
	int fd;
	uint64_t size;
};

#define FX_SPILL_EMPTY                                                                             \
	{                                                                                          \
		.fd = -1                                                                           \
	}

/* Writes behind what was written. Returns 0 or -errno, and then nothing was added. */
int fx_spill_append(struct fx_spill *spill, const void *data, size_t size);

/* Reads what was written. Returns 0 or -errno. */
int fx_spill_read(const struct fx_spill *spill, uint64_t offset, void *data, size_t size);

/* Such a file alone, empty, to read and write: its descriptor or -errno. */
int fx_spill_file(void);

/* The same with a name, for what opens a file by one: then the name is to be taken away, and freed. */
int fx_spill_file_named(char **ret_path);

void fx_spill_close(struct fx_spill *spill);

#endif
