/* SPDX-License-Identifier: MIT */
#include "engine/chunk.h"

#include <errno.h>
#include <linux/futex.h>
#include <string.h>
#include <time.h>

#include "base/fault.h"
#include "base/syscall.h"
#include "engine/idle.h"
#include "engine/record.h"

#define THREAD_RECORD_WORDS 3u

/* Of the buffer that the thread began in: a fork inside a handler may have brought another since. */
static uint64_t *chunk_table(const struct fx_thread *t)
{
	return (uint64_t *)((char *)t->header + fx_engine.layout.table_offset);
}

static uint64_t *chunk_address(const struct fx_thread *t, uint32_t half, uint32_t index)
{
	return (uint64_t *)((char *)t->header + fx_engine.layout.rolling_offset[half] +
			    (uint64_t)index * fx_engine.layout.chunk_size);
}

static uint32_t chunk_number(uint64_t serial)
{
	uint32_t n = fx_engine.layout.chunks_per_half;

	return (uint32_t)(serial / n % fx_engine.layout.halves * n + serial % n);
}

static void chunk_release(const struct fx_thread *t, struct fx_cursor *c)
{
	uint64_t *word, found;

	fx_store_relaxed(&c->end, NULL);
	fx_barrier();
	if (!c->chunk)
		return;
	FX_FAULT(chunk_release);
	word = &chunk_table(t)[chunk_number(c->serial)];
	found = fx_load_relaxed(word);
	/* Once only: a handler that jumped out of here may have left a cursor whose chunk is given
	 * back, and another thread's by now. While the chunk is opened the word is still that of its
	 * owner before, or 0. The exchange releases: the chunk is complete. Pairs with the walk in
	 * drain.c. */
	if (FX_CHUNK_SERIAL(found) < c->serial ||
	    (FX_CHUNK_SERIAL(found) == c->serial &&
	     (found & FX_CHUNK_OPENING) != FX_CHUNK_RELEASED)) {
		uint32_t end = (uint32_t)((c->pos - c->chunk) * 8);

		fx_cas_acq_rel(word, &found, FX_CHUNK_WORD(c->serial, FX_CHUNK_RELEASED, end));
	}
	fx_barrier();
	fx_store_relaxed(&c->chunk, NULL);
}

bool fx_chunk_is_held(const struct fx_thread *t, const struct fx_cursor *c)
{
	/* acquire: what was read of it before was its owner's. Pairs with whoever gives it back. */
	return c->chunk && fx_load_acquire(&chunk_table(t)[chunk_number(c->serial)]) ==
			       FX_CHUNK_WORD(c->serial, FX_CHUNK_HELD, 0);
}

void fx_chunk_give_back(const struct fx_thread *t, const struct fx_cursor *c)
{
	uint64_t held = FX_CHUNK_WORD(c->serial, FX_CHUNK_HELD, 0);
	uint32_t end = (uint32_t)((c->pos - c->chunk) * 8);

	/* Releases as chunk_release() does. */
	fx_cas_acq_rel(&chunk_table(t)[chunk_number(c->serial)], &held,
		       FX_CHUNK_WORD(c->serial, FX_CHUNK_RELEASED, end));
}

void fx_chunks_release(struct fx_thread *t)
{
	for (unsigned i = 0; i < FX_LEVELS; i++) {
		if (t->busy[i]) /* the thread ended in the middle of it */
			fx_record_abandon(t, i);
		chunk_release(t, &t->cursor[i]);
	}
}

void fx_chunks_renew(struct fx_thread *t)
{
	for (unsigned i = 0; i < FX_LEVELS; i++) {
		struct fx_cursor *c = &t->cursor[i];

		if (!t->busy[i])
			chunk_release(t, c);
		else if (fx_load_relaxed(&c->end))
			fx_store_relaxed(&c->end, c->pos);
	}
}

static void request_save(const struct fx_thread *t, uint32_t wrap)
{
	if (t->header != fx_engine.header)
		return;
	FX_FAULT(half_switched);
	fx_packet_post(FX_PACKET_SAVE_BUFFER, 0, wrap, fx_load_relaxed(&t->header->durable_hint));
	FX_FAULT(half_posted);
	fx_doorbell_ring();
}

/* Moves to the other half. false: it is not saved yet. */
static bool half_switch(const struct fx_thread *t, uint64_t state)
{
	uint32_t wrap = (uint32_t)(state >> 32);

	if (fx_engine.layout.halves == 1)
		return false;
	/* acquire: what the manager saved may be overwritten from here. Pairs with its release. */
	if (fx_load_acquire(&fx_engine.page->wraps_saved) < wrap)
		return false;
	FX_FAULT(half_full);
	if (fx_cas_acq_rel(&t->header->rolling_state, &state, (uint64_t)(wrap + 1) << 32))
		request_save(t, wrap); /* this thread alone switched */
	return true;
}

static bool chunk_is_reusable(const struct fx_thread *t, uint32_t number)
{
	/* Both acquire: the previous owner's writes and the manager's reads are over. */
	return fx_load_acquire(&chunk_table(t)[number]) ==
	       fx_load_acquire(&fx_engine.page->saved[number]);
}

