/* SPDX-License-Identifier: MIT */
/*
 * Arrows of what threads tell each other through pipes and sockets: from the call that wrote the last byte that a read got, to
 * that read. Category `message'.
 *
 * Each call that reads or writes is noted as its record goes into the archive, at the end of the channel that its descriptor is
 * (transfer-ends.h); beyond some memory, in a file without a name. When nothing more comes, each direction of each channel is
 * gone through by time, in pieces: a piece ends where no call is under way and all that was written has been read. Of
 * these transfer-match.h says who wrote what. It counts from the totals of all processes together, and finds out if somebody else
 * wrote or read as well as soon as a read finds the channel empty too early or too late; arrows wait for such a read, and
 * are given up if it is one too many.
 *
 *	written	|-1-| |-2-| |-3-|		|-4-| |-5-|
 *	read	       |--1 2--| |--3--|  |-- 4 --|    |- 5 -|
 *	pieces	<----------------------->  <------------------->
 */
#ifndef FX_MANAGER_TRANSFERS_H
#define FX_MANAGER_TRANSFERS_H

#include <stdbool.h>
#include <stdint.h>

#include "manager/archive/transfer-call.h"

struct fx_archive;
struct fx_rewriting;
struct fx_stream;
struct fx_stream_end;

void fx_transfers_init(struct fx_transfers *transfers, struct fx_archive *archive, bool is_wanted);
void fx_transfers_destroy(struct fx_transfers *transfers);

/* A call has come, as the record in work says; `shown': it stands in the archive as it is. */
void fx_transfers_take(struct fx_rewriting *w, uint64_t begin, uint64_t end, bool shown);

/* A call had not ended when nothing more was heard: its name as the provider wrote it, and what it was called with first. */
void fx_transfers_open(struct fx_stream *s, uint32_t name, uint64_t first, uint64_t begin,
		       uint64_t end);

/* Nothing more comes of the process. */
void fx_transfers_end(struct fx_stream *s, const struct fx_stream_end *end);

/* Draws all that is certain. `is_doubtful': processes are missing. */
void fx_transfers_finish(struct fx_transfers *transfers, bool is_doubtful);

#endif
