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
#include <stddef.h>
#include <stdint.h>

#include "lists/vector.h"
#include "manager/archive/transfer-ends.h"
#include "manager/archive/transfer-match.h"

struct fx_archive;
struct fx_rewriting;
struct fx_stream;
struct fx_stream_end;
struct fx_transfer_stream;

/* Calls of one piece; with more, nothing is drawn of it. */
#define FX_TRANSFERS_PIECE_MAX (1u << 19)

/* Why a read has no arrow. */
enum fx_transfer_left {
	FX_TRANSFER_LEFT_ORDER,	   /* several may have written what it read */
	FX_TRANSFER_LEFT_UNTRACED, /* nobody in the archive, or somebody else as well */
	FX_TRANSFER_LEFT_LOST,	   /* calls are missing */
	FX_TRANSFER_LEFT_MANY,	   /* they were too many */
	FX_TRANSFER_LEFT_COUNT,
};

_Static_assert(1 + FX_TRANSFER_LEFT_COUNT <= 8, "see struct fx_msg_result");

struct fx_transfer_counts {
	uint64_t arrows;
	uint64_t left[FX_TRANSFER_LEFT_COUNT];
};

/* What a record says of a transfer, while it is rewritten: the words of its arguments, 0: it has none. */
struct fx_transfer_args {
	uint8_t way; /* enum fx_meaning of its name; 0: it moves no bytes */
	uint8_t nargs;
	uint16_t fd, ret, size, flags, total_read, total_written, addr, error, messages, ready;
	uint32_t file, in_file, out_file; /* references to strings, as the provider wrote them */
	uint32_t flags_ref, error_ref, messages_ref, ready_ref;
};

#define FX_TRANSFER_THREADS 16u

/* A provider of the archive that knows the text, and these threads by their numbers in this list. */
struct fx_transfer_provider {
	uint32_t provider;
	uint32_t tids[FX_TRANSFER_THREADS];
};

struct fx_transfers {
	bool is_wanted;
	bool is_doubtful; /* a process has part that nobody saw, or saw all of */
	FX_VECTOR(uint32_t) lossy; /* providers, by number */
	struct fx_archive *archive; /* borrowed */
	struct fx_transfer_ends ends;
	struct fx_transfer_counts counts;
	uint64_t flows;
	FX_VECTOR(struct fx_transfer_provider) named; /* by number */
};

void fx_transfers_init(struct fx_transfers *transfers, struct fx_archive *archive, bool is_wanted);
void fx_transfers_destroy(struct fx_transfers *transfers);

/* A call has come, as the record in work says; `shown': it stands in the archive as it is. */
void fx_transfers_take(struct fx_rewriting *w, uint64_t begin, uint64_t end, bool shown);

/* A call had not ended when nothing more was heard: its name as the provider wrote it, and what it was called with first. */
void fx_transfers_open(struct fx_stream *s, uint32_t name, uint64_t first, uint64_t begin, uint64_t end);

/* Nothing more comes of the process. */
void fx_transfers_end(struct fx_stream *s, const struct fx_stream_end *end);
void fx_transfers_forget(struct fx_stream *s);

/* Draws all that is certain. `is_doubtful': processes are missing. */
void fx_transfers_finish(struct fx_transfers *transfers, bool is_doubtful);

#endif
