/* SPDX-License-Identifier: MIT */
#include "engine/provider/chunk.h"

#include <errno.h>
#include <linux/futex.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "base/fault.h"
#include "base/syscall.h"

/* Of the buffer that the thread began in: a fork inside a handler may have brought another since. */
static uint64_t *chunk_table(const struct fx_thread *t)
{
	return (uint64_t *)((char *)t->header + fx_engine.layout.table_offset);
}

static uint64_t *provider_chunk_address(const struct fx_thread *t, uint32_t half, uint32_t index)
{
	return (uint64_t *)((char *)t->header + fx_engine.layout.rolling_offset[half] +
			    (uint64_t)index * fx_engine.layout.chunk_size);
}

static uint32_t provider_chunk_number(uint64_t serial)
{
	uint32_t n = fx_engine.layout.chunks_per_half;

	return (uint32_t)(serial / n % fx_engine.layout.halves * n + serial % n);
}

void fx_chunk_release(const struct fx_thread *t, struct fx_cursor *c)
{
	uint64_t *word, found;

	fx_store_relaxed(&c->end, NULL);
	fx_barrier();
	if (!c->chunk)
		return;
	FX_FAULT(chunk_release);
	word = &chunk_table(t)[provider_chunk_number(c->serial)];
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
	/* acquire: what was read of it before was its owner's. Pairs with the thread that gives it back. */
	return c->chunk && fx_load_acquire(&chunk_table(t)[provider_chunk_number(c->serial)]) ==
			       FX_CHUNK_WORD(c->serial, FX_CHUNK_HELD, 0);
}

void fx_chunk_give_back(const struct fx_thread *t, const struct fx_cursor *c)
{
	uint64_t held = FX_CHUNK_WORD(c->serial, FX_CHUNK_HELD, 0);
	uint32_t end = (uint32_t)((c->pos - c->chunk) * 8);

	/* Releases as fx_chunk_release() does. */
	fx_cas_acq_rel(&chunk_table(t)[provider_chunk_number(c->serial)], &held,
		       FX_CHUNK_WORD(c->serial, FX_CHUNK_RELEASED, end));
}

