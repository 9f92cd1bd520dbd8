/* SPDX-License-Identifier: MIT */
#include "manager/archive/transfer-known.h"

#include <stdlib.h>
#include <string.h>

#include "engine/layout.h"

/* Descriptors that are remembered. */
#define FDS_MAX 65536u

void fx_transfer_stream_free(struct fx_transfer_stream *t)
{
	if (!t)
		return;
	free(t->by_ref);
	free(t->fds);
	free(t);
}

struct fx_transfer_fd *fx_transfer_fd_get(struct fx_transfer_stream *t, int64_t fd)
{
	uint32_t count = t->fd_count ? t->fd_count : 16;
	struct fx_transfer_fd *fds;

	if (fd < 0 || fd >= FDS_MAX)
		return NULL;
	if (fd < t->fd_count)
		return &t->fds[fd];
	while (count <= fd)
		count *= 2;
	fds = realloc(t->fds, count * sizeof(*fds));
	if (!fds)
		return NULL;
	memset(fds + t->fd_count, 0, (count - t->fd_count) * sizeof(*fds));
	t->fds = fds;
	t->fd_count = count;
	return &t->fds[fd];
}

struct fx_transfer_end **fx_transfer_ref_place(struct fx_transfer_stream *t, uint32_t ref)
{
	uint32_t count = t->refs ? t->refs : 512;
	struct fx_transfer_end **grown;

	if (ref >= FX_STRING_LOCAL)
		return NULL;
	if (ref < t->refs)
		return &t->by_ref[ref];
	while (count <= ref)
		count *= 2;
	grown = realloc(t->by_ref, count * sizeof(*grown));
	if (!grown)
		return NULL;
	memset(grown + t->refs, 0, (count - t->refs) * sizeof(*grown));
	t->by_ref = grown;
	t->refs = count;
	return &t->by_ref[ref];
}
