/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "load/identity.h"

#include <errno.h>

#if HAVE_XXHASH

#include <stdlib.h>
#include <unistd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

enum { IDENTITY_PIECE = 1 << 18 };

static int identity_feed(int fd, XXH64_state_t *state, void *piece)
{
	off_t at = 0;

	for (;;) {
		ssize_t n = pread(fd, piece, IDENTITY_PIECE, at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : 0;
		XXH64_update(state, piece, (size_t)n);
		at += n;
	}
}

int fx_load_identity(int fd, uint64_t *ret)
{
	void *piece = malloc(IDENTITY_PIECE);
	XXH64_state_t state;
	int r = -ENOMEM;

	if (piece) {
		XXH64_reset(&state, 0);
		r = identity_feed(fd, &state, piece);
	}
	*ret = r == 0 ? XXH64_digest(&state) : 0;
	free(piece);
	return r;
}

uint64_t fx_load_identity_of(const uint64_t *identities, size_t count)
{
	return XXH64(identities, count * sizeof(*identities), 0);
}

#else

int fx_load_identity(int fd, uint64_t *ret)
{
	(void)fd;
	*ret = 0;
	return -ENOTSUP;
}

uint64_t fx_load_identity_of(const uint64_t *identities, size_t count)
{
	(void)identities;
	(void)count;
	return 0;
}

#endif