void fx_chunks_renew(struct fx_thread *t)
{
	for (unsigned i = 0; i < FX_LEVELS; i++) {
		struct fx_cursor *c = &t->cursor[i];

		if (!t->busy[i])
			fx_chunk_release(t, c);
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

/* The last turn and the last chunk that there is a number for. */
bool fx_chunk_is_worn(uint32_t wrap)
{
	return wrap == UINT32_MAX ||
	       ((uint64_t)wrap + 2) * fx_engine.layout.chunks_per_half > FX_CHUNK_SERIAL_MAX;
}

/* Says how many chunks of a half were claimed, which the state will not say any more. Of several threads that are about
 * to leave it at once, the one whose count is the true one has the largest, and says it before it switches. */
static void half_end_tell(const struct fx_thread *t, uint64_t state)
{
	uint64_t *word = &t->header->half_ended[state >> 32 & 1];
	uint64_t ended = state + (UINT64_C(1) << 32), found = fx_load_relaxed(word);

	/* Pairs with the reader, which loads rolling_state before. */
	while (found < ended && !fx_cas_acq_rel(word, &found, ended))
		;
}

/* Chunks that threads of the process got, ever, and when writing moved to another half. A hint. */
static uint64_t chunks_got, chunks_got_before;

uint64_t fx_chunks_got(void)
{
	return fx_load_relaxed(&chunks_got);
}

/*
 * Streaming: whether writing goes back to the chunks that were saved rather than on to those that nobody has touched
 * yet, each page of which costs a fault and leaves the cache. So what a process touches follows how far the manager is
 * behind, and not the size of the buffer. Chunks that were passed over do not count: threads that sleep may hold all at
 * the beginning of both halves.
 */
static bool half_is_enough(const struct fx_thread *t, uint64_t state)
{
	uint32_t enough = fx_load_relaxed(&fx_engine.page->half_enough),
		 wrap = (uint32_t)(state >> 32);

	return enough && (uint32_t)state >= enough &&
	       fx_load_relaxed(&chunks_got) - fx_load_relaxed(&chunks_got_before) >= enough &&
	       fx_load_relaxed(&fx_engine.page->wraps_saved) >= wrap &&
	       t->header == fx_engine.header;
}

/* Moves to the other half. false: it is not saved yet. */
static bool half_switch(const struct fx_thread *t, uint64_t state)
{
	uint32_t wrap = (uint32_t)(state >> 32);

	if (fx_engine.layout.halves == 1 || fx_chunk_is_worn(wrap))
		return false;
	/* acquire: what the manager saved may be overwritten from here. Pairs with its release. */
	if (fx_load_acquire(&fx_engine.page->wraps_saved) < wrap)
		return false;
	FX_FAULT(half_full);
	half_end_tell(t, state);
	if (fx_cas_acq_rel(&t->header->rolling_state, &state, (uint64_t)(wrap + 1) << 32)) {
		/* This thread alone switched. */
		fx_store_relaxed(&chunks_got_before, fx_load_relaxed(&chunks_got));
		request_save(t, wrap);
	}
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
			if (fx_chunk_is_worn(wrap))
				return -ENOSPC;
			fx_cas_acq_rel(&t->header->rolling_state, &state,
				       (uint64_t)(wrap + 1) << 32);
			continue;
		}
		word = &chunk_table(t)[provider_chunk_number(serial)];
		found = fx_load_acquire(word); /* pairs with the previous owner's release */
		FX_FAULT(chunk_claim);
		if (!fx_cas_acq_rel(&t->header->rolling_state, &state, state + 1) ||
		    (found & FX_CHUNK_HELD) || chunk_is_beyond(provider_chunk_number(serial)))
			continue;
		FX_FAULT(chunk_claimed);
		/* Pairs with the reader's second look at the word in drain.c. */
		if (fx_cas_acq_rel(word, &found, FX_CHUNK_WORD(serial, FX_CHUNK_OPENING, 0))) {
			FX_FAULT(chunk_overwrite);
			/* The word before the zeroes: a reader that has seen any of them sees it too. */
			__atomic_thread_fence(__ATOMIC_RELEASE);
			*ret_serial = serial;
			return found ? 0 : FX_CHUNK_FRESH;
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
		bool reusable, fresh;

		if (is_spent((uint64_t)wrap * l->chunks_per_half + next))
			return -ENOSPC;
		if (next >= l->chunks_per_half) {
			if (!half_switch(t, state))
				return -ENOSPC;
			continue;
		}
		if (half_is_enough(t, state) && half_switch(t, state))
			continue;
		/* Looked at before the claim: the manager changes saved[] of a half only when the next
		 * wrap has begun, and then goes by what saved[] said to tell claimed from skipped. */
		number = wrap % l->halves * l->chunks_per_half + next;
		reusable = chunk_is_reusable(t, number);
		/* relaxed: an owner that was ever before has put its word there before the half was left */
		fresh = !fx_load_relaxed(&chunk_table(t)[number]);
		FX_FAULT(chunk_claim);
		if (!fx_cas_acq_rel(&t->header->rolling_state, &state, state + 1))
			continue;
		FX_FAULT(chunk_claimed);
		/* And after it: a session with a smaller share may have begun between. Pairs with the fence
		 * in fx_drain_restart(). */
		if (reusable && !chunk_is_beyond(number)) {
			*ret_serial = (uint64_t)wrap * l->chunks_per_half + next;
			return fresh ? FX_CHUNK_FRESH : 0;
		}
	}
	return -ENOSPC;
}

int fx_chunk_claim(const struct fx_thread *t, uint64_t *ret_serial)
{
	int r = fx_engine.page->buffering_mode == FX_MODE_CIRCULAR
		    ? chunk_claim_oldest(t, ret_serial)
		    : chunk_claim_saved(t, ret_serial);

	if (r >= 0)
		fx_add_relaxed(&chunks_got, 1);
	return r;
}

/*
 * A page that is touched for the first time costs a fault, on a virtual machine many times what is written to it. One
 * call brings all of the chunk. A process that records but little does without: of its few chunks most pages are never
 * written.
 */
#define CHUNKS_SMALL 4u

static void chunk_populate(void *chunk)
{
	static uint32_t refused; /* an old kernel does not know how */

	/* relaxed: every thread that asks gets the same answer */
	if (fx_load_relaxed(&chunks_got) <= CHUNKS_SMALL || fx_load_relaxed(&refused) ||
	    !fx_engine_may(FX_ASK_PAGES))
		return;
	if (fx_syscall3(SYS_madvise, chunk, fx_engine.layout.chunk_size, MADV_POPULATE_WRITE) != 0)
		fx_store_relaxed(&refused, 1);
}

/*
 * A thread's chunks lie at equal distances as long as threads take them in turn, until the half ends: that jump is not learned. Farther
 * ones are taken by many threads, whose order nobody foresees.
 */
#define FORESEEN 8u

static uint64_t ahead_of(const struct fx_cursor *before, uint32_t number)
{
	uint32_t distance = number - provider_chunk_number(before->serial);

	return distance <= FORESEEN ? distance * (uint64_t)fx_engine.layout.chunk_size
				    : before->ahead;
}

void fx_chunk_open(struct fx_thread *t, struct fx_cursor *c, uint64_t serial, bool fresh,
		   uint64_t begins)
{
	uint32_t number = provider_chunk_number(serial), n = fx_engine.layout.chunks_per_half;
	uint64_t *p = provider_chunk_address(t, number / n, number % n);

	c->ahead = ahead_of(c, number);
	fx_store_relaxed(&c->serial, serial);
	fx_store_relaxed(&c->pos, p);
	fx_barrier();
	fx_store_relaxed(&c->chunk, p);
	/* Zero beyond the last record, always. An owner that has left a fresh chunk while it opened it, has written the Thread
	 * Record at most. Zeroing also brings the chunk into the cache. */
	if (fresh)
		chunk_populate(p);
	else
		memset(p, 0, fx_engine.layout.chunk_size);
	FX_FAULT(chunk_zeroed);
	p[1] = (uint64_t)fx_engine.pid;
	p[2] = t->tid;
	p[0] = 3ull | FX_CHUNK_HEAD_WORDS << 4 | FX_CHUNK_THREAD_INDEX << 16 | begins;
	fx_barrier();
	fx_store_relaxed(&c->pos, p + FX_CHUNK_HEAD_WORDS);
	FX_FAULT(chunk_opened);
	/* release: zeroes and Thread Record before the claim shows. Pairs with drain.c. */
	fx_store_release(&chunk_table(t)[number], FX_CHUNK_WORD(serial, FX_CHUNK_HELD, 0));
	fx_barrier();
	fx_store_relaxed(&c->end, p + fx_engine.layout.chunk_size / 8);
}
