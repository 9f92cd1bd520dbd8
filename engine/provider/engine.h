/* SPDX-License-Identifier: MIT */
/*
 * The writer half of the engine: what one traced process knows of its own tracing.
 *
 *	fx_engine   one per process: where the buffer, the control page and the common page are.
 *	fx_thread   one per recording thread, private to the process: where it writes next.
 *
 * All fx_thread structures, and the table of function names, lie in memory that the kernel wipes in
 * a forked child. A child's first look at its fx_thread therefore finds state 0, which never equals
 * the control page's: the slow half runs, sees the wiped mark, and attaches the child to a buffer of
 * its own. No fork handler is needed, so none can be missed by a raw clone().
 *
 * Between start and stop the hot halves (record.h, frame.h, function.h) take no lock, make no
 * system call and allocate nothing. They may be interrupted anywhere by a signal handler that
 * traces.
 */
#ifndef FX_ENGINE_ENGINE_H
#define FX_ENGINE_ENGINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/atomic.h"
#include "base/clock.h"
#include "base/compiler.h"
#include "base/handle.h"
#include "engine/builtin.h"
#include "engine/layout.h"

/* How deep record writing can nest: the thread, and signal handlers that interrupt one another in
 * the middle of it. Each level writes into a chunk of its own. Deeper ones lose (and count) their
 * records. */
#define FX_LEVELS 3

/* Where a thread writes: [pos, end) of the chunk that it holds. `end` is NULL without a chunk, and
 * while another one is fetched: it is set last and cleared first, so that a cursor that was left in
 * the middle of that by siglongjmp() is in order. The thread's own, but that idle.c reads it, and clears
 * `end`; so what is shared is stored, and `end` is loaded, by relaxed accesses. */
struct fx_cursor {
	uint64_t *pos;
	uint64_t *end;
	uint64_t *chunk; /* the chunk's first word; NULL: nothing to give back */
	uint64_t serial;
	uint64_t
	    ahead; /* bytes from a chunk to where the thread's next one probably lies; 0: nobody knows */
};

#define FX_THREAD_TAKEN 16u

struct fx_thread {
	uint64_t state; /* control state as adopted; 0 after a fork, while suspended or shared, and
			   before adoption */
	struct fx_frame *top;	/* next free frame */
	struct fx_frame *limit; /* frames at or beyond it are not pushed */
	/* the same for the hooks' usual way; NULL: the clock is one that it does not read */
	struct fx_frame *usual_limit;
	uint64_t min_duration; /* ticks */
	uint64_t now;	       /* newest time that fx_thread_time() gave */
	/* stack address of the record that is under way in each cursor, 0 none; read by idle.c */
	uint64_t busy[FX_LEVELS];
	uint32_t stacks;	 /* categories whose calls carry their stack */
	uint64_t stack_duration; /* ticks: if they took so long */
	uint32_t deep;		 /* open function calls beyond limit */
	uint32_t unusual; /* FX_UNUSUAL_*: why ends of functions do not go the hooks' usual way */
	struct fx_thread_slot *slot;	 /* NULL: never adopted */
	struct fx_buffer_header *header; /* of the buffer that `slot` is in */
	struct fx_cursor cursor[FX_LEVELS] __attribute__((aligned(64)));
	uint64_t
	    suspended; /* state to go back to when the vfork child on this thread is gone; else 0 */
	uint64_t adopted;	    /* the same, but also while suspended or shared */
	uint64_t deep_sp;	    /* stack address of the first of the calls beyond limit */
	uint64_t flows;		    /* flow ids given; survives the thread */
	uint64_t closer[FX_LEVELS]; /* which collection closed the cursor last (idle.c) */
	uint64_t fragmented;	    /* records written in fragments; survives it too */
	uint32_t tid;
	uint32_t
	    stashed; /* where its newest entry begins, in words, and one more; 0 none (stash.h) */
	struct fx_stash *stash; /* of its slot; NULL: none (stash.h) */
	uint64_t places; /* of its stash, by frames' addresses: see fx_stash_place(); 0: none */
	/* the outermost open call that others are recorded in, by its stack address too (preload/hooks/choices.h) */
	struct fx_frame *scope;
	uint64_t scope_sp;
	uint32_t begins; /* FX_THREAD_BEGINS until a chunk has said so, then 0 */
	uint32_t skips;	 /* calls that are left out and counted: see preload/hooks/choices.h */
	uint64_t taken
	    [FX_THREAD_TAKEN]; /* where it has locked what: the wrappers', and read by others */
} __attribute__((aligned(64)));