/* Whether the session does without the chunk: it has asked for less than was reserved. */
static bool chunk_is_beyond(uint32_t number)
{
	return fx_load_acquire(&fx_engine.page->saved[number]) == FX_SAVED_BEYOND;
}

/*
 * Circular mode: claims the oldest chunk that no thread holds, saved or not. It is ours when its word is
 * exchanged: a thread that was stopped between claim and exchange for a whole turn finds it changed.
 */
static int chunk_claim_oldest(const struct fx_thread *t, uint64_t *ret_serial)
{
	const struct fx_layout *l = &fx_engine.layout;
	uint32_t budget = 2 * l->halves * l->chunks_per_half + 2;

	while (budget--) {
		uint64_t state = fx_load_acquire(&t->header->rolling_state);
		uint32_t wrap = (uint32_t)(state >> 32), next = (uint32_t)state;
		uint64_t serial = (uint64_t)wrap * l->chunks_per_half + next, *word, found;

		if (next >= l->chunks_per_half) {
			fx_cas_acq_rel(&t->header->rolling_state, &state,
				       (uint64_t)(wrap + 1) << 32);
			continue;
		}
		word = &chunk_table(t)[chunk_number(serial)];
		found = fx_load_acquire(word); /* pairs with the previous owner's release */
		if (!fx_cas_acq_rel(&t->header->rolling_state, &state, state + 1) ||
		    (found & FX_CHUNK_HELD) || chunk_is_beyond(chunk_number(serial)))
			continue;
		/* Pairs with the reader's second look at the word in drain.c. */
		if (fx_cas_acq_rel(word, &found, FX_CHUNK_WORD(serial, FX_CHUNK_OPENING, 0))) {
			FX_FAULT(chunk_overwrite);
			/* The word before the zeroes: a reader that has seen any of them sees it too. */
			__atomic_thread_fence(__ATOMIC_RELEASE);
			*ret_serial = serial;
			return 0;
		}
	}
	return -ENOSPC;
}

/* Whether a oneshot session has had all the chunks that it gets. */
static bool is_spent(uint64_t serial)
{
	uint64_t limit = fx_load_relaxed(&fx_engine.page->serial_limit);

	return limit && serial >= limit;
}

/* Claims the next reusable chunk. 0 and its serial, or -ENOSPC. */
static int chunk_claim_saved(const struct fx_thread *t, uint64_t *ret_serial)
{
	const struct fx_layout *l = &fx_engine.layout;
	/* Give up when a full turn found nothing but held chunks. */
	uint32_t budget = 2 * l->halves * l->chunks_per_half + 2;

	while (budget--) {
		uint64_t state = fx_load_acquire(&t->header->rolling_state);
		uint32_t wrap = (uint32_t)(state >> 32), next = (uint32_t)state, number;
		bool reusable;

		if (is_spent((uint64_t)wrap * l->chunks_per_half + next))
			return -ENOSPC;
		if (next >= l->chunks_per_half) {
			if (!half_switch(t, state))
				return -ENOSPC;
			continue;
		}
		/* Looked at before the claim: the manager changes saved[] of a half only when the next
		 * wrap has begun, and then goes by what saved[] said to tell claimed from skipped. */
		number = wrap % l->halves * l->chunks_per_half + next;
		reusable = chunk_is_reusable(t, number);
		FX_FAULT(chunk_claim);
		if (!fx_cas_acq_rel(&t->header->rolling_state, &state, state + 1))
			continue;
		FX_FAULT(chunk_claimed);
		/* And after it: a session with a smaller share may have begun between. Pairs with the fence
		 * in fx_drain_restart(). */
		if (reusable && !chunk_is_beyond(number)) {
			*ret_serial = (uint64_t)wrap * l->chunks_per_half + next;
			return 0;
		}
	}
	return -ENOSPC;
}

static int chunk_claim(const struct fx_thread *t, uint64_t *ret_serial)
{
	if (fx_engine.page->buffering_mode == FX_MODE_CIRCULAR)
		return chunk_claim_oldest(t, ret_serial);
	return chunk_claim_saved(t, ret_serial);
}

static void chunk_open(struct fx_thread *t, struct fx_cursor *c, uint64_t serial)
{
	uint32_t number = chunk_number(serial), n = fx_engine.layout.chunks_per_half;
	uint64_t *p = chunk_address(t, number / n, number % n);

	fx_store_relaxed(&c->serial, serial);
	fx_store_relaxed(&c->pos, p);
	fx_barrier();
	fx_store_relaxed(&c->chunk, p);
	/* Zero beyond the last record, always; it also brings the chunk into the cache. */
	memset(p, 0, fx_engine.layout.chunk_size);
	FX_FAULT(chunk_zeroed);
	p[1] = (uint64_t)fx_engine.pid;
	p[2] = t->tid;
	p[0] = 3ull | THREAD_RECORD_WORDS << 4 | FX_CHUNK_THREAD_INDEX << 16;
	fx_barrier();
	fx_store_relaxed(&c->pos, p + THREAD_RECORD_WORDS);
	FX_FAULT(chunk_opened);
	/* release: zeroes and Thread Record before the claim shows. Pairs with drain.c. */
	fx_store_release(&chunk_table(t)[number], FX_CHUNK_WORD(serial, FX_CHUNK_HELD, 0));
	fx_barrier();
	fx_store_relaxed(&c->end, p + fx_engine.layout.chunk_size / 8);
}

