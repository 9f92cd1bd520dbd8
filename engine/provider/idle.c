/* SPDX-License-Identifier: MIT */
#include "engine/provider/idle.h"

#include <linux/membarrier.h>

#include "base/fault.h"
#include "base/syscall.h"
#include "engine/provider/chunk.h"

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

/*
 * Which thread's chunk may be given back, and how much of it. A collector stores its number and closes the cursor (end = NULL),
 * has every thread pass a barrier, and then looks at the end, whose number stands there, the mark of a record under
 * way, and the position, in this order:
 *
 *	it finds		so, since its barrier,
 *	end is not NULL		the owner has another chunk, or was busy when it was to be closed: left alone
 *	another's number	that one closed it, perhaps after our barrier, which then proves nothing: left to it
 *	a record under way	it may have begun before the cursor was closed: left alone
 *	none of these		a record that began before our barrier is over, and the position has moved already;
 *				one that begins later finds the end NULL, and moves no position of this chunk
 *
 * An end that the owner itself has cleared needs no barrier: it sees what it did. And a cursor has a new chunk only
 * after the old one was given back, so what was read of two does no harm: the exchange finds the first one released.
 */

/* From here on, the thread takes its slow half at its next record. If it is in the middle of one, or
 * of taking another chunk, it gives its chunk back a little early, or this is forgotten. */
static void cursors_close(struct fx_thread *t, uint64_t collector)
{
	for (unsigned i = 0; i < FX_LEVELS; i++) {
		if (fx_load_relaxed(&t->busy[i]))
			continue;
		FX_FAULT(collect_idle);
		fx_store_relaxed(&t->closer[i], collector);
		/* release: a thread that finds it closed finds which one did it. Pairs with is_idle(), and with
		 * fx_record_reserve() by way of the barrier for all. */
		fx_store_release(&t->cursor[i].end, NULL);
	}
}

/* Whether nobody is writing into the cursor's chunk, nor will: the table above. Each of these looks comes after
 * the one before. */
static bool is_idle(const struct fx_thread *t, unsigned level, uint64_t collector,
		    struct fx_cursor *ret)
{
	const struct fx_cursor *c = &t->cursor[level];

	FX_FAULT(collect_cursor);
	ret->serial = fx_load_acquire(&c->serial); /* pairs with the stores of chunk_open() */
	if (fx_load_acquire(&c->end) || fx_load_acquire(&t->closer[level]) != collector ||
	    fx_load_acquire(&t->busy[level]) || !barrier_for_records())
		return false;
	FX_FAULT(collect_position);
	ret->chunk = fx_load_relaxed(&c->chunk);
	ret->pos = fx_load_relaxed(&c->pos);
	return ret->chunk;
}

void fx_chunks_collect(const struct fx_thread *self)
{
	static uint64_t collectors; /* a forked child goes on from there */
	uint64_t collector = fx_add_relaxed(&collectors, 1) + 1;
	uint32_t i = 0;

	for (struct fx_thread *t; (t = fx_thread_after(&i));) {
		if (t != self)
			cursors_close(t, collector);
	}
	FX_FAULT(collect_closed);
	if (!barrier_for_all())
		return;
	i = 0;
	for (struct fx_thread *t; (t = fx_thread_after(&i));) {
		for (unsigned level = 0; level < FX_LEVELS && t != self; level++) {
			struct fx_cursor c;

			if (is_idle(t, level, collector, &c))
				fx_chunk_give_back(t, &c);
		}
	}
}
