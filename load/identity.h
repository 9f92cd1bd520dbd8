/* SPDX-License-Identifier: MIT */
/* What an archive is known by, wherever it lies: a hash of its bytes. */
#ifndef FX_LOAD_IDENTITY_H
#define FX_LOAD_IDENTITY_H

#include <stdint.h>

/* Of the whole file, whose offset is then 0. Returns 0 or -errno; -ENOTSUP: this build has no hash. */
int fx_load_identity(int fd, uint64_t *ret);

#endif
