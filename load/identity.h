/* SPDX-License-Identifier: MIT */
/* What an archive is known by, wherever it lies: a hash of its bytes. */
#ifndef FX_LOAD_IDENTITY_H
#define FX_LOAD_IDENTITY_H

#include <stddef.h>
#include <stdint.h>

/* Of the whole file, whose offset is then 0. Returns 0 or -errno; -ENOTSUP: this build has no hash. */
int fx_load_identity(int fd, uint64_t *ret);

/* Of several, in this order; 0 where this build has no hash. */
uint64_t fx_load_identity_of(const uint64_t *identities, size_t count);

#endif
