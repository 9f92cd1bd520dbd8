/* SPDX-License-Identifier: MIT */
/* What is remembered of a process whose calls move bytes: which of its descriptors are ends of channels. */
#ifndef FX_MANAGER_TRANSFER_KNOWN_H
#define FX_MANAGER_TRANSFER_KNOWN_H

#include <stdbool.h>
#include <stdint.h>

struct fx_transfer_end;

enum fx_transfer_way { FX_TRANSFER_WAY_READ, FX_TRANSFER_WAY_WRITTEN, FX_TRANSFER_WAYS };

/* What a descriptor was when it was used last. */
struct fx_transfer_fd {
	struct fx_transfer_end *end; /* NULL: no channel, or not known */
	bool is_known;
	struct {
		uint64_t total;
		uint64_t last; /* ns; when the newest call ended */
		uint32_t tid;
	} ways[FX_TRANSFER_WAYS];
};

struct fx_transfer_stream {
	/* By reference of the provider: the end, or what stands for none. */
	struct fx_transfer_end **by_ref;
	uint32_t refs;
	struct fx_transfer_fd *fds;
	uint32_t fd_count;
};

/* The descriptor; NULL: there is no such number, or no memory. */
struct fx_transfer_fd *fx_transfer_fd_get(struct fx_transfer_stream *t, int64_t fd);

/* Where the end that is called so is kept; NULL: nowhere. */
struct fx_transfer_end **fx_transfer_ref_place(struct fx_transfer_stream *t, uint32_t ref);

/* NULL is allowed. */
void fx_transfer_stream_free(struct fx_transfer_stream *t);

#endif
