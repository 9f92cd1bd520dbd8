/* SPDX-License-Identifier: MIT */
/* The arrows that end at one end of a channel: see transfers.h. */
#ifndef FX_MANAGER_TRANSFER_DRAW_H
#define FX_MANAGER_TRANSFER_DRAW_H

#include <stdbool.h>
#include <stdint.h>

#include "lists/vector.h"
#include "manager/archive/transfer-ends.h"

struct fx_archive;

/* Calls of one piece; with more, nothing is drawn of it. */
#define FX_TRANSFERS_PIECE_MAX (1u << 19)

/* Why a read has no arrow. */
enum fx_transfer_left {
#define FX_TRANSFER_LEFT(name, word, reason) FX_TRANSFER_LEFT_##name,
#include "manager/archive/transfer-left.def"
#undef FX_TRANSFER_LEFT
	FX_TRANSFER_LEFT_COUNT,
};

_Static_assert(1 + FX_TRANSFER_LEFT_COUNT <= 8, "see struct fx_msg_result");

struct fx_transfer_counts {
	uint64_t arrows;
	uint64_t left[FX_TRANSFER_LEFT_COUNT];
};

#define FX_TRANSFER_THREADS 16u

/* A provider of the archive that knows the text, and these threads by their numbers in this list. */
struct fx_transfer_provider {
	uint32_t provider;
	uint32_t tids[FX_TRANSFER_THREADS];
};

struct fx_transfer_drawing {
	struct fx_archive *archive; /* borrowed */
	bool is_doubtful;	    /* a process has part that nobody saw, or saw all of */
	bool has_unknown_reads;	    /* nobody knows of which channel */
	FX_VECTOR(uint32_t) lossy;  /* providers, by number */
	struct fx_transfer_counts counts;
	uint64_t flows;
	FX_VECTOR(struct fx_transfer_provider) named; /* by number */
};

/* From a call to one that it has let go on. */
void fx_transfer_draw_arrow(struct fx_transfer_drawing *drawing, const struct fx_transfer *from,
			    const struct fx_transfer *to);

void fx_transfer_drawing_free(struct fx_transfer_drawing *drawing);

/* Of all that was read there. Another provider may be selected in the archive afterwards. */
void fx_transfer_draw(struct fx_transfer_drawing *drawing, struct fx_transfer_end *end);

#endif
