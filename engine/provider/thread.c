/* SPDX-License-Identifier: MIT */
/* Threads: how one is adopted, and how it ends. Its slot is slot.c's, its children are fork.c's. */
#include <pthread.h>
#include <string.h>

#include "base/fault.h"
#include "base/syscall.h"
#include "engine/provider/chunk.h"
#include "engine/provider/engine.h"
#include "engine/provider/fork.h"
#include "engine/provider/frame.h"
#include "engine/provider/number.h"
#include "engine/provider/record.h"
#include "engine/provider/slot.h"
#include "engine/provider/stash.h"
#include "engine/provider/stack.h"
#include "engine/provider/wiped.h"

struct fx_thread fx_thread_off;

__thread struct fx_own fx_own = {.magic = FX_OWN_MAGIC, .thread = &fx_thread_off};

fx_cold bool fx_own_learn(void)
{
	const uint64_t here = fx_thread_pointer();

	/* A copy of another thread's has its place. */
	if (fx_own.magic == FX_OWN_MAGIC && fx_own.home == 0)
		fx_own.home = here;
	return fx_own.home == here;
}

/* The stack address of the adoption that is under way, 0 none: a handler that interrupts it there
 * records nothing. */
static __thread uint64_t adopting __attribute__((tls_model("initial-exec")));

static uint32_t depth_limit(void)
{
	uint32_t max = fx_engine.page->max_depth;

	return max && max < FX_FRAMES - 1 ? max : FX_FRAMES - 1;
}

static void thread_reset(struct fx_thread *t)
{
	struct fx_thread_slot *s = t->slot;

	/* What was recorded before this start may be forgotten chunk by chunk. */
	fx_chunks_renew(t);
	fx_slot_reset_frames(s);
	t->top = &s->frames[1];
	t->limit = t->top + depth_limit();
	t->scope = s->frames + FX_FRAMES; /* there is none */
	t->usual_limit = fx_engine.clock_kind == FX_CLOCK_COUNTER ? t->limit : NULL;
	t->min_duration = fx_engine.page->min_duration;
	t->stacks = (uint32_t)fx_engine.page->stack_categories;
	t->stack_duration = fx_engine.page->stack_duration;
	fx_thread_deepen(t, 0);
	fx_stash_reset(t);
	for (unsigned i = 0; i < FX_THREAD_TAKEN; i++)
		fx_store_relaxed(&t->taken[i], 0);
	fx_record_give_up(s);
}

/* A thread that has left its slot takes one again if its destructors trace. */
static __thread bool known __attribute__((tls_model("initial-exec")));

/* A record is lost that no slot can count. */
static void drop_unslotted(uint32_t categories, enum fx_loss why)
{
	if (categories & FX_LOOK_EXIT || !(fx_load_relaxed(&fx_control()->state) & categories))
		return;
	if (!fx_engine.wiped->attached) {
		fx_add_relaxed(&fx_engine.wiped->lost, 1); /* for fx_engine_attach() */
		return;
	}
	if (why != FX_LOSS_THREADS)
		fx_add_relaxed(&fx_engine.header->lost_unslotted[why], 1);
	fx_add_acq_rel(&fx_engine.header->dropped_unslotted, 1); /* as fx_record_drop() */
}

/* The process that the thread began with, whose number is its own; FX_PID_ANY: whichever it is in. 0: not known. */
static __thread int first_of __attribute__((tls_model("initial-exec")));

void fx_thread_is_first_of(int pid)
{
	first_of = pid;
}

static uint32_t thread_number(void)
{
	if (first_of && (first_of == fx_engine.pid || first_of == FX_PID_ANY))
		return (uint32_t)fx_engine.pid;
	return fx_engine_may(FX_ASK_SELF) ? (uint32_t)fx_gettid() : fx_number();
}

void (*fx_thread_began)(struct fx_thread *t);
void (*fx_thread_adopts)(void);

/* A slot for the calling thread; NULL, and why there is none. */
static struct fx_thread *thread_new(enum fx_loss *ret_why)
{
	struct fx_thread *t;
	uint32_t tid;
	int i;

	tid = thread_number();
	*ret_why = tid ? FX_LOSS_THREADS : FX_LOSS_CONFINED;
	if (!tid)
		return NULL;
	i = fx_slot_claim(tid);
	if (i < 0 && fx_threads_reclaim())
		i = fx_slot_claim(tid);
	if (i < 0)
		return NULL;
	FX_FAULT(slot_taken);
	t = &fx_engine.wiped->threads[i];
	t->state = t->adopted = 0;
	memset(t->busy, 0, sizeof t->busy);
	memset(t->cursor, 0, sizeof t->cursor);
	t->tid = tid;
	t->begins = known ? 0 : FX_THREAD_BEGINS;
	known = true;
	t->suspended = 0;
	t->header = fx_engine.header;
	fx_store_relaxed(&t->slot, fx_slot_at((uint32_t)i));
	fx_store_relaxed(&fx_engine.wiped->by_tid[tid % FX_TIDS], (uint16_t)(i + 1));
	fx_self = t;
	if (fx_thread_began)
		fx_thread_began(t);
	return t;
}

/* The first thread that notices a start says so. */
static void notice_epoch(uint64_t epoch)
{
	uint64_t seen = fx_load_relaxed(&fx_engine.header->epoch_started);

	while (seen < epoch) {
		if (fx_cas_acq_rel(&fx_engine.header->epoch_started, &seen, epoch)) {
			fx_packet_post(FX_PACKET_STARTED, 0, FX_FIFO_VERSION, epoch);
			return;
		}
	}
}

