/* SPDX-License-Identifier: MIT */
/* Children: what they take over of the thread that made them, and what one that shares its storage must not do. */
#include "engine/provider/fork.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>

#include "base/fault.h"
#include "base/syscall.h"
#include "engine/provider/slot.h"
#include "engine/provider/wiped.h"

/* A thread and a child that runs on the same thread-local storage, this variable included. */
static __thread struct {
	uint32_t owner; /* id of the thread; 0: nobody shares it, NOBODY: neither may record */
	uint32_t child; /* id of the child; NOBODY: not known, or there are several */
	uint32_t looks;
} shared __attribute__((tls_model("initial-exec")));

#define NOBODY UINT32_MAX
#define LOOKS_FOR_CHILD                                                                            \
	64u /* how often the thread is told from the child before it asks whether that is gone */

/* What makes children is under way, and the kernel does not wipe their memory (wiped.h). */
static __thread bool guarded __attribute__((tls_model("initial-exec")));

/* What a child must keep of its parent's slot: the calls that a hook, interrupted by the fork, may
 * still look at. Owned by the one thread that a child begins with. */
static struct fx_frame frames_kept[FX_FRAMES] FX_LARGE;

#define FRAMES_FEW 8u

/* In a child of a child: private memory where the buffer of the first one's parent was. */
static struct {
	void *at;
	uint64_t size;
} fork_left;

/*
 * Whether there is still memory where the thread had its slot before the fork. Not if children have been made since: a handler
 * of pthread_atfork() may fork, and its child go on with the fork that the handler came in, which its parent has begun.
 */
static bool fork_slot_stands(const struct fx_fork *before)
{
	const void *header = before->thread.header;

	return before->thread.slot && (header == fx_engine.header || header == fork_left.at);
}

/*
 * In a child: puts private memory where the parent's buffer is. What the fork interrupted may write
 * there as before; `before` is the state of the thread that forked, if known.
 */
