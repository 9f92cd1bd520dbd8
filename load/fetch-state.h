/* SPDX-License-Identifier: MIT */
/* A fetch (fetch.h) between its units: fetch.c has the whole, fetch-names.c who is there, fetch-slices.c what they did. */
#ifndef FX_LOAD_FETCH_STATE_H
#define FX_LOAD_FETCH_STATE_H

#include <fxtrace/writer.h>

#include "lists/hashes.h"
#include "lists/vector.h"
#include "load/answer.h"

/* A process or thread of the server's that is in the archive at hand; pid 0: the scheduler's word is all that there is of it. */
struct fx_fetch_thread {
	uint64_t pid, tid;
};

/* A number of a process or thread that is taken. */
struct fx_fetch_id {
	uint64_t id;
	UT_hash_handle hh;
};

struct fx_fetch_order;

struct fx_fetch {
	struct fx_clickhouse *server;
	const struct fx_fetch_order *order;
	struct fxt_writer *writer;
	uint64_t begin, end; /* of all, as they are in the new one */
	struct fx_fetch_id *taken;
	bool is_apart; /* archives of several hosts */
	/* The archive at hand. */
	uint64_t archive;
	uint64_t number;			   /* from 1 */
	uint64_t shift;				   /* of processes and threads */
	uint64_t earlier;			   /* what is taken off times */
	FX_VECTOR(uint64_t) processes;		   /* pids, by upid */
	FX_VECTOR(struct fx_fetch_thread) threads; /* by utid */
};

/* A number as the server prints it; what it prints of a number that is negative is the same 64 bits. */
uint64_t fx_fetch_number(const char *text);

/* A time of the archive at hand. */
uint64_t fx_fetch_time(const struct fx_fetch *fetch, const char *text);

/* NULL: there is none. */
const struct fx_fetch_thread *fx_fetch_thread(const struct fx_fetch *fetch, const char *utid);

/* Processes and threads of the archive at hand, with ids that are free. 0 or -errno, as the others. */
int fx_fetch_names(struct fx_fetch *fetch);
void fx_fetch_names_release(struct fx_fetch *fetch);

/* Calls and instants, with their arguments and arrows. */
int fx_fetch_slices(struct fx_fetch *fetch);

#endif
