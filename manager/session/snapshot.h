/* SPDX-License-Identifier: MIT */
/*
 * Snapshots: what the circular buffers of all providers hold, written to an archive of its own while
 * tracing goes on. The buffers are copied at once; the archive is written by a thread of its own.
 */
#ifndef FX_MANAGER_SNAPSHOT_H
#define FX_MANAGER_SNAPSHOT_H

#include "manager/settings/settings.h"
#include "manager/door/poller.h"
#include "manager/door/provider.h"
#include "manager/archive/writer.h"

struct fx_snapshot;

struct fx_snapshots {
	struct fx_poller *poller;
	struct fx_snapshot *first;
	unsigned taken; /* begun so far */
};

struct fx_snapshot_order {
	const struct fx_session_config *config;
	struct fx_output *output; /* becomes the snapshot's, also if it fails */
	const char *path;	  /* for messages */
	const struct fx_clock_choice *clock;
	struct fx_anchor first_anchor; /* of the session */
	/* Told when the archive is complete; may be NULL. */
	void (*done)(void *opaque, const char *path, const struct fx_totals *totals, int error);
	void *opaque;
};

void fx_snapshots_init(struct fx_snapshots *ret, struct fx_poller *poller);

/* Waits for those that are being written. */
void fx_snapshots_destroy(struct fx_snapshots *snapshots);

/* Copies what `providers`, a list, hold. 0 or -errno; then `done` is not called. */
int fx_snapshot_take(struct fx_snapshots *snapshots, const struct fx_snapshot_order *order,
		     const struct fx_provider *providers);

/* Takes the next snapshot of a session, beyond number *n, into a file beside the session's archive, and says so. */
void fx_snapshot_take_beside(struct fx_snapshots *snapshots, const struct fx_session_config *config,
			     const struct fx_clock_choice *clock, struct fx_anchor first_anchor,
			     unsigned *n, const struct fx_provider *providers);

/* Nobody waits for it any more: `done` is not called for `opaque`. */
void fx_snapshots_abandon(struct fx_snapshots *snapshots, const void *opaque);

/* "NAME.N.fxt" for an output NAME.fxt, and the like with .gz and .zst. 0, or -ENAMETOOLONG. */
int fx_snapshot_path(const char *output, unsigned n, char *ret, size_t size);

#endif