/* Table of names (string.h): address << FX_ADDRESS_SHIFT | string index, open addressing. */
#define FX_FUNCTION_SLOTS 65536u

/*
 * In a table entry: where the address begins, behind the index, which has 15 bits. Addresses have 47 on x86-64 and 48
 * on aarch64, where each function's is a multiple of 4: so in both the 16th bit is 0 behind the index of a function.
 */
#if defined(__aarch64__)
#define FX_ADDRESS_SHIFT 15
#else
#define FX_ADDRESS_SHIFT 16
#endif
#define FX_ADDRESS_INDEX ((1u << FX_ADDRESS_SHIFT) - 1)

/* By the low bits of a thread's number. */
#define FX_TIDS 1024u

/* What is wiped on fork, in one mapping. */
struct fx_wiped {
	uint64_t attached; /* 1 in the process that attached */
	uint64_t disowned; /* 1 in a child that cannot reach its parent's buffer any more */
	uint64_t left;	   /* 1 + index of the fx_thread that a fork left to what it interrupted */
	uint64_t lost; /* records of handlers in a child before it has a buffer to count them in */
	uint64_t function_count; /* entries of `functions` */
	int pid; /* of a process that is about to ask for a buffer; 0: the kernel says it */
	uint16_t
	    by_tid[FX_TIDS]; /* 1 + index of the fx_thread that the newest of them has; 0: none */
	struct fx_thread threads[FX_THREADS_MAX]; /* the first ones on the page of the above */
	uint64_t functions[FX_FUNCTION_SLOTS] __attribute__((aligned(4096)));
};

/*
 * What the kernel is asked for; under a seccomp filter of the program's that refuses the calls (preload/host/asks.def),
 * it is done without.
 */
enum fx_ask {
	FX_ASK_SELF = 1,  /* which thread runs, and which are gone */
	FX_ASK_WAIT = 2,  /* to wait for others, and to wake them */
	FX_ASK_LOOK = 4,  /* what descriptors, pointers and the like are */
	FX_ASK_CHILD = 8, /* to begin anew in a forked child */
	FX_ASK_START =
	    16, /* anything at all: in the programs that it starts, too, that would be their end */
	FX_ASK_PAGES = 32,     /* to map what is about to be written */
	FX_ASK_MEET = 64,      /* a manager that is not known yet */
	FX_ASK_COPY = 128,     /* to copy memory that may be gone at any moment */
	FX_ASK_TOGETHER = 256, /* for several things by one call, which else take one each */
	FX_ASK_STREAMS = 512,  /* to change by what libc's streams are read and written */
	FX_ASK_ALL = 1023,
	/* what nothing needs that the process has of its own */
	FX_ASK_SPARED = FX_ASK_COPY | FX_ASK_TOGETHER,
	FX_ASK_FOLLOW = FX_ASK_CHILD | FX_ASK_SELF,
};

struct fx_engine {
	/* hot: read by every hook */
	const struct fx_control *control; /* never NULL: a page of zeroes while not attached */
	const struct fx_common *common;	  /* the same */
	/* The attached page, after a detachment too: for events that are under way. */
	const struct fx_control *page;
	struct fx_wiped *wiped; /* NULL before the first attachment */
	enum fx_clock_kind clock_kind;
	uint64_t tick_step;   /* ticks of a nanosecond and a little more */
	uint32_t attachments; /* so many, of this process and those that it was forked from */
	/* cold */
	uint32_t
	    refused; /* enum fx_ask: what the kernel may not be asked for any more; above, how often that was decided */
	bool blind; /* a thread may have no storage that can be looked at: nobody's is */
	int pid;
	struct fx_buffer_header *header;
	struct fx_layout layout;
	/* Attaches a forked child; returns 0 or -errno. Async-signal-safe. Set by the owner of the
	 * protocol; NULL: the process is traced without its children. */
	int (*reattach)(void);
};

extern struct fx_engine fx_engine __attribute__((visibility("hidden")));

/* Whether all of `asks` may be asked. Relaxed: for the thread that gives it up it holds at once, and the others are at
 * it meanwhile in any case. */
fx_hot bool fx_engine_may(uint32_t asks)
{
	return !(fx_load_relaxed(&fx_engine.refused) & asks);
}

static inline bool fx_engine_has_children(void)
{
	return fx_engine.reattach;
}

