/* SPDX-License-Identifier: MIT */
/* Threads: adoption, slots, the end of a thread, and what a vfork child must not do. */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>

#include "base/fault.h"
#include "base/handle.h"
#include "base/syscall.h"
#include "engine/provider/chunk.h"
#include "engine/provider/engine.h"
#include "engine/provider/frame.h"
#include "engine/provider/number.h"
#include "engine/provider/record.h"
#include "engine/provider/stack.h"
#include "engine/provider/wiped.h"

static struct fx_thread thread_off;

__thread struct fx_own fx_own = {.magic = FX_OWN_MAGIC, .thread = &thread_off};

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

static struct fx_thread_slot *thread_slot_at(uint32_t i)
{
	char *base = (char *)fx_engine.header + fx_engine.layout.threads_offset;

	return (struct fx_thread_slot *)base + i;
}

static void slot_reset_frames(struct fx_thread_slot *s)
{
	/* The previous owner closed its frames; a thread that ended without a word did not. */
	for (uint32_t i = 1; i < FX_FRAMES && s->frames[i].start; i++)
		fx_store_relaxed(&s->frames[i].start, 0);
	s->frames[0].id = 0;
	s->frames[0].sp = UINT64_MAX;
	s->frames[0].start = 1;
}

static void slot_take(uint32_t i, uint32_t tid)
{
	struct fx_thread_slot *s = thread_slot_at(i);

	slot_reset_frames(s);
	fx_record_give_up(s); /* its owner may have ended without a word */
	fx_store_relaxed(&s->heap_bytes, 0);
	fx_store_relaxed(&s->heap_blocks, 0);
	memset(s->name, 0, sizeof s->name);
	if (fx_engine_may(FX_ASK_SELF)) /* without one it has its process's, as most have */
		fx_syscall2(SYS_prctl, PR_GET_NAME, s->name);
	s->pthread = fx_thread_handle();
	s->incarnation++;
	fx_store_relaxed(&s->last_tid, tid);
	fx_store_release(&s->tid, tid); /* pairs with the slot walk in drain.c */
}

/* Slots that were ever taken: no walk looks at others, for a look at a page takes memory. */
static uint32_t slots_used(void)
{
	return (uint32_t)fx_load_acquire(&fx_engine.header->threads_used);
}

static void slots_use(uint32_t count)
{
	uint64_t used = fx_load_relaxed(&fx_engine.header->threads_used);

	while (used < count && !fx_cas_acq_rel(&fx_engine.header->threads_used, &used, count))
		;
}

/* Whether the fx_thread of slot `i` is still that of the thread that forked. Readers take the slots up to
 * the first that was never used, so it must look used. */
static bool is_left(uint32_t i)
{
	if (fx_engine.wiped->left != i + 1)
		return false;
	if (!fx_load_relaxed(&thread_slot_at(i)->incarnation))
		fx_store_relaxed(&thread_slot_at(i)->incarnation, 1);
	return true;
}

/* Claims the first free slot for `tid`; not the one whose fx_thread a fork left to what it interrupted.
 * With `clean`, only one whose owners lost nothing. -EAGAIN if there is none. */
static int slot_claim_first(uint32_t tid, bool clean)
{
	for (uint32_t i = 0; i < fx_engine.layout.thread_count; i++) {
		uint32_t free = 0;

		if (is_left(i) || (clean && fx_load_relaxed(&thread_slot_at(i)->dropped)))
			continue;
		/* UINT32_MAX: taken, not yet to be read. Pairs with slot_take's release. */
		if (fx_load_relaxed(&thread_slot_at(i)->tid) == 0 &&
		    fx_cas_acq_rel(&thread_slot_at(i)->tid, &free, UINT32_MAX)) {
			FX_FAULT(slot_claimed);
			slots_use(i + 1);
			slot_take(i, tid);
			return (int)i;
		}
	}
	return -EAGAIN;
}

/* The manager may not have looked at a thread's losses when it ends: its slot is the last to be used
 * again, so that they are not taken for another's. */
static int slot_claim(uint32_t tid)
{
	int i = slot_claim_first(tid, true);

	return i < 0 ? slot_claim_first(tid, false) : i;
}

