/* SPDX-License-Identifier: MIT */
#include "preload/heap.h"

#include "preload/call.h"

__thread struct fx_heap_share fx_heap_share = {.bytes_limit = 16384, .blocks_limit = 256};

/* What all threads have handed on. A forked child inherits the sum, as it inherits the heap. */
static int64_t heap_bytes, heap_blocks;

/* A Counter record: header, time, the arguments, the counter's id. */
static void counter_write(struct fx_thread *t, int64_t bytes, int64_t blocks)
{
	uint64_t words[2 + FX_WORDS_long + FX_WORDS_long + 1];
	struct fx_call args = {.record = words, .next = words + 2};
	unsigned count;

	words[1] = fx_thread_now(t);
	fx_arg_long(&args, FX_STR_bytes, bytes);
	fx_arg_long(&args, FX_STR_blocks, blocks);
	*args.next++ = 0;
	count = (unsigned)(args.next - words);
	fx_words_write(
	    t, words, count,
	    FX_EVENT_HEADER(FX_EVENT_COUNTER, count, args.nargs, FX_STR_heap, FX_STR_heap));
}

fx_cold void fx_heap_flush(void)
{
	struct fx_heap_share *s = &fx_heap_share;
	/* relaxed: sums; a handler that interrupts between two lines hands its own share on */
	int64_t bytes = __atomic_add_fetch(&heap_bytes, s->bytes, __ATOMIC_RELAXED);
	int64_t blocks = __atomic_add_fetch(&heap_blocks, s->blocks, __ATOMIC_RELAXED);
	struct fx_thread *t;

	s->bytes = 0;
	s->blocks = 0;
	/* A thread that has ended, but for its destructors, is to show nothing more. */
	if (!s->bytes_limit)
		return;
	t = fx_thread_on(FX_CAT_HEAP);
	if (!t)
		return;
	fx_store_relaxed(&fx_engine.header->heap_bytes, bytes);
	fx_store_relaxed(&fx_engine.header->heap_blocks, blocks);
	counter_write(t, bytes, blocks);
}

void fx_heap_thread_exit(void)
{
	if (fx_heap_share.bytes || fx_heap_share.blocks)
		fx_heap_flush();
	fx_heap_share.bytes_limit = 0;
	fx_heap_share.blocks_limit = 0;
}