/* Whether a child that is forked now will register. */
static inline bool fx_engine_follows(void)
{
	return fx_engine_has_children() && fx_engine_may(FX_ASK_FOLLOW);
}

/*
 * A thread's own storage. Code that makes a thread by clone() gives it what it likes for that: zeroes, leftovers, a copy of
 * another's. So nothing in it is believed, and nothing of it written, before `home` is found to be its place.
 */
struct fx_own {
	uint64_t home;	/* the thread pointer; 0: as libc has made it, nobody has looked yet */
	uint64_t magic; /* FX_OWN_MAGIC */
	struct fx_thread *thread;
};

#define FX_OWN_MAGIC 0x5e1f5709a6e5ca11ull

extern __thread struct fx_own fx_own
    __attribute__((tls_model("initial-exec"), visibility("hidden")));

/* Of a thread whose storage is known to be its own. */
#define fx_self fx_own.thread

/* Whether the calling thread's storage is known to be its own. 2 instructions and the branch. */
fx_hot bool fx_own_is_known(void)
{
	return fx_likely(fx_own.home == fx_thread_pointer());
}

/* Slow half: the same, when nobody has looked yet. */
fx_cold bool fx_own_learn(void);

/* How far from the thread pointer it lies. */
fx_hot int64_t fx_own_offset(void)
{
	return (int64_t)((uint64_t)(uintptr_t)&fx_own - fx_thread_pointer());
}

/* Whether thread-local storage is the caller's own, known or not. */
fx_hot bool fx_is_own(void)
{
	/* relaxed: a process that is not to look finds it set */
	return !fx_load_relaxed(&fx_engine.blind) && (fx_own_is_known() || fx_own_learn());
}

/* Relaxed: a thread that detaches the process changes them under the others, which may see either page. */
fx_hot const struct fx_control *fx_control(void)
{
	return fx_load_relaxed(&fx_engine.control);
}

fx_hot const struct fx_common *fx_common(void)
{
	return fx_load_relaxed(&fx_engine.common);
}

/* Whether the manager is no more: the kernel has written so, and nothing is read through it. */
fx_hot bool fx_manager_is_gone(void)
{
	const uint32_t *owner = &fx_common()->owner;
#if defined(__x86_64__) && !defined(FX_TSAN)
	bool gone;

	/* (A compiler loads it first.) */
	__asm__ __volatile__("testl %2, %1" : "=@ccnz"(gone) : "m"(*owner), "i"(FX_OWNER_DIED));
	return gone;
#else
	return fx_load_relaxed(owner) & FX_OWNER_DIED; /* relaxed: see above */
#endif
}

/* Among `categories`: an exit looks, and an exit without entry is no loss. Never in a state. */
#define FX_LOOK_EXIT (1u << 30)

/* Slow half of fx_thread_on(). */
fx_cold struct fx_thread *fx_thread_adopt(uint32_t categories);

/* Whether one of `categories` may be traced. */
fx_hot bool fx_state_has(uint64_t state, uint32_t categories)
{
	return state & (categories | FX_STATE_STOPPING);
}

/* The second half of fx_thread_on(), for a state that has one of `categories`. */
fx_hot struct fx_thread *fx_thread_in(uint64_t state, uint32_t categories)
{
	struct fx_thread *t = fx_self; /* if it is one */

	if (fx_unlikely(!fx_own_is_known() || t->state != state || fx_manager_is_gone()))
		return fx_thread_adopt(categories);
	return t;
}

/*
 * The calling thread's state if one of `categories` is being traced, else NULL: also when the
 * manager is dead, the process is not attached, or a vfork child is running on this thread.
 * Off: 3 instructions and the branch. On: 11 and four branches.
 */
fx_hot struct fx_thread *fx_thread_on(uint32_t categories)
{
	/* relaxed: equal to t->state, which was loaded with acquire when it was adopted */
	uint64_t state = fx_load_relaxed(&fx_control()->state);

	return fx_state_has(state, categories) ? fx_thread_in(state, categories) : NULL;
}

/* The calling thread's state if it records, by the counter, and the manager lives; else NULL, and whoever asks goes the slow way. */
fx_hot struct fx_thread *fx_thread_usual(void)
{
	/* relaxed: equal to the thread's, which was loaded with acquire when it was adopted */
	uint64_t state = fx_load_relaxed(&fx_control()->state);
	struct fx_thread *t = fx_self; /* if it is one */

	if (fx_unlikely(!(uint32_t)state || !fx_own_is_known() || t->state != state ||
			!t->usual_limit || fx_manager_is_gone()))
		return NULL;
	return t;
}

