/* SPDX-License-Identifier: MIT */
#include "kernel/ring-queue.h"

#include <stdlib.h>
#include <time.h>

#include "base/atomic.h"

/* What waits to be worked on takes no more than this; what comes then is lost, and counted. */
#define WAITING_BYTES (UINT64_C(256) << 20)

void fx_ring_queue_init(struct fx_ring_queue *queue)
{
	pthread_condattr_t attr;

	*queue = (struct fx_ring_queue){.lock = PTHREAD_MUTEX_INITIALIZER};
	queue->end = &queue->first;
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&queue->came, &attr);
	pthread_condattr_destroy(&attr);
}

void fx_ring_queue_destroy(struct fx_ring_queue *queue)
{
	fx_ring_records_free(queue->first);
	pthread_cond_destroy(&queue->came);
	pthread_mutex_destroy(&queue->lock);
}

/* Bytes that it takes. */
static uint64_t queue_bytes(const struct fx_ring_record *record)
{
	return sizeof(*record) + record->size;
}

void fx_ring_queue_put(struct fx_ring_queue *queue, struct fx_ring_record *record)
{
	pthread_mutex_lock(&queue->lock);
	if (record && fx_ring_queue_waiting(queue) + queue_bytes(record) <= WAITING_BYTES) {
		fx_add_relaxed(&queue->waiting,
			       queue_bytes(record)); /* with fx_ring_queue_work()'s */
		*queue->end = record;
		queue->end = &record->next;
		record = NULL;
	} else {
		queue->lost++;
	}
	pthread_mutex_unlock(&queue->lock);
	free(record);
}

void fx_ring_queue_advance(struct fx_ring_queue *queue, uint64_t safe)
{
	pthread_mutex_lock(&queue->lock);
	queue->safe = safe;
	queue->is_over = safe == UINT64_MAX;
	pthread_cond_signal(&queue->came);
	pthread_mutex_unlock(&queue->lock);
}

void fx_ring_queue_lose(struct fx_ring_queue *queue, uint64_t count)
{
	pthread_mutex_lock(&queue->lock);
	queue->lost += count;
	pthread_mutex_unlock(&queue->lock);
}

static struct timespec moment_in(unsigned ms)
{
	struct timespec ret;

	clock_gettime(CLOCK_MONOTONIC, &ret);
	ret.tv_nsec += (long)ms * 1000000;
	ret.tv_sec += ret.tv_nsec / 1000000000;
	ret.tv_nsec %= 1000000000;
	return ret;
}

struct fx_ring_record *fx_ring_queue_take(struct fx_ring_queue *queue, unsigned wait_ms,
					  uint64_t *safe)
{
	const struct timespec until = moment_in(wait_ms);
	struct fx_ring_record *records;

	pthread_mutex_lock(&queue->lock);
	if (!queue->is_over && queue->safe == *safe)
		pthread_cond_timedwait(&queue->came, &queue->lock, &until);
	records = queue->first;
	queue->first = NULL;
	queue->end = &queue->first;
	*safe = queue->safe;
	pthread_mutex_unlock(&queue->lock);
	return records;
}

/* Without the lock, which a thread of low priority is not to hold when it loses its processor. */
void fx_ring_queue_work(struct fx_ring_queue *queue, const struct fx_ring_record *record)
{
	fx_add_relaxed(&queue->waiting, -queue_bytes(record)); /* with fx_ring_queue_put()'s */
}

uint64_t fx_ring_queue_waiting(const struct fx_ring_queue *queue)
{
	return fx_load_relaxed(&queue->waiting); /* a count: nothing depends on its order */
}

bool fx_ring_queue_is_over(struct fx_ring_queue *queue)
{
	bool is_over;

	pthread_mutex_lock(&queue->lock);
	is_over = queue->is_over && !queue->first;
	pthread_mutex_unlock(&queue->lock);
	return is_over;
}

uint64_t fx_ring_queue_lost(struct fx_ring_queue *queue)
{
	uint64_t lost;

	pthread_mutex_lock(&queue->lock);
	lost = queue->lost;
	queue->lost = 0;
	pthread_mutex_unlock(&queue->lock);
	return lost;
}