static void slot_release(struct fx_thread *t)
{
	struct fx_thread_slot *s = t->slot;

	/* Wiped: a handler has forked in the middle of this. */
	if (!s)
		return;
	t->state = t->adopted = 0;
	fx_store_relaxed(&t->slot, NULL);
	fx_record_give_up(s);
	FX_FAULT(slot_release);
	fx_store_release(&s->tid, 0);
}

static bool thread_is_gone(uint32_t tid)
{
	return fx_syscall3(SYS_tgkill, fx_engine.pid, tid, 0) == -ESRCH;
}

struct fx_thread *fx_thread_after(uint32_t *i)
{
	while (*i < slots_used()) {
		uint32_t at = (*i)++, tid = fx_load_acquire(&thread_slot_at(at)->tid);
		struct fx_thread *t = &fx_engine.wiped->threads[at];

		/* One that a fork has left has a slot no more. */
		if (tid != 0 && tid != UINT32_MAX && fx_load_relaxed(&t->slot))
			return t;
	}
	return NULL;
}

unsigned fx_threads_reclaim(void)
{
	unsigned freed = 0;

	if (!fx_engine_may(FX_ASK_SELF))
		return 0;
	for (uint32_t i = 0; i < slots_used(); i++) {
		struct fx_thread *t = &fx_engine.wiped->threads[i];
		uint32_t tid;

		tid = fx_load_acquire(&thread_slot_at(i)->tid);
		if (tid == 0 || tid == UINT32_MAX || !fx_load_relaxed(&t->slot) ||
		    !thread_is_gone(tid))
			continue;
		fx_happens_after(t); /* all that the thread did: so the kernel's answer says */
		/* Two reclaimers must not both give it back. */
		if (!fx_cas_acq_rel(&thread_slot_at(i)->tid, &tid, UINT32_MAX))
			continue;
		fx_chunks_release(t);
		slot_release(t);
		freed++;
	}
	return freed;
}

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
	slot_reset_frames(s);
	t->top = &s->frames[1];
	t->limit = t->top + depth_limit();
	t->usual_limit = fx_engine.clock_kind == FX_CLOCK_COUNTER ? t->limit : NULL;
	t->min_duration = fx_engine.page->min_duration;
	t->stacks = (uint32_t)fx_engine.page->stack_categories;
	t->stack_duration = fx_engine.page->stack_duration;
	fx_thread_deepen(t, 0);
	fx_record_give_up(s);
}

/* A thread that has left its slot takes one again if its destructors trace. */
static __thread bool known __attribute__((tls_model("initial-exec")));

/* A record is lost that no slot can count. */
static void drop_unslotted(uint32_t categories, enum fx_loss why)
{
	if (categories & FX_LOOK_EXIT)
		return;
	if (!fx_engine.wiped->attached) {
		fx_add_relaxed(&fx_engine.wiped->lost, 1); /* for fx_engine_attach() */
		return;
	}
	if (why != FX_LOSS_THREADS)
		fx_add_relaxed(&fx_engine.header->lost_unslotted[why], 1);
	fx_add_acq_rel(&fx_engine.header->dropped_unslotted, 1); /* as fx_record_drop() */
}

void (*fx_thread_began)(struct fx_thread *t);

/* A slot for the calling thread; NULL, and why there is none. */
static struct fx_thread *thread_new(enum fx_loss *ret_why)
{
	struct fx_thread *t;
	uint32_t tid;
	int i;

