/* SPDX-License-Identifier: MIT */
#include "manager/archive/queue.h"

#include <errno.h>
#include <stdlib.h>

/* Empty blocks kept for the next use. */
#define SPARE_MAX 64u

/* Where there is no memory for more, blocks that go round: so many from the beginning, and so many of them not for data. */
#define SPARE_MIN 4u
#define KEPT	  2u

/* So many are enough to be taken at once: the spare ones go round, and what was copied is still in a cache. Each page of a
 * block that nobody has touched yet is a fault. */
#define GATHERED_BLOCKS (SPARE_MAX / 4)
#define GATHERED_BYTES	(256u << 10)

/* Whoever writes a block has time while no more than this stands behind it. */
#define HASTE_BYTES (1u << 20)

void fx_block_list_init(struct fx_block_list *list)
{
	list->first = NULL;
	list->last = &list->first;
}

void fx_block_list_add(struct fx_block_list *list, struct fx_block *block)
{
	block->next = NULL;
	*list->last = block;
	list->last = &block->next;
}

int fx_queue_init(struct fx_queue *q, uint64_t limit)
{
	pthread_condattr_t attr;

	*q = (struct fx_queue){.limit = limit};
	q->last = &q->first;
	pthread_mutex_init(&q->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&q->filled, &attr);
	pthread_condattr_destroy(&attr);
	while (q->spare_count < SPARE_MIN) {
		struct fx_block *block = malloc(sizeof(*block));

		if (!block)
			return -ENOMEM;
		block->next = q->spare;
		q->spare = block;
		q->spare_count++;
	}
	return 0;
}

static void free_blocks(struct fx_block *block)
{
	while (block) {
		struct fx_block *next = block->next;

		free(block);
		block = next;
	}
}

void fx_queue_destroy(struct fx_queue *q)
{
	free_blocks(q->first);
	free_blocks(q->spare);
	pthread_cond_destroy(&q->filled);
	pthread_mutex_destroy(&q->lock);
}

bool fx_queue_is_full(struct fx_queue *q)
{
	bool full;

	pthread_mutex_lock(&q->lock);
	full = q->bytes >= q->limit;
	pthread_mutex_unlock(&q->lock);
	return full;
}

/* An empty one, unless there are no more than `kept`. */
static struct fx_block *spare_block(struct fx_queue *q, unsigned kept)
{
	struct fx_block *block = NULL;

	pthread_mutex_lock(&q->lock);
	if (q->spare_count > kept) {
		block = q->spare;
		q->spare = block->next;
		q->spare_count--;
	}
	pthread_mutex_unlock(&q->lock);
	return block;
}

static struct fx_block *block_begin(struct fx_block *block, enum fx_block_kind kind,
				    struct fx_inlet *inlet)
{
	if (!block)
		return NULL;
	block->next = NULL;
	block->kind = kind;
	block->inlet = inlet;
	block->ticks = 0;
	block->looked = block->in_haste = false;
	block->end = (struct fx_stream_end){0};
	block->at = block->done = 0;
	block->pieces = (struct fx_drain_block){.data = block->data, .capacity = FX_BLOCK_SIZE};
	return block;
}

struct fx_block *fx_queue_block(struct fx_queue *q, enum fx_block_kind kind, struct fx_inlet *inlet)
{
	struct fx_block *block = spare_block(q, KEPT);

	return block_begin(block ? block : malloc(sizeof(*block)), kind, inlet);
}

struct fx_block *fx_queue_block_kept(struct fx_queue *q, enum fx_block_kind kind,
				     struct fx_inlet *inlet)
{
	struct fx_block *block = fx_queue_block(q, kind, inlet);

	return block ? block : block_begin(spare_block(q, 0), kind, inlet);
}

void fx_queue_recycle(struct fx_queue *q, struct fx_block *block)
{
	pthread_mutex_lock(&q->lock);
	if (q->spare_count < SPARE_MAX) {
		block->next = q->spare;
		q->spare = block;
		q->spare_count++;
		block = NULL;
	}
	pthread_mutex_unlock(&q->lock);
	free(block);
}

/* Whether what is there is to be taken at once. The lock is held. */
static bool queue_has_enough(const struct fx_queue *q)
{
	return q->closed || q->urgent || q->count >= GATHERED_BLOCKS ||
	       q->bytes >= GATHERED_BYTES || q->bytes >= q->limit / 2;
}

void fx_queue_push(struct fx_queue *q, struct fx_block_list *list)
{
	if (!list->first)
		return;
	pthread_mutex_lock(&q->lock);
	for (const struct fx_block *b = list->first; b; b = b->next) {
		q->count++;
		q->bytes += b->pieces.used;
		q->urgent |= b->kind == FX_BLOCK_FLUSH;
	}
	*q->last = list->first;
	q->last = list->last;
	if (!q->lingers || queue_has_enough(q))
		pthread_cond_signal(&q->filled);
	pthread_mutex_unlock(&q->lock);
	fx_block_list_init(list);
}

void fx_queue_linger(struct fx_queue *q, const struct timespec *deadline)
{
	int r = 0;

	pthread_mutex_lock(&q->lock);
	q->lingers = true;
	while (!queue_has_enough(q) && r == 0)
		r = pthread_cond_timedwait(&q->filled, &q->lock, deadline);
	q->lingers = false;
	pthread_mutex_unlock(&q->lock);
}

struct fx_block *fx_queue_take(struct fx_queue *q, const struct timespec *deadline)
{
	struct fx_block *first;
	int r = 0;

	pthread_mutex_lock(&q->lock);
	while (!q->first && !q->closed && r == 0)
		r = pthread_cond_timedwait(&q->filled, &q->lock, deadline);
	/* One at a time, so that the bound sees what is still to be written. */
	first = q->first;
	if (first) {
		q->first = first->next;
		if (!q->first)
			q->last = &q->first;
		q->count--;
		q->bytes -= first->pieces.used;
		q->urgent &= q->first != NULL;
		first->next = NULL;
		first->in_haste = q->closed || q->urgent || q->bytes >= HASTE_BYTES;
	}
	pthread_mutex_unlock(&q->lock);
	return first;
}

void fx_queue_close(struct fx_queue *q)
{
	pthread_mutex_lock(&q->lock);
	q->closed = true;
	pthread_cond_signal(&q->filled);
	pthread_mutex_unlock(&q->lock);
}

bool fx_queue_is_over(struct fx_queue *q)
{
	bool over;

	pthread_mutex_lock(&q->lock);
	over = q->closed && !q->first;
	pthread_mutex_unlock(&q->lock);
	return over;
}
