/* SPDX-License-Identifier: MIT */
/*
 * What a provider has recorded, on its way to the writer: while it goes on, at a stop, and when it has ended.
 */
#include <errno.h>
#include <linux/futex.h>
#include <string.h>
#include <time.h>

#include "base/atomic.h"
#include "base/fault.h"
#include "base/syscall.h"
#include "manager/door/provider.h"
#include "manager/process/title.h"
#include "manager/settings/losses.h"
#include "manager/settings/report.h"

/* One provider may fill so many blocks before another one's turn comes. */
#define BLOCKS_PER_TURN 64u

/* Without memory, blocks come back from the writer; they are waited for so many times, each a millisecond, for each
 * provider. */
#define STARVED_TRIES 500u

#define FEW_THREADS	64u
#define FACTS_PERIOD_NS UINT64_C(20000000)

/* After a moment, in which memory may have come back; false: something of it is lost now. */
static bool may_try_again(struct fx_provider *p)
{
	const struct timespec moment = {.tv_nsec = 1000000};

	if (p->tries < STARVED_TRIES) {
		p->tries++;
		nanosleep(&moment, NULL);
		return true;
	}
	if (!p->starved)
		fx_report("%s (%d): out of memory; a part of its trace is lost", p->name,
			  (int)p->pid);
	p->starved = true;
	return false;
}

/* Adds what `take` finds to the list, in as many blocks as it needs. 0, 1: there is more than
 * `max_blocks`, or -errno. */
static int take_blocks(struct fx_provider *p, struct fx_queue *queue, struct fx_block_list *list,
		       unsigned max_blocks,
		       int (*take)(struct fx_provider *p, struct fx_drain_block *block))
{
	int r = 1;

	while (r == 1 && max_blocks--) {
		struct fx_block *block = fx_queue_block(queue, FX_BLOCK_DATA, p->inlet);

		if (!block)
			return -ENOMEM;
		block->ticks = p->end_ticks;
		r = take(p, &block->pieces);
		if (block->pieces.used)
			fx_block_list_add(list, block);
		else
			fx_queue_recycle(queue, block);
	}
	return r;
}

/* The same with all that `take` finds, queued at once: what comes later has to come behind it. */
static int queue_blocks(struct fx_provider *p, struct fx_queue *queue,
			int (*take)(struct fx_provider *p, struct fx_drain_block *block))
{
	int r = 1;

	while (r == 1 || (r == -ENOMEM && may_try_again(p))) {
		struct fx_block *block = fx_queue_block_kept(queue, FX_BLOCK_DATA, p->inlet);
		struct fx_block_list list;

		r = -ENOMEM;
		if (!block)
			continue;
		block->ticks = p->end_ticks;
		r = take(p, &block->pieces);
		fx_block_list_init(&list);
		if (block->pieces.used)
			fx_block_list_add(&list, block);
		else
			fx_queue_recycle(queue, block);
		fx_queue_push(queue, &list);
	}
	return r;
}

static int take_released(struct fx_provider *p, struct fx_drain_block *block)
{
	return fx_drain_chunks(&p->drain, false, block);
}

static int take_all(struct fx_provider *p, struct fx_drain_block *block)
{
	return fx_drain_chunks(&p->drain, true, block);
}

static int take_history(struct fx_provider *p, struct fx_drain_block *block)
{
	return fx_drain_history(&p->drain, block);
}

static bool is_circular(const struct fx_provider *p)
{
	return p->mode == FX_MODE_CIRCULAR;
}

/* Facts of few threads are looked at with every piece of data; of many, from time to time. */
static bool must_look_at_threads(struct fx_provider *p)
{
	uint64_t now;

	if (p->drain.slots_used <= FEW_THREADS || p->drain.over)
		return true;
	now = fx_boottime_ns();
	if (now < p->next_facts)
		return false;
	p->next_facts = now + FACTS_PERIOD_NS;
	return true;
}

static int take_facts(struct fx_provider *p, struct fx_drain_block *block)
{
	/* The area ends some time; facts may change as fast as they are taken, and must not keep it
	 * from a block. */
	int r = fx_drain_durable(&p->drain, block);

	if (r == 0 && must_look_at_threads(p))
		r = fx_drain_threads(&p->drain, block);
	return r;
}

static int take_frames(struct fx_provider *p, struct fx_drain_block *block)
{
	return fx_drain_frames(&p->drain, &p->frames_cursor, block);
}

/* --- Open calls while it goes on (manager/archive/scope.h) -------------------------------------- */

static void look_forget(struct fx_provider *p, struct fx_queue *queue)
{
	struct fx_block *block;

	while ((block = p->look)) {
		p->look = block->next;
		fx_queue_recycle(queue, block);
	}
}

