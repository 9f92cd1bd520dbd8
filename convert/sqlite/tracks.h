/* SPDX-License-Identifier: MIT */
/*
 * Tracks: what slices and counters stand on. A row is inserted when a track is asked for first.
 */
#ifndef FX_CONVERT_SQLITE_TRACKS_H
#define FX_CONVERT_SQLITE_TRACKS_H

#include <stdint.h>

#include "convert/export.h"
#include "convert/sqlite/database.h"

/* utid and upid; 0 is the idle thread's. */
static inline int64_t fx_sql_utid(const struct fx_thread *thread)
{
	return (int64_t)thread->number + 1;
}

static inline int64_t fx_sql_upid(const struct fx_process *process)
{
	return (int64_t)process->number + 1;
}

struct fx_sql_track;

struct fx_sql_tracks {
	struct fx_sql_database *database;
	const struct fx_texts *strings;
	struct fx_sql_track *all;
	int64_t count;
};

void fx_sql_tracks_init(struct fx_sql_tracks *tracks, struct fx_sql_database *database,
			const struct fx_texts *strings);
void fx_sql_tracks_release(struct fx_sql_tracks *tracks);

/* The ids of tracks; 0: no memory. */
int64_t fx_sql_track_of_thread(struct fx_sql_tracks *tracks, const struct fx_thread *thread);
int64_t fx_sql_track_of_process(struct fx_sql_tracks *tracks, const struct fx_process *process);
int64_t fx_sql_track_of_async(struct fx_sql_tracks *tracks, const struct fx_async_track *async);
/* Of fxtrace's own notes; NULL: on the whole trace. */
int64_t fx_sql_track_of_notes(struct fx_sql_tracks *tracks, const struct fx_process *process);
int64_t fx_sql_track_of_trace(struct fx_sql_tracks *tracks);
int64_t fx_sql_track_of_counter(struct fx_sql_tracks *tracks, const struct fx_event *event,
				uint64_t id, const struct fxt_arg *arg);

#endif