fx_hot uint64_t fx_now(void)
{
	return fx_ticks(fx_engine.clock_kind);
}

#define FX_UNUSUAL_SLOW	 1u /* calls are beyond the limit, or there is no usual_limit */
#define FX_UNUSUAL_SHORT 2u /* there is a min_duration */

/* So many open function calls of `t` are beyond its limit. */
fx_hot void fx_thread_deepen(struct fx_thread *t, uint32_t deep)
{
	t->deep = deep;
	t->unusual = (deep || !t->usual_limit ? FX_UNUSUAL_SLOW : 0) |
		     (t->min_duration ? FX_UNUSUAL_SHORT : 0);
}

/*
 * The reading `now`, but at least a nanosecond later than the thread's time before. Some processors'
 * counters move in steps that are longer than a hook takes; a call that seems to begin together with its
 * caller, or to end together with a later one's beginning, would not nest.
 */
fx_hot uint64_t fx_thread_time(struct fx_thread *t, uint64_t now)
{
	uint64_t least = t->now + fx_engine.tick_step;

	if (fx_unlikely(now < least)) {
		now = least;
		__asm__("" : "+r"(now)); /* by a branch, which is foreseen */
	}
	t->now = now;
	return now;
}

fx_hot uint64_t fx_thread_now(struct fx_thread *t)
{
	return fx_thread_time(t, fx_now());
}

/* An id for a flow, unique in the session. */
fx_hot uint64_t fx_flow_id_new(struct fx_thread *t)
{
	uint64_t slot = (uint64_t)(t - fx_engine.wiped->threads);
	uint64_t number = ++t->flows & ((1ull << FX_FLOW_SLOT_SHIFT) - 1);
	/* relaxed: both are true */
	uint64_t maker = fx_load_relaxed(&fx_engine.page->provider_id);

	maker = maker ? maker << FX_FLOW_MAKER_SHIFT
		      : FX_FLOW_UNKNOWN | (uint64_t)fx_engine.pid << FX_FLOW_MAKER_SHIFT;
	return maker | slot << FX_FLOW_SLOT_SHIFT | number;
}

/*
 * Attaches the process, which `pid` is, to its mapped buffer: writes the header and the builtin strings, makes every
 * thread adopt anew. The mappings stay the caller's; they must outlive the process's hooks.
 * Returns 0, or -ENOMEM, -EINVAL (a layout that does not fit `buffer_size`).
 */
int fx_engine_attach(int pid, const struct fx_control *control, const struct fx_common *common,
		     void *buffer, uint64_t buffer_size, const struct fx_builtin *builtin);

/*
 * The process is to get another buffer while its threads run, and nothing is being traced: what they know of the old one stays
 * theirs, so that one in the middle of something can go on; memory that is wiped on fork begins anew, so whoever has some maps it
 * again. False: there is no room.
 */
bool fx_engine_renew(void);

/* The calling thread is the one that process `pid` began with, so that it need not ask for its number. */
#define FX_PID_ANY (-1)
void fx_thread_is_first_of(int pid);

/* Nor for its name, which is this (15 bytes at most; "": it asks), up to the next slot that it gets or the next name. */
void fx_thread_has_name(const char *name);

/* No more tracing in this process, whatever the control page says. */
void fx_engine_detach(void);

/* The same, since the process is about to give up what tracing needs: the manager is told. */
void fx_engine_give_up(void);

/* The same, since a thread comes whose storage must not even be looked at. */
void fx_engine_go_blind(void);

/* After fx_engine_detach(): tracing goes on in the buffer that the process has. */
void fx_engine_take_up(const struct fx_common *common);

/*
 * Around the life of a guest: a child that runs in this memory while the calling thread waits, on thread-local
 * storage that it brings itself (CLONE_SETTLS). Nothing there is ours to read or to write, fx_self least of all, and
 * no hook could tell a guest from a thread; so the process records nothing meanwhile. More than FX_GUESTS_MAX at a
 * time end its tracing.
 */
#define FX_GUESTS_MAX 7u
void fx_engine_guest_comes(void);
void fx_engine_guest_gone(void);

/* In a forked child: it has none. */
void fx_engine_guests_forget(void);

/* Whether the caller may be a guest: for the few callers that look at thread-local storage while nothing is traced. */
bool fx_engine_may_be_guest(void);
fx_hot bool fx_engine_is_guest(void)
{
	return fx_unlikely(fx_control() != fx_engine.page) && fx_engine_may_be_guest();
}

