/* SPDX-License-Identifier: MIT */
/* The slots of threads: which thread has which, and which threads are gone. */
#include "engine/provider/slot.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>

#include "base/fault.h"
#include "base/handle.h"
#include "base/syscall.h"
#include "engine/provider/chunk.h"
#include "engine/provider/record.h"
#include "engine/provider/wiped.h"

struct fx_thread_slot *fx_slot_at(uint32_t i)
{
	char *base = (char *)fx_engine.header + fx_engine.layout.threads_offset;

	return (struct fx_thread_slot *)base + i;
}

void fx_slot_put_sentinel(struct fx_frame *first)
{
	first->id = 0;
	first->sp = UINT64_MAX;
	fx_store_relaxed(&first->key, 0);
	first->start = 1;
}

void fx_slot_reset_frames(struct fx_thread_slot *s)
{
	/* The previous owner closed its frames; a thread that ended without a word did not. */
	for (uint32_t i = 1; i < FX_FRAMES && s->frames[i].start; i++)
		fx_store_relaxed(&s->frames[i].start, 0);
	fx_slot_put_sentinel(s->frames);
}

/* What the thread's next slot has as its name; empty: the kernel is asked. Another would have changed it through us. */
static __thread char known_name[sizeof(((struct fx_thread_slot *)0)->name)]
    __attribute__((tls_model("initial-exec")));

void fx_thread_has_name(const char *name)
{
	size_t length = strnlen(name, sizeof known_name - 1);

	memset(known_name, 0, sizeof known_name);
	memcpy(known_name, name, length);
}

static void slot_name(struct fx_thread_slot *s)
{
	memcpy(s->name, known_name, sizeof s->name);
	memset(known_name, 0, sizeof known_name);
	if (!s->name[0] &&
	    fx_engine_may(FX_ASK_SELF)) /* without one it has its process's, as most have */
		fx_syscall2(SYS_prctl, PR_GET_NAME, s->name);
}

static void slot_take(uint32_t i, uint32_t tid)
{
	struct fx_thread_slot *s = fx_slot_at(i);

	fx_slot_reset_frames(s);
	fx_record_give_up(s); /* its owner may have ended without a word */
	fx_store_relaxed(&s->heap_bytes, 0);
	fx_store_relaxed(&s->heap_blocks, 0);
	slot_name(s);
	s->pthread = fx_thread_handle();
	s->incarnation++;
	fx_store_relaxed(&s->last_tid, tid);
	fx_store_release(&s->tid, tid); /* pairs with the slot walk in reader/slots.c */
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
static bool slot_is_left(uint32_t i)
{
	if (fx_engine.wiped->left != i + 1)
		return false;
	if (!fx_load_relaxed(&fx_slot_at(i)->incarnation))
		fx_store_relaxed(&fx_slot_at(i)->incarnation, 1);
	return true;
}

/* Claims the first free slot for `tid`; not the one whose fx_thread a fork left to what it interrupted.
 * With `clean`, only one whose owners lost nothing. -EAGAIN if there is none. */
static int slot_claim_first(uint32_t tid, bool clean)
{
	for (uint32_t i = 0; i < fx_engine.layout.thread_count; i++) {
		uint32_t free = 0;

		if (slot_is_left(i) || (clean && fx_load_relaxed(&fx_slot_at(i)->dropped)))
			continue;
		/* UINT32_MAX: taken, not yet to be read. Pairs with slot_take's release. */
		if (fx_load_relaxed(&fx_slot_at(i)->tid) == 0 &&
		    fx_cas_acq_rel(&fx_slot_at(i)->tid, &free, UINT32_MAX)) {
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
int fx_slot_claim(uint32_t tid)
{
	int i = slot_claim_first(tid, true);

	return i < 0 ? slot_claim_first(tid, false) : i;
}

void fx_slot_release(struct fx_thread *t)
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
		uint32_t at = (*i)++, tid = fx_load_acquire(&fx_slot_at(at)->tid);
		struct fx_thread *t = &fx_engine.wiped->threads[at];

		/* One that a fork has left has a slot no more. */
		if (tid != 0 && tid != UINT32_MAX && fx_load_relaxed(&t->slot))
			return t;
	}
	return NULL;
}

const struct fx_thread *fx_thread_of(uint32_t tid)
{
	uint32_t i = fx_load_relaxed(&fx_engine.wiped->by_tid[tid % FX_TIDS]);
	const struct fx_thread *t = &fx_engine.wiped->threads[i ? i - 1 : 0];

	if (i == 0 || fx_load_relaxed(&t->tid) != tid)
		return NULL;
	return fx_load_relaxed(&t->adopted) >> 32 == fx_self->adopted >> 32 ? t : NULL;
}

unsigned fx_threads_reclaim(void)
{
	unsigned freed = 0;

	if (!fx_engine_may(FX_ASK_SELF))
		return 0;
	for (uint32_t i = 0; i < slots_used(); i++) {
		struct fx_thread *t = &fx_engine.wiped->threads[i];
		uint32_t tid;

		tid = fx_load_acquire(&fx_slot_at(i)->tid);
		if (tid == 0 || tid == UINT32_MAX || !fx_load_relaxed(&t->slot) ||
		    !thread_is_gone(tid))
			continue;
		fx_happens_after(t); /* all that the thread did: so the kernel's answer says */
		/* Two reclaimers must not both give it back. */
		if (!fx_cas_acq_rel(&fx_slot_at(i)->tid, &tid, UINT32_MAX))
			continue;
		fx_chunks_release(t);
		fx_slot_release(t);
		freed++;
	}
	return freed;
}

struct fx_thread_slot *fx_slot_after(uint32_t *i)
{
	while (*i < slots_used()) {
		struct fx_thread_slot *s = fx_slot_at((*i)++);
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

		tid = fx_load_acquire(&fx_slot_at(i)->tid);
		if (tid && tid != UINT32_MAX && fx_slot_at(i)->pthread == pthread)
			return fx_slot_at(i);
	}
	return NULL;
}

void fx_thread_set_name(uint64_t pthread, const char *name)
{
	struct fx_thread_slot *s;

	if (fx_engine_is_stranger())
		return;
	known_name[0] = 0;
	if (!fx_engine.wiped || !fx_engine.wiped->attached)
		return;
	s = pthread				  ? slot_of_pthread(pthread)
	    : fx_self->header == fx_engine.header ? fx_self->slot
						  : NULL;
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