static bool is_lossless(void)
{
	return fx_engine.page->on_full == FX_ON_FULL_BLOCK && fx_engine.layout.halves == 2 &&
	       !fx_engine.confined;
}

struct patience {
	uint64_t claims, since_ns; /* when somebody got a chunk last */
	uint32_t wrap, first_wrap; /* then, and when waiting began */
	long wait_ns;
};

/* How long to wait for space at a time: longer, time after time, so that a thousand threads that wait leave
 * the processors to those who do something about it. Whom the manager wakes looks at once. */
#define WAIT_MIN_NS 10000000
#define WAIT_MAX_NS 160000000

/* Lossless mode: waits until the manager has freed space. false: it never will. */
static bool space_wait(uint64_t state, struct patience *p)
{
	const struct fx_control *control = fx_control();
	const struct timespec period = {.tv_nsec = p->wait_ns};
	uint32_t seen = fx_load_acquire(&control->space_word);

	if (fx_load_relaxed(&control->state) != state ||
	    (fx_load_relaxed(&fx_common()->owner) & FX_OWNER_DIED))
		return false;
	fx_doorbell_ring();
	fx_syscall4(SYS_futex, &control->space_word, FUTEX_WAIT, seen, &period);
	if (p->wait_ns < WAIT_MAX_NS)
		p->wait_ns *= 2;
	return true;
}

/*
 * Lossless mode, after a turn through the buffer that found every chunk in somebody's hands: those who do
 * not write need not have one. If all are in the middle of a record (a handler waits, say, that has
 * interrupted one), they may wait for whoever waits here. After more turns and some seconds in which nobody
 * in the process got a chunk, waiting ends, for all, until someone gets one again.
 */
#define IDLE_WRAPS  2u
#define STUCK_WRAPS 8u
#define STUCK_NS    UINT64_C(5000000000)

static uint64_t claims; /* chunks that threads got */
static uint64_t stuck;	/* 1 + claims when waiting was found to be of no use */

static bool is_stuck(const struct fx_thread *t, struct patience *p)
{
	uint64_t count = fx_load_relaxed(&claims), now = fx_boottime_ns();
	uint32_t wrap = (uint32_t)(fx_load_relaxed(&t->header->rolling_state) >> 32);

	if (fx_load_relaxed(&stuck) == count + 1)
		return true;
	if (!p->since_ns)
		p->first_wrap = wrap;
	if (!p->since_ns || p->claims != count) {
		p->claims = count;
		p->since_ns = now;
		p->wrap = wrap;
	}
	if (wrap - p->wrap < STUCK_WRAPS || now - p->since_ns < STUCK_NS)
		return false;
	fx_store_relaxed(&stuck, count + 1);
	return true;
}

static void collect_idle(const struct fx_thread *t, const struct patience *p)
{
	static uint64_t last; /* wrap in which it was done */
	uint64_t wrap = fx_load_relaxed(&t->header->rolling_state) >> 32;
	uint64_t before = fx_load_relaxed(&last);

	/* Once a turn is enough. A forked child has a count of its own. */
	if ((uint32_t)wrap - p->first_wrap < IDLE_WRAPS || wrap - before < IDLE_WRAPS ||
	    !fx_cas_acq_rel(&last, &before, wrap))
		return;
	fx_chunks_collect(t);
}

/* Chunks of threads that ended unseen would be held for ever. Looked for at most every 2^28 ticks
 * (about 0.1 s) of a full buffer, since each living thread costs a system call. */
static unsigned reclaim_rarely(void)
{
	static uint64_t last;
	uint64_t now = fx_now(), before = fx_load_relaxed(&last);

	if (now - before < (1u << 28) || !fx_cas_acq_rel(&last, &before, now))
		return 0;
	return fx_threads_reclaim();
}

int fx_chunk_next(struct fx_thread *t, unsigned level, unsigned words)
{
	struct fx_cursor *c = &t->cursor[level];
	struct patience patience = {.wait_ns = WAIT_MIN_NS};
	uint64_t serial;

	if (words > fx_engine.layout.chunk_size / 8 - THREAD_RECORD_WORDS)
		return -ENOSPC;
	/* First back, then the next: the manager must never see this thread's later chunk and not
	 * know that the earlier one is complete. */
	chunk_release(t, c);
	FX_FAULT(chunk_released);
	while (chunk_claim(t, &serial) != 0) {
		if (reclaim_rarely() > 0)
			continue;
		if (!is_lossless() || is_stuck(t, &patience))
			return -ENOSPC;
		collect_idle(t, &patience);
		if (!space_wait(t->adopted, &patience))
			return -ENOSPC;
	}
	fx_add_relaxed(&claims, 1);
	chunk_open(t, c, serial);
	return 0;
}
