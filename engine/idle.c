/* SPDX-License-Identifier: MIT */
#include "engine/idle.h"

#include <linux/membarrier.h>

#include "base/syscall.h"
#include "engine/chunk.h"

/* Every other thread of the process has passed a barrier when this returns; false: it cannot be had. */
static bool barrier_for_all(void)
{
#ifdef FX_TSAN
	return false; /* ThreadSanitizer does not know of it */
#else
	long r = fx_syscall3(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0);

	if (r == 0)
		return true;
	r = fx_syscall3(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0);
	return r == 0 && fx_syscall3(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0) == 0;
#endif
}

/* On x86-64 the stores of a thread are seen in their order: a record that is over stands. */
static bool barrier_for_records(void)
{
#if defined(__x86_64__)
	return true;
#else
	return barrier_for_all();
#endif
}

/* From here on, the thread takes its slow half at its next record. If it is in the middle of one, or
 * of taking another chunk, it gives its chunk back a little early, or this is forgotten. */
static void cursors_close(struct fx_thread *t)
{
	for (unsigned i = 0; i < FX_LEVELS; i++) {
		/* Pairs with fx_record_reserve(), by way of the barrier for all. */
		if (!fx_load_relaxed(&t->busy[i]))
			fx_store_relaxed(&t->cursor[i].end, NULL);
	}
}

/*
 * Nobody is writing into the chunk if the cursor was closed, then a barrier was passed, and then the level is
 * not busy: whoever marks it as busy later finds it closed. A cursor has a new chunk only after the old one
 * was given back; so what was read of it belongs together if the chunk is still held when it is exchanged.
 */
static bool is_idle(const struct fx_thread *t, unsigned level, struct fx_cursor *ret)
{
	const struct fx_cursor *c = &t->cursor[level];

	ret->serial = fx_load_acquire(&c->serial); /* pairs with the stores of chunk_open() */
	ret->chunk = fx_load_relaxed(&c->chunk);
	ret->pos = fx_load_relaxed(&c->pos);
	ret->end = fx_load_relaxed(&c->end);
	return ret->chunk && !ret->end && !fx_load_relaxed(&t->busy[level]);
}

void fx_chunks_collect(const struct fx_thread *self)
{
	uint32_t i = 0;

	for (struct fx_thread *t; (t = fx_thread_after(&i));) {
		if (t != self)
			cursors_close(t);
	}
	if (!barrier_for_all())
		return;
	i = 0;
	for (struct fx_thread *t; (t = fx_thread_after(&i));) {
		for (unsigned level = 0; level < FX_LEVELS && t != self; level++) {
			struct fx_cursor c;

			if (is_idle(t, level, &c) && barrier_for_records())
				fx_chunk_give_back(t, &c);
		}
	}
}
