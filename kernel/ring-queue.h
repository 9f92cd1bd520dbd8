/* SPDX-License-Identifier: MIT */
/*
 * What the thread that reads the rings hands to the one that works on records: a list with a limit, how far it can be put in order,
 * and how much was lost on the way.
 */
#ifndef FX_KERNEL_RING_QUEUE_H
#define FX_KERNEL_RING_QUEUE_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "kernel/ring-record.h"

struct fx_ring_queue {
	pthread_mutex_t lock; /* of all that follows */
	pthread_cond_t came;
	struct fx_ring_record *first, **end; /* as they were read */
	uint64_t safe;			     /* ns; nothing older will come */
	uint64_t lost;
	bool is_over; /* nothing at all will come */
	/* Atomic, bytes of records that are not worked on yet, also of those that were taken. */
	uint64_t waiting;
};

void fx_ring_queue_init(struct fx_ring_queue *queue);
void fx_ring_queue_destroy(struct fx_ring_queue *queue);

/* The reading thread's. A record goes to the queue, or is lost if too much waits; NULL: there was no memory for it, so it is lost. */
void fx_ring_queue_put(struct fx_ring_queue *queue, struct fx_ring_record *record);

/* All that is older than `safe' (ns) has been put. UINT64_MAX: all that there will be. */
void fx_ring_queue_advance(struct fx_ring_queue *queue, uint64_t safe);

/* Either thread's: so many records are lost. */
void fx_ring_queue_lose(struct fx_ring_queue *queue, uint64_t count);

/*
 * The working thread's: all records that were put, in a list. *safe: as far as they are all there, and what that was before;
 * if it has not changed, a change is waited for, `wait_ms` at most.
 */
struct fx_ring_record *fx_ring_queue_take(struct fx_ring_queue *queue, unsigned wait_ms,
					  uint64_t *safe);

/* One that was taken is being worked on. */
void fx_ring_queue_work(struct fx_ring_queue *queue, const struct fx_ring_record *record);

/* Bytes of those that are not worked on yet. */
uint64_t fx_ring_queue_waiting(const struct fx_ring_queue *queue);

/* Whether it is empty and nothing will come. */
bool fx_ring_queue_is_over(struct fx_ring_queue *queue);

/* How many records were lost since it was asked last. */
uint64_t fx_ring_queue_lost(struct fx_ring_queue *queue);

#endif
