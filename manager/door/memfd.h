/* SPDX-License-Identifier: MIT */
/*
 * Shared memory made by the manager: sealed memfds, mapped here, sent to providers.
 */
#ifndef FX_MANAGER_MEMFD_H
#define FX_MANAGER_MEMFD_H

#include <stdint.h>

/* A memfd of `size` bytes, all zero; not executable where the kernel can forbid it. The descriptor,
 * or -errno. */
int fx_memfd_create(const char *name, uint64_t size);

enum fx_memfd_writer {
	FX_MEMFD_OURS,	 /* mapped writable here; sealed so that nobody else can */
	FX_MEMFD_THEIRS, /* mapped read-only here */
};

/* Maps it, and seals it against any change of size and further seals. 0 or -errno. */
int fx_memfd_map_and_seal(int fd, uint64_t size, enum fx_memfd_writer writer, void **ret);

#endif
