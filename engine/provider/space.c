/* SPDX-License-Identifier: MIT */
#include "engine/provider/space.h"

#include <errno.h>
#include <linux/futex.h>
#include <time.h>

#include "base/fault.h"
#include "base/syscall.h"
#include "engine/provider/chunk.h"
#include "engine/provider/idle.h"

static bool is_lossless(void)
{
	return fx_engine.page->on_full == FX_ON_FULL_BLOCK && fx_engine.layout.halves == 2;
}

struct patience {
	uint64_t claims, since_ns; /* when somebody got a chunk last */
	uint64_t begun_ns;	   /* when this thread began to wait; 0: unguarded alone is timed */
	uint32_t wrap, first_wrap; /* then, and when waiting began */
	long wait_ns;
};

/* How long to wait for space at a time: longer, time after time, so that a thousand threads that wait leave
 * the processors to threads that do something about it. One that the manager wakes looks at once. */
#define WAIT_MIN_NS 10000000
#define WAIT_MAX_NS 160000000

/* Lossless mode: waits until the manager has freed space. false: it never will. */
static bool space_wait(uint64_t state, struct patience *p)
{
	const struct fx_control *control = fx_control();
	const struct timespec period = {.tv_nsec = p->wait_ns};
	uint32_t seen = fx_load_acquire(&control->space_word);

	/* News are for when it goes on. */
	if (((fx_load_relaxed(&control->state) ^ state) & ~(uint64_t)FX_STATE_NEWS) ||
	    (fx_load_relaxed(&fx_common()->owner) & FX_OWNER_DIED))
		return false;
	fx_doorbell_ring();
	fx_syscall4(SYS_futex, &control->space_word, FUTEX_WAIT, seen, &period);
	if (p->wait_ns < WAIT_MAX_NS)
		p->wait_ns *= 2;
	return true;
}

/*
 * Lossless mode, after a turn through the buffer that found every chunk in somebody's hands: threads that do
 * not write need not have one. If all are in the middle of a record (a handler waits, say, that has
 * interrupted one), they may wait for the thread that waits here. After more turns and some seconds in which nobody
 * in the process got a chunk, waiting ends, for all, until a thread gets one again.
 */
#define IDLE_WRAPS  2u
#define STUCK_WRAPS 8u
#define STUCK_NS    UINT64_C(5000000000)

static uint64_t
    stuck; /* 1 + the chunks that threads had got when waiting was found to be of no use */

static bool is_stuck(const struct fx_thread *t, struct patience *p)
{
	uint64_t count = fx_chunks_got(), now = fx_boottime_ns();
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

/* Nothing marks the manager's death, and it has done nothing for so long that it may well be dead. Then no thread waits again
 * before it has freed space. */
static bool is_forsaken(struct patience *p)
{
	static uint64_t forsaken; /* which process it was, and what the manager had freed */
	uint64_t now, freed;

	if (!fx_load_relaxed(&fx_common()->unguarded))
		return false;
	freed = (uint64_t)fx_engine.pid << 32 | fx_load_relaxed(&fx_control()->space_word);
	if (fx_load_relaxed(&forsaken) == freed)
		return true;
	now = fx_boottime_ns();
	if (!p->begun_ns)
		p->begun_ns = now;
	if (now - p->begun_ns <= STUCK_NS)
		return false;
	fx_store_relaxed(&forsaken, freed);
	return true;
}

/* Why nobody is to wait for a chunk any longer; FX_LOSSES: there is no reason. */
static enum fx_loss refuse_to_wait(const struct fx_thread *t, struct patience *patience)
{
	uint64_t state = fx_load_relaxed(&t->header->rolling_state);

	if ((uint32_t)state >= fx_engine.layout.chunks_per_half &&
	    fx_chunk_is_worn((uint32_t)(state >> 32)))
		return FX_LOSS_WORN;
	if (!is_lossless())
		return FX_LOSS_FULL;
	if (!fx_engine_may(FX_ASK_WAIT))
		return FX_LOSS_UNWAITED;
	if (is_stuck(t, patience))
		return FX_LOSS_STUCK;
	if (is_forsaken(patience))
		return FX_LOSS_STUCK;
	collect_idle(t, patience);
	return space_wait(t->adopted, patience) ? FX_LOSSES : FX_LOSS_ENDED;
}

/* Claims a chunk, and waits for it in lossless mode. As fx_chunk_claim(). */
static int chunk_have(const struct fx_thread *t, uint64_t *ret_serial, enum fx_loss *ret_why)
{
	struct patience patience = {.wait_ns = WAIT_MIN_NS};
	int r;

	while ((r = fx_chunk_claim(t, ret_serial)) < 0) {
		if (reclaim_rarely() > 0)
			continue;
		*ret_why = refuse_to_wait(t, &patience);
		if (*ret_why != FX_LOSSES)
			return -ENOSPC;
	}
	return r;
}

int fx_chunk_next(struct fx_thread *t, unsigned level, unsigned words, enum fx_loss *ret_why)
{
	struct fx_cursor *c = &t->cursor[level];
	uint64_t serial, begins;
	int r;

	*ret_why = FX_LOSS_LARGE;
	if (words > fx_engine.layout.chunk_size / 8 - FX_CHUNK_HEAD_WORDS)
		return -ENOSPC;
	/* First back, then the next: the manager must never see this thread's later chunk and not
	 * know that the earlier one is complete. */
	fx_chunk_release(t, c);
	FX_FAULT(chunk_released);
	/* One chunk says it, and the earliest, also if a handler that interrupts takes one of its own. */
	begins = __atomic_exchange_n(&t->begins, 0, __ATOMIC_RELAXED);
	r = chunk_have(t, &serial, ret_why);
	if (r < 0) {
		t->begins |= begins;
		return -ENOSPC;
	}
	fx_chunk_open(t, c, serial, r == FX_CHUNK_FRESH, begins);
	return 0;
}
