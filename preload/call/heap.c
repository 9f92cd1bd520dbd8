/* SPDX-License-Identifier: MIT */
#include "preload/call/heap.h"

#include "preload/call/call.h"
#include "preload/host/real.h"

#define BYTES_LIMIT  16384
#define BLOCKS_LIMIT 256

__thread struct fx_heap_share fx_heap_share = {.bytes_limit = BYTES_LIMIT,
					       .blocks_limit = BLOCKS_LIMIT};

/* Nobody else counts: the process begins. */
bool fx_heap_find_real(void)
{
	struct fx_heap_share before;
	bool found;

	if (!fx_real_can_begin()) /* nor is it known yet where this thread's share is */
		return false;
	before = fx_heap_share;
	fx_heap_share.bytes_limit = fx_heap_share.blocks_limit = INT64_MAX / 4;
	found = fx_real_init();
	fx_heap_share = before;
	return found;
}

/* What all threads have handed on. A forked child inherits the sum, as it inherits the heap. */
static struct fx_heap_sum sum;

/* A Counter record: header, time, the arguments, the counter's id. */
static void counter_write(struct fx_thread *t, const struct fx_heap_sum *value)
{
	uint64_t words[2 + FX_WORDS_long + FX_WORDS_long + 1];
	struct fx_call args = {.record = words, .next = words + 2};
	unsigned count;

	words[1] = fx_thread_now(t);
	fx_arg_long(&args, FX_STR_bytes, value->bytes);
	fx_arg_long(&args, FX_STR_blocks, value->blocks);
	*args.next++ = 0;
	count = (unsigned)(args.next - words);
	fx_words_write(
	    t, words, count,
	    FX_EVENT_HEADER(FX_EVENT_COUNTER, count, args.nargs, FX_STR_heap, FX_STR_heap));
}

/* The sum as the manager sees it. The thread that stores last has seen that it is the newest: a thread that was slower finds
 * another sum, and tells that. */
static void sum_tell(struct fx_buffer_header *header)
{
	int64_t bytes, blocks;

	do {
		bytes = fx_load_relaxed(&sum.bytes);
		blocks = fx_load_relaxed(&sum.blocks);
		fx_store_relaxed(&header->heap_bytes, bytes);
		fx_store_relaxed(&header->heap_blocks, blocks);
		__atomic_thread_fence(__ATOMIC_SEQ_CST); /* pairs with itself in the other thread */
	} while (fx_load_relaxed(&sum.bytes) != bytes || fx_load_relaxed(&sum.blocks) != blocks);
}

static void share_tell(const struct fx_thread *t)
{
	struct fx_thread_slot *slot = fx_load_relaxed(&t->slot);

	if (slot) {
		fx_store_relaxed(&slot->heap_bytes, fx_heap_share.bytes);
		fx_store_relaxed(&slot->heap_blocks, fx_heap_share.blocks);
	}
}

/* Adds the shares of all threads, or of all but one. */
static void shares_add(struct fx_heap_sum *ret, const struct fx_thread_slot *without)
{
	const struct fx_thread_slot *slot;
	uint32_t i = 0;

	while ((slot = fx_slot_after(&i))) {
		if (slot == without)
			continue;
		ret->bytes += fx_load_relaxed(&slot->heap_bytes);
		ret->blocks += fx_load_relaxed(&slot->heap_blocks);
	}
}

/* Where a look at all threads costs more than what is counted between two of them, it is taken more rarely. */
#define FEW_THREADS 32u
#define RARELY_NS   500000u

static bool is_time_to_look(void)
{
	static uint64_t next;
	uint64_t now, before;

	if (fx_load_relaxed(&fx_engine.header->threads_used) <= FEW_THREADS)
		return true;
	now = fx_now();
	before = fx_load_relaxed(&next);
	return now >= before &&
	       fx_cas_acq_rel(&next, &before, now + RARELY_NS * fx_engine.tick_step);
}

/* All of the heap: what one thread has freed of another's is not shown alone. */
static void heap_show(struct fx_thread *t)
{
	struct fx_heap_sum all;

	if (!is_time_to_look())
		return;
	all.bytes = fx_load_relaxed(&sum.bytes);
	all.blocks = fx_load_relaxed(&sum.blocks);
	shares_add(&all, NULL);
	/* While others count, it can come out as what cannot be. */
	if (all.bytes >= 0 && all.blocks >= 0)
		counter_write(t, &all);
}

fx_cold void fx_heap_flush(void)
{
	struct fx_heap_share *s = &fx_heap_share;
	int64_t bytes = s->bytes, blocks = s->blocks;
	struct fx_thread *t;

	/* A handler that interrupts between two lines hands its own share on. */
	s->bytes -= bytes;
	s->blocks -= blocks;
	share_tell(fx_self);
	/* relaxed: sums */
	__atomic_fetch_add(&sum.bytes, bytes, __ATOMIC_RELAXED);
	__atomic_fetch_add(&sum.blocks, blocks, __ATOMIC_RELAXED);
	if (fx_engine.wiped && fx_engine.wiped->attached)
		sum_tell(fx_engine.header);
	/* A thread that has ended, but for its destructors, is to show nothing more. */
	if (!s->bytes_limit)
		return;
	s->bytes_limit = BYTES_LIMIT;
	t = fx_thread_on(FX_CAT_HEAP);
	if (t)
		heap_show(t);
}

fx_cold void fx_heap_count_elsewhere(int64_t bytes, int64_t blocks)
{
	if (fx_own_learn()) {
		fx_heap_count(bytes, blocks);
		return;
	}
	__atomic_fetch_add(&sum.bytes, bytes, __ATOMIC_RELAXED); /* relaxed: as above */
	__atomic_fetch_add(&sum.blocks, blocks, __ATOMIC_RELAXED);
}

/* The process's first thread shows at its next allocation what there is by then, and not only when 16 KiB more have come. */
void fx_heap_thread_began(struct fx_thread *t)
{
	sum_tell(t->header);
	share_tell(t);
	if (t->tid == (uint32_t)fx_engine.pid && fx_heap_share.bytes_limit)
		fx_heap_share.bytes_limit = 1;
}

void fx_heap_thread_exit(void)
{
	if (fx_heap_share.bytes || fx_heap_share.blocks)
		fx_heap_flush();
	fx_heap_share.bytes_limit = 0;
	fx_heap_share.blocks_limit = 0;
}

void fx_heap_before_fork(struct fx_heap_sum *ret)
{
	*ret = (struct fx_heap_sum){0};
	if (fx_engine.wiped && fx_engine.wiped->attached && fx_is_own())
		shares_add(ret, fx_self->slot);
}

void fx_heap_after_fork(const struct fx_heap_sum *others)
{
	__atomic_fetch_add(&sum.bytes, others->bytes, __ATOMIC_RELAXED);
	__atomic_fetch_add(&sum.blocks, others->blocks, __ATOMIC_RELAXED);
}
