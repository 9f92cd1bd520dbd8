/* SPDX-License-Identifier: MIT */
/*
 * The queue from the thread that empties buffers to the thread that writes the archive. Its bound
 * is in bytes of copied data: when it is reached, buffers are left as they are and their owners
 * feel it, rather than the machine's memory.
 */
#ifndef FX_MANAGER_QUEUE_H
#define FX_MANAGER_QUEUE_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/reader/drain.h"
#include "manager/archive/stream.h"

#ifndef FX_BLOCK_SIZE
#define FX_BLOCK_SIZE (128u << 10)
#endif

_Static_assert(FX_BLOCK_SIZE >= FX_DRAIN_BLOCK_MIN, "any piece fits into an empty block");

enum fx_block_kind {
	FX_BLOCK_BEGIN,	 /* a provider was registered */
	FX_BLOCK_DATA,	 /* pieces of its buffer */
	FX_BLOCK_LOOK,	 /* its open calls before the data that came last was taken: scope.h */
	FX_BLOCK_END,	 /* nothing more will come of it */
	FX_BLOCK_FLUSH,	 /* what came before is to be in the file */
	FX_BLOCK_NOTES,	 /* what was seen of its threads from outside: notes.h */
	FX_BLOCK_CHOICE, /* what comes behind is judged by another list of functions, a text */
};

/* What the writer knows of one provider: made with its BEGIN, never freed before the writer. */
struct fx_inlet;

struct fx_block {
	struct fx_block *next;
	enum fx_block_kind kind;
	struct fx_inlet *inlet;
	uint64_t ticks; /* FRAMES pieces: the end of open calls; LOOK, NOTES: when that was */
	bool looked;	/* FX_BLOCK_LOOK: these are the last */
	bool in_haste;	/* as it was taken: much stands behind it, or is waited for */
	struct fx_stream_end end; /* FX_BLOCK_END */
	struct fx_drain_block pieces;
	size_t at, done; /* how far the writer has come: the piece, and bytes of it */
	uint8_t data[FX_BLOCK_SIZE] __attribute__((aligned(8)));
};

struct fx_queue {
	pthread_mutex_t lock;
	pthread_cond_t filled;
	struct fx_block *first, **last;
	struct fx_block *spare; /* empty blocks to be used again */
	unsigned spare_count;
	unsigned count; /* blocks in the queue, */
	uint64_t bytes; /* and of their pieces, which are bounded */
	uint64_t limit;
	bool urgent; /* one of them is waited for */
	bool lingers;
	bool closed;
};

/* A list of blocks that will be queued in one go. */
struct fx_block_list {
	struct fx_block *first, **last;
};

/* 0 or -ENOMEM; it is to be destroyed in either case. */
int fx_queue_init(struct fx_queue *q, uint64_t limit);

/* Frees what is left. No thread may use it any more. */
void fx_queue_destroy(struct fx_queue *q);

/* Whether the bound is reached. */
bool fx_queue_is_full(struct fx_queue *q);

/* An empty block, NULL without memory. */
struct fx_block *fx_queue_block(struct fx_queue *q, enum fx_block_kind kind,
				struct fx_inlet *inlet);

/* The same, for what other blocks cannot do without: there are some that data does not get. */
struct fx_block *fx_queue_block_kept(struct fx_queue *q, enum fx_block_kind kind,
				     struct fx_inlet *inlet);

/* Gives a block back. */
void fx_queue_recycle(struct fx_queue *q, struct fx_block *block);

void fx_block_list_init(struct fx_block_list *list);
void fx_block_list_add(struct fx_block_list *list, struct fx_block *block);

/* Appends all blocks of the list, which is empty then. */
void fx_queue_push(struct fx_queue *q, struct fx_block_list *list);

/*
 * Lets blocks gather: comes back at `deadline` (CLOCK_MONOTONIC), or once there are many, one that is waited for, or none to come.
 * Till then nobody who queues one has to wake this thread: of a thousand processes a second each queues several.
 */
void fx_queue_linger(struct fx_queue *q, const struct timespec *deadline);

/* Takes the oldest block; waits for one, at most until `deadline` (CLOCK_MONOTONIC).
 * NULL: the time is over, or the queue is closed and empty. */
struct fx_block *fx_queue_take(struct fx_queue *q, const struct timespec *deadline);

/* No more blocks will come. */
void fx_queue_close(struct fx_queue *q);

/* Closed, and everything was taken. */
bool fx_queue_is_over(struct fx_queue *q);

#endif