static void fork_disown_buffer(const struct fx_fork *before)
{
	/* Most have few calls open: on the stack they take one page less to touch. */
	struct fx_frame few[FRAMES_FEW], *keep = few, *frames = NULL;
	void *buffer = fx_engine.header;
	uint64_t size = fx_engine.layout.total_size;
	size_t kept = 0;

	/* Confined, it makes no system call: what was interrupted writes what its parent's does, to the same place. */
	if (fx_engine.wiped->disowned || !fx_engine_may(FX_ASK_FOLLOW))
		return;
	fx_engine.wiped->disowned = 1;
	if (before && fork_slot_stands(before)) {
		const struct fx_frame *top = before->thread.top - before->has_frame;

		frames = before->thread.slot->frames;
		if (top > frames && top <= frames + FX_FRAMES)
			kept = (size_t)(top - frames) * sizeof *frames;
		if (kept > sizeof few)
			keep = frames_kept;
		if (kept > sizeof *frames) /* each page that is not looked at is a fault less */
			memcpy(keep, frames, kept);
	}
	/* What a fork has interrupted that an earlier parent has begun may look there yet. */
	if (fork_left.at && fork_left.at != buffer &&
	    !(before && before->thread.header == fork_left.at))
		fx_syscall2(SYS_munmap, fork_left.at, fork_left.size);
	fork_left.at = buffer;
	fork_left.size = size;
	fx_syscall6(SYS_mmap, (long)buffer, (long)size, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
	if (kept > sizeof *frames)
		memcpy(frames, keep, kept);
	else if (kept)
		fx_slot_put_sentinel(frames);
}

/* Confined, the parent's buffer is still there, which the child may not leave: it is one more in it. Children of
 * its own are counted there too. */
static void fork_leave_unfollowed(void)
{
	if (fx_engine.reattach)
		fx_add_relaxed(&fx_engine.header->unfollowed, 1);
	fx_engine_detach();
}

int fx_fork_attach(void)
{
	shared.owner = 0; /* the thread that shared it is another process now */
	if (!fx_engine_may(FX_ASK_FOLLOW)) {
		fork_leave_unfollowed();
		return -EPERM;
	}
	fork_disown_buffer(NULL);
	FX_FAULT(fork_disowned);
	return fx_engine.reattach ? fx_engine.reattach() : -ENOSYS;
}

/* In a child whose memory has stayed as it was. A handler in the middle of it would record as the parent, or lose what it has
 * recorded. */
void fx_fork_wipe(void)
{
	const uint64_t all = UINT64_MAX;
	uint64_t before;

	if (!guarded || fx_getpid() == fx_engine.pid)
		return;
	fx_syscall4(SYS_rt_sigprocmask, SIG_SETMASK, &all, &before, sizeof(all));
	if (guarded) /* else a handler has done it */
		fx_wiped_wipe();
	guarded = false;
	fx_syscall4(SYS_rt_sigprocmask, SIG_SETMASK, &before, NULL, sizeof(all));
}

void fx_engine_before_fork(struct fx_fork *ret, bool has_frame)
{
	ret->has_frame = has_frame;
	ret->by_guest = fx_engine_is_stranger();
	ret->name[0] = 0;
	if (!ret->by_guest)
		ret->thread = *fx_self;
	/* A child that looked there would have a page fault. */
	if (!ret->by_guest && fx_self->slot && fx_self->header == fx_engine.header)
		memcpy(ret->name, fx_self->slot->name, sizeof ret->name);
	ret->guarded = fx_fork_guard();
}

void fx_engine_after_fork(const struct fx_fork *before)
{
	const char no_name =
	    0; /* where other constants are is a page that a child does not look at else */
	struct fx_thread *t;
	bool slot_stands;

	/* A guest's child is on the guest's storage. */
	if (before->by_guest)
		return;
	fx_engine_guests_forget();
	fx_fork_wipe();
	if (!fx_engine.wiped)
		return;
	/* A page that is read before it is written is two faults. */
	fx_add_relaxed(&fx_engine.wiped->lost, 0);
	if (fx_engine.wiped->attached)
		return;
	t = fx_self;
	slot_stands = fork_slot_stands(before);
	fork_disown_buffer(before);
	if (t != &fx_thread_off) {
		/* Left to what was interrupted; fx_slot_claim() gives another. */
		if (slot_stands)
			*t = before->thread;
		t->state = t->adopted = 0;
		fx_engine.wiped->left = (uint64_t)(t - fx_engine.wiped->threads) + 1;
		fx_self = &fx_thread_off;
	}
	/* One look is enough: a thread without state adopts, and adoption attaches. */
	fx_thread_is_first_of(FX_PID_ANY);
	fx_thread_has_name(before->name);
	if (fx_engine_may(FX_ASK_FOLLOW))
		fx_thread_on(UINT32_MAX);
	else
		fork_leave_unfollowed();
	fx_thread_is_first_of(0);
	fx_thread_has_name(&no_name);
}

static void fork_unshare(void)
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
	fx_barrier(); /* from now on each look at the state asks which process it is */
	if (fx_self->slot)
		fx_self->state = 0;
	return true;
}

void fx_thread_shared_with(pid_t child)
{
	if (child < 0)
		fork_unshare();
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
static fx_cold bool thread_is_owner(void)
{
	if (!fx_engine.wiped || !fx_engine.wiped->attached)
		return true; /* a forked child: of either, and alone */
	if (!fx_engine_may(FX_ASK_SELF) || (uint32_t)fx_gettid() != shared.owner)
		return false;
	if (shared.child != NOBODY && ++shared.looks % LOOKS_FOR_CHILD == 0 &&
	    fx_syscall2(SYS_tkill, shared.child, 0) == -ESRCH)
		fork_unshare();
	return true;
}

bool fx_fork_may_record(void)
{
	return fx_likely(!shared.owner) || thread_is_owner();
}

bool fx_fork_hides_state(void)
{
	return shared.owner || guarded;
}