/* Without memory there is none. */
static void look_take(struct fx_provider *p, struct fx_queue *queue, uint64_t ticks)
{
	struct fx_block_list list;
	uint32_t cursor = 0;
	int r = 1;

	fx_block_list_init(&list);
	while (r == 1) {
		struct fx_block *block = fx_queue_block(queue, FX_BLOCK_LOOK, p->inlet);

		if (!block)
			break;
		block->ticks = ticks;
		r = fx_drain_frames(&p->drain, &cursor, &block->pieces);
		block->looked = r == 0;
		fx_block_list_add(&list, block);
	}
	p->look = list.first;
	if (r)
		look_forget(p, queue);
}

/* Before a pass that takes all there is; one that goes on has its look. Of many threads it is made from time to time. */
static void look_begin(struct fx_provider *p, struct fx_queue *queue)
{
	uint64_t now = fx_boottime_ns();

	if (p->look || p->drain.over || is_circular(p))
		return;
	if (p->drain.slots_used > FEW_THREADS && now < p->next_look)
		return;
	p->next_look = now + FACTS_PERIOD_NS;
	look_take(p, queue, fx_ticks(p->clock));
}

/* All that was committed before the look is queued. */
static void look_end(struct fx_provider *p, struct fx_queue *queue)
{
	struct fx_block_list list;
	struct fx_block *block;

	fx_block_list_init(&list);
	while ((block = p->look)) {
		p->look = block->next;
		fx_block_list_add(&list, block);
	}
	fx_queue_push(queue, &list);
}

/* --- A turn ------------------------------------------------------------------------------------ */

static void report_broken(const struct fx_provider *p)
{
	fx_report("%s (%d): its buffer is corrupt (%s); the rest of its trace is lost", p->name,
		  (int)p->pid, p->drain.broken);
}

/*
 * One turn of saving. Names and modules are read after the chunks that use them, so that none is
 * missing, and queued before them, so that none comes too late. 0, 1: there is more, or -errno.
 */
static int save(struct fx_provider *p, struct fx_queue *queue, bool held)
{
	bool was_broken = p->drain.broken != NULL;
	struct fx_block_list chunks;
	int r, facts;

	if (p->nests)
		look_begin(p, queue);
	held |= p->look != NULL;
	fx_block_list_init(&chunks);
	r = take_blocks(p, queue, &chunks, BLOCKS_PER_TURN,
			is_circular(p) ? take_history
			: held	       ? take_all
				       : take_released);
	p->busy = chunks.first != NULL;
	facts = p->busy || held ? queue_blocks(p, queue, take_facts) : 0;
	fx_queue_push(queue, &chunks);
	if (r == 0 && p->look)
		look_end(p, queue);
	if (p->drain.broken && !was_broken)
		report_broken(p);
	return r ? r : facts;
}

/* Lets the provider go on in the half that was saved. */
static void acknowledge(struct fx_provider *p)
{
	FX_FAULT(buffer_copied);
	if (!fx_drain_acknowledge(&p->drain) || p->on_full != FX_ON_FULL_BLOCK)
		return;
	fx_add_relaxed(&p->control->space_word, 1);
	/* No more than there may be room for; the others look from time to time. */
	fx_syscall3(SYS_futex, &p->control->space_word, FUTEX_WAKE, p->drain.share);
}

/* What it has is left in its buffer for now. */
static bool provider_must_wait(const struct fx_provider *p, struct fx_queue *queue)
{
	return fx_queue_is_full(queue) || fx_inlet_is_behind(p->inlet);
}

double fx_provider_poll(struct fx_provider *p, struct fx_queue *queue, bool held)
{
	bool must = fx_drain_must_acknowledge(&p->drain);
	uint64_t before = p->drain.claimed;

	if (p->phase == FX_PROVIDER_LIVE && p->origin)
		fx_title_look(p->origin, p->pidfd,
			      fx_drain_has_news(&p->drain) ? FX_TITLE_NEWS : FX_TITLE_TIME);
	/* A circular buffer is saved when it is asked for, and at the end. */
	if (p->phase != FX_PROVIDER_LIVE || !p->inlet || p->drain.broken || is_circular(p))
		return 0;
	if (!must && !(held && p->drain.watch_count) && !fx_drain_has_news(&p->drain))
		return 0;
	if (!fx_drain_is_attached(&p->drain))
		return 0;
	if (p->origin)
		fx_origin_look(p->origin);
	if (provider_must_wait(p, queue))
		return 1; /* look again soon */
	if (save(p, queue, held || must) == 0 && must)
		acknowledge(p);
	return (double)(p->drain.claimed - before) / p->drain.share;
}

/* --- The end --------------------------------------------------------------------------------- */

void fx_provider_end(struct fx_provider *p, uint64_t ticks)
{
	if (p->phase != FX_PROVIDER_LIVE)
		return;
	p->phase = FX_PROVIDER_ENDING;
	p->end_ticks = ticks;
}

