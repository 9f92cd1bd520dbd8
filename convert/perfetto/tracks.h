/* SPDX-License-Identifier: MIT */
/*
 * The tracks of a Perfetto trace: of processes, threads, counters, async operations, notes. Each is
 * known by its uuid, and described by a packet of its own, once, before or when it is first asked
 * for.
 */
#ifndef FX_CONVERT_PERFETTO_TRACKS_H
#define FX_CONVERT_PERFETTO_TRACKS_H

#include "convert/export.h"
#include "convert/perfetto/packet.h"

struct fx_counter_track;

struct fx_tracks {
	struct fx_packets *packets; /* where descriptions go, and errors */
	struct fx_counter_track *counters;
	uint64_t counter_count;
	uint64_t async_track_count; /* those that were described: 1 to this */
	bool global_described;
	FX_VECTOR(bool) notes_described; /* by number of the process */
	bool trace_notes_described;
};

void fx_tracks_init(struct fx_tracks *tracks, struct fx_packets *packets);
void fx_tracks_release(struct fx_tracks *tracks);

/*
 * Whether an id can be a pid or tid of Linux: those are 31 bits and not 0. Virtual threads and
 * foreign traces have others.
 */
static inline bool fx_is_linux_id(uint64_t id)
{
	return id > 0 && id <= INT32_MAX;
}

uint64_t fx_track_of_process(const struct fx_process *process);
uint64_t fx_track_of_thread(const struct fx_thread *thread);

/* Those whose ids are not of Linux get a plain track with a name. */
void fx_tracks_describe_process(struct fx_tracks *tracks, const struct fx_process *process);
void fx_tracks_describe_thread(struct fx_tracks *tracks, const struct fx_thread *thread);

/* The track of what concerns all processes. */
uint64_t fx_tracks_global(struct fx_tracks *tracks);

/* The track of one value, @arg, of the counter @id of an event; 0: no memory. */
uint64_t fx_tracks_counter(struct fx_tracks *tracks, const struct fx_event *event, uint64_t id,
			   const struct fxt_arg *arg);

uint64_t fx_tracks_async(struct fx_tracks *tracks, const struct fx_async_track *track);

/* The track of the notes on a process, or on the whole trace (NULL); 0: no memory. */
uint64_t fx_tracks_notes(struct fx_tracks *tracks, const struct fx_process *process);

#endif
