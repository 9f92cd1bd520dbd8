/* SPDX-License-Identifier: MIT */
/* What an archive has, and what it lacks, over all providers. */
#ifndef FX_MANAGER_TOTALS_H
#define FX_MANAGER_TOTALS_H

#include <stdbool.h>
#include <stdint.h>

#include "manager/archive/known.h"
#include "manager/archive/stream.h"
#include "manager/archive/transfer-draw.h"
#include "manager/archive/untraced.h"

struct fx_totals {
	uint64_t processes;
	uint64_t threads;
	uint64_t kernel_processes,
	    kernel_threads; /* beside these: the kernel alone tells of them */
	uint64_t events;    /* in the archive; counts has those of what processes did */
	uint64_t broken;    /* providers that broke the rules */
	uint64_t silent;    /* processes without an event */
	uint64_t file_size; /* bytes */
	/* circular: the time that is kept: of every process whose buffer wrapped, if one did; else
	 * all, from the beginning to the last end */
	uint64_t history_ns;
	bool wrapped;
	bool shortened;				  /* to what --last asks for */
	uint64_t symbol_files;			  /* whose symbols were read; */
	uint64_t kept_symbol_files, kept_symbols; /* of these, from the cache on disk */
	bool sourceless;	    /* functions are chosen by source files, and none is known */
	char unseen[FX_UNSEEN_MAX]; /* as in RESULT */
	char suppressed[FX_SUPPRESSED_MAX]; /* the same */
	struct fx_stream_counts counts;
	struct fx_untraced untraced;
	struct fx_transfer_counts transfers;
	struct fx_transfer_counts shares; /* of locks that processes share */
};

/* A process has begun, or, with `exec', goes on as another program: it is counted already then. */
void fx_totals_begin(struct fx_totals *totals, bool exec);

/* All of it is in the archive. */
void fx_totals_end(struct fx_totals *totals, const struct fx_stream *s,
		   const struct fx_stream_end *end, bool exec);

#endif