static void queue_end(struct fx_provider *p, struct fx_queue *queue)
{
	struct fx_block *block = fx_queue_block_kept(queue, FX_BLOCK_END, p->inlet);
	struct fx_block_list list;

	look_forget(p, queue);
	while (!block && may_try_again(p))
		block = fx_queue_block_kept(queue, FX_BLOCK_END, p->inlet);
	if (!block)
		return;
	block->end = (struct fx_stream_end){.ticks = p->end_ticks, .broken = p->drain.broken};
	block->end.wrapped = p->wrapped;
	block->end.ending = p->ending;
	block->end.absent = !fx_drain_is_attached(&p->drain);
	block->end.limited = p->limited;
	block->end.starved = p->starved;
	if (!block->end.absent) {
		fx_drain_unslotted(&p->drain, block->end.unslotted);
		block->end.unfollowed = fx_drain_unfollowed(&p->drain);
		block->end.given_up = fx_drain_given_up(&p->drain);
		block->end.heap_bytes = p->heap_bytes;
		block->end.heap_blocks = p->heap_blocks;
	}
	fx_block_list_init(&list);
	fx_block_list_add(&list, block);
	fx_queue_push(queue, &list);
}

/* All of the buffer, then the open calls. True once they are queued. */
static bool save_all(struct fx_provider *p, struct fx_queue *queue)
{
	int r = 1;

	if (!fx_drain_is_attached(&p->drain))
		return true;
	if (p->origin)
		fx_title_look(p->origin, p->pidfd, FX_TITLE_NOW);
	p->drain.over = true;
	if (is_circular(p))
		p->wrapped |=
		    fx_drain_next_serial(&p->drain) - p->drain.floor > p->drain.chunk_count;
	while (r == 1 || (r == -ENOMEM && may_try_again(p))) {
		if (provider_must_wait(p, queue))
			return false;
		r = save(p, queue, true);
	}
	p->frames_cursor = 0;
	queue_blocks(p, queue, take_frames);
	if (p->wanted & FX_CAT_HEAP)
		fx_drain_heap(&p->drain, &p->heap_bytes, &p->heap_blocks);
	p->drain.over = false;
	return true;
}

bool fx_provider_finish(struct fx_provider *p, struct fx_queue *queue)
{
	if (p->phase == FX_PROVIDER_OVER)
		return true;
	if (p->inlet) {
		if (!p->settled && !save_all(p, queue))
			return false;
		queue_end(p, queue);
	}
	p->phase = FX_PROVIDER_OVER;
	return true;
}

/* --- Sessions that a resident provider lives through ----------------------------------------- */

bool fx_provider_flush(struct fx_provider *p, struct fx_queue *queue)
{
	int r = 1;

	if (!p->inlet || p->drain.broken || is_circular(p) || !fx_drain_is_attached(&p->drain))
		return true;
	/* It ends: what is saved gives a provider no room before it is acknowledged. */
	while (r == 1) {
		if (provider_must_wait(p, queue))
			return false;
		r = save(p, queue, true);
	}
	return true;
}

uint64_t fx_provider_dropped(const struct fx_provider *p)
{
	uint64_t unslotted[FX_LOSSES_ROOM], count;

	if (!fx_drain_is_attached(&p->drain))
		return 0;
	count = fx_drain_dropped(&p->drain);
	fx_drain_unslotted(&p->drain, unslotted);
	for (unsigned i = 0; i < FX_LOSSES_ROOM; i++)
		fx_loss_add(&count, unslotted[i]);
	return count;
}

bool fx_provider_settle(struct fx_provider *p, struct fx_queue *queue)
{
	if (p->settled || !p->inlet)
		return true;
	p->settled = save_all(p, queue);
	/* What is saved of a circular buffer is not to be saved again. */
	if (p->settled && is_circular(p))
		fx_drain_forget(&p->drain);
	return p->settled;
}

void fx_provider_leave(struct fx_provider *p, struct fx_queue *queue)
{
	if (!p->inlet)
		return;
	queue_end(p, queue);
	fx_provider_set_stopped(p);
	p->inlet = NULL;
}

/* --- Another reader -------------------------------------------------------------------------- */

int fx_provider_view(const struct fx_provider *p, uint64_t ticks, struct fx_inlet *inlet,
		     struct fx_provider *ret)
{
	struct fx_provider view = {
	    .id = p->id,
	    .pid = p->pid,
	    .phase = FX_PROVIDER_ENDING,
	    .control = p->control,
	    .mode = p->mode,
	    .buffer = p->buffer,
	    .inlet = inlet,
	    .pidfd = -1,
	    .buffer_fd = -1,
	    .end_ticks = ticks,
	    .wanted = p->wanted,
	};
	int r = fx_drain_init(&view.drain, &p->drain.layout, p->buffer, p->control);

	view.drain.stash_offset = p->stash_offset;
	if (p->origin)
		fx_title_look(p->origin, p->pidfd, FX_TITLE_NOW);

	if (r == 0)
		r = fx_drain_inherit(&view.drain, &p->drain);
	if (r < 0) {
		fx_drain_destroy(&view.drain);
		return r;
	}
	memcpy(view.name, p->name, sizeof(view.name));
	*ret = view;
	return 0;
}

void fx_provider_view_release(struct fx_provider *view)
{
	fx_drain_destroy(&view->drain);
}