	tid = fx_engine_may(FX_ASK_SELF) ? (uint32_t)fx_gettid() : fx_number();
	*ret_why = tid ? FX_LOSS_THREADS : FX_LOSS_CONFINED;
	if (!tid)
		return NULL;
	i = slot_claim(tid);
	if (i < 0 && fx_threads_reclaim())
		i = slot_claim(tid);
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
	fx_store_relaxed(&t->slot, thread_slot_at((uint32_t)i));
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

/* What a child must keep of its parent's slot: the calls that a hook, interrupted by the fork, may
 * still look at. Owned by the one thread that a child begins with. */
static struct fx_frame frames_kept[FX_FRAMES];

/*
 * In a child: puts private memory where the parent's buffer is. What the fork interrupted may write
 * there as before; `before` is the state of the thread that forked, if known.
 */
static void buffer_disown(const struct fx_fork *before)
{
	static void *left;
	static uint64_t left_size;
	struct fx_frame *frames = NULL;
	void *buffer = fx_engine.header;
	uint64_t size = fx_engine.layout.total_size;
	size_t kept = 0;

	/* Confined, it makes no system call: what was interrupted writes what its parent's does, to the same place. */
	if (fx_engine.wiped->disowned || !fx_engine_may(FX_ASK_FOLLOW))
		return;
	fx_engine.wiped->disowned = 1;
	if (before && before->thread.slot) {
		frames = before->thread.slot->frames;
		if (before->thread.top > frames && before->thread.top <= frames + FX_FRAMES)
			kept = (size_t)(before->thread.top - frames) * sizeof *frames;
		memcpy(frames_kept, frames, kept);
	}
	if (left && left != buffer)
		fx_syscall2(SYS_munmap, left, left_size);
	left = buffer;
	left_size = size;
	fx_syscall6(SYS_mmap, (long)buffer, (long)size, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
	if (kept)
		memcpy(frames, frames_kept, kept);
}

/* Confined, the parent's buffer is still there, which the child may not leave: it is one more in it. Whoever it has
 * itself is counted there too. */
static void leave_unfollowed(void)
{
	if (fx_engine.reattach)
		fx_add_relaxed(&fx_engine.header->unfollowed, 1);
	fx_engine_detach();
}

static int attach_child(void)
{
	if (!fx_engine_may(FX_ASK_FOLLOW)) {
		leave_unfollowed();
		return -EPERM;
	}
	buffer_disown(NULL);
	FX_FAULT(fork_disowned);
	return fx_engine.reattach ? fx_engine.reattach() : -ENOSYS;
}

/* What makes children is under way, and the kernel does not wipe their memory (wiped.h). */
static __thread bool guarded __attribute__((tls_model("initial-exec")));

/* In a child whose memory has stayed as it was. */
static void wipe_by_hand(void)
{
	if (!guarded || fx_getpid() == fx_engine.pid)
		return;
	guarded = false;
	fx_wiped_wipe();
}

void fx_engine_before_fork(struct fx_fork *ret)
{
	ret->by_guest = fx_engine_is_stranger();
	if (!ret->by_guest)
		ret->thread = *fx_self;
	ret->guarded = fx_fork_guard();
}

void fx_engine_after_fork(const struct fx_fork *before)
{
	struct fx_thread *t;

	/* A guest's child is on the guest's storage. */
	if (before->by_guest)
		return;
	fx_engine_guests_forget();
	wipe_by_hand();
	if (!fx_engine.wiped || fx_engine.wiped->attached)
		return;
	t = fx_self;
	buffer_disown(before);
	if (t != &thread_off) {
		/* Left to what was interrupted; slot_claim() gives another. */
		*t = before->thread;
		t->state = t->adopted = 0;
		fx_engine.wiped->left = (uint64_t)(t - fx_engine.wiped->threads) + 1;
		fx_self = &thread_off;
	}
	/* One look is enough: a thread without state adopts, and adoption attaches. */
	if (fx_engine_may(FX_ASK_FOLLOW))
		fx_thread_on(UINT32_MAX);
	else
		leave_unfollowed();
}

/* A thread and a child that runs on the same thread-local storage, this variable included. */
static __thread struct {
	uint32_t owner; /* id of the thread; 0: nobody shares it, NOBODY: neither may record */
	uint32_t child; /* id of the child; NOBODY: not known, or there are several */
	uint32_t looks;
} shared __attribute__((tls_model("initial-exec")));

#define NOBODY UINT32_MAX
#define LOOKS_FOR_CHILD                                                                            \
	64u /* how often the thread is told from the child before it asks whether that is gone */

static void unshare_thread(void)
{
	struct fx_thread *t = fx_self;

	t->state = t->adopted;
	fx_barrier();
	shared.owner = 0;
}

bool fx_thread_share(void)
{
	bool first = !shared.owner;

	if (fx_engine_is_stranger())
		return false;
	shared.child = NOBODY;
	if (!first)
		return false;
	shared.owner = fx_engine_may(FX_ASK_SELF) ? (uint32_t)fx_gettid() : NOBODY;
	fx_barrier(); /* from now on each look at the state asks who it is */
	if (fx_self->slot)
		fx_self->state = 0;
	return true;
}

void fx_thread_shared_with(pid_t child)
{
	if (child < 0)
		unshare_thread();
	else
		shared.child = (uint32_t)child;
}

bool fx_fork_guard(void)
{
	if (!fx_engine_may(FX_ASK_FOLLOW) || !fx_engine.wiped || fx_engine_is_stranger() ||
	    guarded || !fx_wiped_by_hand())
		return false;
	guarded = true;
	fx_barrier(); /* from now on each look at the state asks where it is */
	if (fx_self->slot)
		fx_self->state = 0;
	return true;
}

void fx_fork_leave(bool is_guarded)
{
	if (!is_guarded || fx_getpid() != fx_engine.pid)
		return;
	if (!fx_self->suspended)
		fx_self->state = shared.owner ? 0 : fx_self->adopted;
	fx_barrier();
	guarded = false;
}

/* Whether the caller is the thread that its storage is of. */
static fx_cold bool is_owner(void)
{
	if (!fx_engine.wiped || !fx_engine.wiped->attached)
		return true; /* a forked child: of either, and alone */
	if (!fx_engine_may(FX_ASK_SELF) || (uint32_t)fx_gettid() != shared.owner)
		return false;
	if (shared.child != NOBODY && ++shared.looks % LOOKS_FOR_CHILD == 0 &&
	    fx_syscall2(SYS_tkill, shared.child, 0) == -ESRCH)
		unshare_thread();
	return true;
}

static struct fx_thread *adopt(uint32_t categories)
{
	struct fx_thread *t = fx_self;
	uint64_t state;

	if (t->suspended)
		return NULL;
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
		shared.owner = 0; /* whoever shared it is another process now */
		if (attach_child() != 0) {
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
	notice_epoch(state >> 32);
	fx_thread_now(t); /* no event is from before the thread took part */
	t->adopted = state;
	t->state = shared.owner || guarded ? 0 : state;
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
	if (fx_unlikely(guarded))
		wipe_by_hand();
	if (fx_unlikely(shared.owner) && !is_owner())
		return NULL;
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
	if (fx_thread_on(UINT32_MAX) == t) {
		fx_frame_unwind_above(t, &t->slot->frames[0], fx_stack_address());
		record_name(t);
	} else if (fx_self != t) {
		return;
	} else {
		slot_reset_frames(t->slot); /* nothing is written after a stop */
	}
	fx_self = &thread_off;
	fx_barrier();
	fx_chunks_release(t);
	FX_FAULT(slot_chunks);
	slot_release(t);
}

struct fx_thread_slot *fx_slot_after(uint32_t *i)
{
	while (*i < slots_used()) {
		struct fx_thread_slot *s = thread_slot_at((*i)++);
		uint32_t tid = fx_load_acquire(&s->tid);

		if (tid && tid != UINT32_MAX)
			return s;
	}
	return NULL;
}

static struct fx_thread_slot *slot_of_pthread(uint64_t pthread)
{
	for (uint32_t i = 0; i < slots_used(); i++) {
		uint32_t tid;

		tid = fx_load_acquire(&thread_slot_at(i)->tid);
		if (tid && tid != UINT32_MAX && thread_slot_at(i)->pthread == pthread)
			return thread_slot_at(i);
	}
	return NULL;
}

void fx_thread_set_name(uint64_t pthread, const char *name)
{
	struct fx_thread_slot *s;

	if (!fx_engine.wiped || !fx_engine.wiped->attached || fx_engine_is_stranger())
		return;
	s = pthread ? slot_of_pthread(pthread) : fx_self->slot;
	if (s) {
		char padded[sizeof s->name] = {0};

		memcpy(padded, name, strnlen(name, sizeof padded - 1));
		memcpy(s->name, padded, sizeof padded);
	}
}

pid_t fx_thread_tid(uint64_t pthread)
{
	struct fx_thread_slot *s;
	uint32_t tid;

	if (!fx_engine.wiped || !fx_engine.wiped->attached)
		return -1;
	s = slot_of_pthread(pthread);
	/* relaxed: a thread that is not of now is not the one that is meant */
	tid = s ? fx_load_relaxed(&s->tid) : 0;
	return tid && tid != UINT32_MAX ? (pid_t)tid : -1;
}