/* The first thread that notices a stop says so, if a thread has noticed the start. */
static void notice_stop(uint64_t epoch)
{
	struct fx_buffer_header *h = fx_engine.header;
	uint64_t seen = fx_load_relaxed(&h->epoch_stopped);

	if (fx_load_relaxed(&h->epoch_started) < epoch)
		return;
	while (seen < epoch) {
		if (fx_cas_acq_rel(&h->epoch_stopped, &seen, epoch)) {
			fx_packet_post(FX_PACKET_STOPPED, 0, 0, epoch);
			return;
		}
	}
}

/* A thread that has not heard since of a buffer that the process has got instead of its own: it has its place there no more. What
 * it is at may still look at that, which stays. */
static void leave_old_buffer(void)
{
	if (fx_self->slot && fx_self->header != fx_engine.header && fx_engine.wiped->attached)
		fx_self = &fx_thread_off;
}

static struct fx_thread *adopt(uint32_t categories)
{
	struct fx_thread *t = fx_self;
	uint64_t state;

	if (t->suspended)
		return NULL;
	leave_old_buffer();
	t = fx_self;
	if (fx_load_relaxed(&fx_common()->owner) & FX_OWNER_DIED) {
		fx_engine_detach();
		return NULL;
	}
	state = fx_load_acquire(&fx_control()->state); /* pairs with the manager's release */
	if ((uint32_t)state == FX_STATE_STOPPING) {
		if (fx_engine.wiped->attached)
			notice_stop(state >> 32);
		return NULL;
	}
	/* Wiped by the kernel: this is a forked child, however it was made. */
	if (!fx_engine.wiped->attached) {
		if (fx_fork_attach() != 0) {
			fx_engine_detach();
			return NULL;
		}
		state = fx_load_acquire(&fx_control()->state);
	}
	if (!(state & categories) || (uint32_t)state == FX_STATE_STOPPING)
		return NULL;
	t = fx_self;
	if (!t->slot) {
		enum fx_loss why;

		t = thread_new(&why);
		if (!t) {
			drop_unslotted(categories, why);
			return NULL;
		}
	}
	if (t->adopted >> 32 != state >> 32)
		thread_reset(t);
	if (fx_thread_adopts)
		fx_thread_adopts();
	notice_epoch(state >> 32);
	fx_thread_now(t); /* no event is from before the thread took part */
	t->adopted = state;
	t->state = fx_fork_hides_state() ? 0 : state;
	fx_barrier();
	if (!fx_engine.wiped->attached) {
		/* A handler forked in the middle of this: the child begins anew. */
		t->state = t->adopted = 0;
		t->slot = NULL;
		return NULL;
	}
	return t;
}

fx_cold struct fx_thread *fx_thread_adopt(uint32_t categories)
{
	uint64_t sp = fx_stack_address();
	struct fx_thread *t;

	if (fx_unlikely(!fx_is_own())) {
		drop_unslotted(categories, FX_LOSS_FOREIGN);
		return NULL;
	}
	fx_fork_wipe();
	if (!fx_fork_may_record()) {
		drop_unslotted(categories,
			       fx_engine_may(FX_ASK_SELF) ? FX_LOSS_FOREIGN : FX_LOSS_CONFINED);
		return NULL;
	}
	if (adopting && !fx_stack_was_left(adopting, sp)) {
		drop_unslotted(categories, FX_LOSS_ADOPTED);
		return NULL;
	}
	adopting = sp;
	fx_barrier();
	t = adopt(categories);
	fx_barrier();
	adopting = 0;
	return t;
}

void fx_thread_suspend(void)
{
	struct fx_thread *t;

	if (fx_engine_is_stranger() || !fx_self->state)
		return;
	t = fx_self;
	t->suspended = t->state;
	fx_barrier();
	t->state = 0;
}

void fx_thread_resume(void)
{
	struct fx_thread *t;

	if (fx_engine_is_stranger() || !fx_self->suspended)
		return;
	t = fx_self;
	t->state = t->suspended;
	fx_barrier();
	t->suspended = 0;
}

/* The name goes into the chunk: the slot may have another owner when the manager looks. */
static void record_name(struct fx_thread *t)
{
	/* Kernel Object Record, type 2 (thread), inline name, no arguments: the manager knows the
	 * process. */
	unsigned length = (unsigned)strnlen(t->slot->name, sizeof t->slot->name - 1);
	unsigned words = 2 + (length + 7) / 8;
	struct fx_reservation r;
	uint64_t *p;

	/* Without room it is left out and not counted: it is no event, and stands in the slot too. */
	if (!length || !fx_record_make_room(t, words))
		return;
	p = fx_record_reserve(t, words, &r);
	if (!p)
		return;
	p[1] = t->tid;
	memcpy(&p[2], t->slot->name, length);
	fx_record_commit(t, p,
			 7ull | (uint64_t)words << 4 | 2ull << 16 | (0x8000ull | length) << 24, &r);
}

void fx_thread_exit(void)
{
	struct fx_thread *t;

	if (fx_engine_is_stranger())
		return;
	t = fx_self;
	if (!t->slot || t->suspended || !fx_engine.wiped->attached)
		return;
	leave_old_buffer();
	if (fx_self != t)
		return;
	if (fx_thread_on(UINT32_MAX) == t) {
		fx_frame_unwind_above(t, &t->slot->frames[0], fx_stack_address());
		record_name(t);
	} else if (fx_self != t) {
		return;
	} else {
		fx_slot_reset_frames(t->slot); /* nothing is written after a stop */
	}
	fx_self = &fx_thread_off;
	fx_barrier();
	fx_chunks_release(t);
	FX_FAULT(slot_chunks);
	fx_slot_release(t);
}