/* Whether thread-local storage is not the caller's as we know it: a guest's, or that of a thread made by clone(). */
fx_hot bool fx_engine_is_stranger(void)
{
	return fx_engine_is_guest() || !fx_is_own();
}

/*
 * From now on the kernel is not asked for what is in `refused` (enum fx_ask), also 0. Without FX_ASK_WAIT the manager is
 * no longer woken, so more may be lost, and nobody waits for space; without FX_ASK_FOLLOW forked children are not traced.
 */
void fx_engine_confine(uint32_t refused);

/*
 * Around a child that runs on the calling thread, in this memory, while that waits (vfork): what the child gives up is its
 * own affair. Not by strangers.
 */
void fx_engine_lend(void);
void fx_engine_lent_back(void);

/* Whether the caller is such a child. */
bool fx_engine_is_lent(void);

/*
 * Around fork(): a child that calls fx_engine_after_fork() shows up even if it does nothing. And if
 * fork() was called by a signal handler that interrupted this file's hot halves, the child may return
 * to them: what they were at goes on with the thread's state as it was before, in memory that nobody
 * else reads.
 */
struct fx_fork {
	struct fx_thread thread; /* unless by_guest */
	char name[16];		 /* of the thread; "": not known */
	bool by_guest;		 /* or another stranger */
	bool guarded;
	bool has_frame;
};

/* `has_frame`: the newest open call is the caller's own, which its child does not look at. */
void fx_engine_before_fork(struct fx_fork *ret, bool has_frame);
void fx_engine_after_fork(const struct fx_fork *before);

/*
 * Around what makes children with memory of their own, where the kernel does not wipe it (wiped.h): nothing that the
 * calling thread does meanwhile is recorded as another process's. True: it is guarded, and fx_fork_leave() ends that.
 * In a child, its next event does.
 */
bool fx_fork_guard(void);
void fx_fork_leave(bool guarded);

/* Between vfork() and the parent's return from it the child runs on the parent's thread. */
void fx_thread_suspend(void);
void fx_thread_resume(void);

/*
 * Around a clone() whose child runs beside the calling thread, in its memory and on its thread-local storage
 * (CLONE_VM without CLONE_SETTLS). The two are told apart by asking the kernel at each event, until the child is
 * seen to be gone: the thread records, the child does not. `child` is its id, or -1: there is none.
 */
bool fx_thread_share(void);
void fx_thread_shared_with(pid_t child);

/* Called before a thread goes on that has seen the state change; NULL: nobody. */
extern void (*fx_thread_adopts)(void) __attribute__((visibility("hidden")));

/* Called when a thread has got a slot; NULL: nobody. */
extern void (*fx_thread_began)(struct fx_thread *t) __attribute__((visibility("hidden")));

/* The first slot that is a living thread's from index *i on; *i is the index behind it. NULL: there are no more. */
struct fx_thread_slot *fx_slot_after(uint32_t *i);

/* The calling thread ends: closes its open calls, gives its chunks and its slot back. */
void fx_thread_exit(void);

/* The calling thread's new name, or that of thread `pthread` (0: the calling one). At most 15
 * bytes. */
void fx_thread_set_name(uint64_t pthread, const char *name);

/* The id of a thread that has recorded something; -1: not known. */
pid_t fx_thread_tid(uint64_t pthread);

/* Posts a packet to the manager. */
void fx_packet_post(enum fx_packet_request request, uint16_t data16, uint32_t data32,
		    uint64_t data64);

/* Wakes the manager, which else comes in its own time. */
void fx_doorbell_ring(void);

/*
 * Raises the alert `name` of `length` bytes, 1 .. FX_ALERT_BYTES, with the manager. 0, -EINVAL for
 * another length or a NUL in it, or -ESHUTDOWN while nothing is being traced. Async-signal-safe.
 */
#define FX_ALERT_BYTES 14u
int fx_engine_alert(const char *name, size_t length);

/* Frees what threads held that ended without a word (no pthread_exit seen). Returns how many. */
unsigned fx_threads_reclaim(void);

/* The first thread with a slot from index *i on; *i is the index behind it. NULL: there are no more. */
struct fx_thread *fx_thread_after(uint32_t *i);

/* Of a thread that takes part since the last start; NULL: not known. It may end, and another have its place, at any time. */
const struct fx_thread *fx_thread_of(uint32_t tid);

#endif
