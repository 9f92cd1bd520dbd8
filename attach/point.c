/* SPDX-License-Identifier: MIT */
#include "attach/point.h"

#include <dirent.h>
#include <errno.h>
#include <linux/futex.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <time.h>

#include "attach/libc.h"
#include "attach/memory.h"
#include "kernel/space.h"
#include "kernel/unwind.h"
#include "symbols/symbols.h"
#include "where/frozen.h"

/* What the kernel leaves as a result of a system call that it would take up again, or end (its include/linux/errno.h). */
#define RESTART_SYS    (-512)
#define RESTART_NOINTR (-513)
#define RESTART_NOHAND (-514)
#define RESTART_BLOCK  (-516)

/* How long a thread is given to stop, and to come to a system call. */
#define STOP_MS 500
#define RUN_MS	100

/* How many begins and ends of system calls of one thread are looked at. */
#define CALLS 32u

/* How often one that computes is looked at. */
#define LOOKS 3u

/* What frames and registers take on the stack of a thread. */
#define STACK_ROOM (16u << 10)

struct search {
	const struct fx_target *target;
	struct fx_symbol_cache *names;
	struct fx_spaces *spaces;
	struct fx_frozen frozen;
	uint64_t deadline;  /* ms */
	bool has_allocator; /* of the program's own */
};

static uint64_t point_now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* --- Where it is --------------------------------------------------------------------------------- */

static bool is_waiting_function(const char *name)
{
	static const char *const names[] = {
#define FX_POINT(name) #name,
#include "attach/points.def"
#undef FX_POINT
	};

	name += strspn(name, "_");
	if (strncmp(name, "libc_", 5) == 0)
		name += 5;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (strcmp(name, names[i]) == 0)
			return true;
	}
	return false;
}

/* The first frame's functions, and those of libc that call it. *ret: how many frames. */
static bool is_waiting(const struct search *search, const uint64_t *frames, unsigned count,
		       unsigned *ret)
{
	bool is_found = false;
	unsigned i;

	for (i = 0; i < count; i++) {
		const char *name;

		if (fx_target_kind_of(search->target, frames[i]) != FX_TARGET_LIBC)
			break;
		name = fx_target_function_at(search->target, frames[i]);
		if (name && !is_waiting_function(name))
			return false;
		is_found |= name != NULL;
	}
	*ret = i;
	return is_found && i < count;
}

static bool is_main(const char *name)
{
	return name && strstr(name, "libc_start_main");
}

/* Where a thread begins: functions that libc does not export, or these. */
static bool is_begin(const char *name)
{
	return !name || is_main(name) || strstr(name, "clone");
}

/* The frames behind those of the call: the last of libc may be where the thread began. */
static bool callers_are_sound(const struct search *search, const uint64_t *frames, unsigned from,
			      unsigned count, bool is_whole)
{
	unsigned end = count;

	/* Of the first thread that is called by the program's own begin. */
	if (is_whole && end > from + 1 && fx_target_is_program(search->target, frames[end - 1]) &&
	    is_main(fx_target_function_at(search->target, frames[end - 2])))
		end--;
	while (is_whole && end > from &&
	       fx_target_kind_of(search->target, frames[end - 1]) == FX_TARGET_LIBC &&
	       is_begin(fx_target_function_at(search->target, frames[end - 1])))
		end--;
	for (unsigned i = from; i < end; i++) {
		switch (fx_target_kind_of(search->target, frames[i])) {
		case FX_TARGET_LIBC:
		case FX_TARGET_LINKER:
		case FX_TARGET_ALLOCATOR:
			/* A program that has malloc() itself is known as one. */
			if (fx_target_is_program(search->target, frames[i]))
				break;
			return false;
		default:
			break;
		}
	}
	return true;
}

static bool is_in_sequence(const struct search *search, const struct fx_held *held)
{
	struct {
		uint64_t address;
		uint32_t size, signature, flags, pad;
	} about = {0};
	uint64_t sequence = 0;

#ifndef PTRACE_GET_RSEQ_CONFIGURATION
#define PTRACE_GET_RSEQ_CONFIGURATION 0x420f
#endif
	if (ptrace(PTRACE_GET_RSEQ_CONFIGURATION, held->tid, sizeof(about), &about) < 0)
		return true; /* nobody knows */
	return about.address && (!fx_memory_read(search->target->pid, about.address + 8, &sequence,
						 sizeof(sequence)) ||
				 sequence);
}

/* Whether a thread that is held may make calls, in or at a system call (`at_call`), or where it computes. */
static bool is_sound(struct search *search, const struct fx_held *held, bool at_call)
{
	struct fx_frozen *frozen = &search->frozen;
	struct fx_space *space = fx_space_of(search->spaces, (uint32_t)search->target->pid);
	struct fx_caught sample;
	uint64_t frames[FX_UNWIND_MAX];
	unsigned count, calls = 0;
	bool is_whole;

	if (!space || fx_frozen_copy(search->target->pid, held->tid, frozen) < 0)
		return false;
	sample = (struct fx_caught){.ip = frozen->ip,
				    .registers = frozen->registers,
				    .unknown = ~frozen->known,
				    .stack = frozen->stack,
				    .stack_size = frozen->stack_size};
	count = fx_unwind(space, &sample, frames, &is_whole);
	if (at_call && is_waiting(search, frames, count, &calls))
		return callers_are_sound(search, frames, calls, count, is_whole);
	if (at_call || !is_whole || search->has_allocator ||
	    fx_target_kind_of(search->target, frames[0]) != FX_TARGET_PROGRAM ||
	    is_in_sequence(search, held))
		return false;
	for (unsigned i = 0; i < count; i++) {
		if (fx_target_kind_of(search->target, frames[i]) == FX_TARGET_OURS)
			return false;
	}
	return callers_are_sound(search, frames, 0, count, true);
}

/* --- Bringing it there --------------------------------------------------------------------------- */

/* The system call is made again, by the same instruction. */
static void call_again(struct user_regs_struct *r)
{
	r->rax = r->orig_rax;
	r->rip -= 2;
	r->orig_rax = UINT64_MAX;
}

/* What counts its time from a moment of its own can be made again; what has its end given as one, or none, too. */
static bool is_without_limit(const struct user_regs_struct *r)
{
	if (r->orig_rax == SYS_futex)
		return !r->r10 || (r->rsi & FUTEX_CMD_MASK) == FUTEX_WAIT_BITSET;
	if (r->orig_rax == SYS_poll)
		return (int)r->rdx < 0;
	return r->orig_rax == SYS_clock_nanosleep && r->rsi == TIMER_ABSTIME;
}

/* A mask for the time of the call alone: what is blocked afterwards is not what is blocked now. */
static bool has_mask(const struct user_regs_struct *r)
{
	switch (r->orig_rax) {
	case SYS_rt_sigsuspend:
		return true;
	case SYS_ppoll:
		return r->r10 != 0;
	case SYS_epoll_pwait:
	case SYS_epoll_pwait2:
		return r->r8 != 0;
	case SYS_pselect6:
		return true;
	default:
		return false;
	}
}

/* pselect6 has its mask behind a pointer: {address, size}. */
static bool has_mask_of(const struct search *search, const struct user_regs_struct *r)
{
	uint64_t mask[2] = {0};

	if (r->orig_rax == SYS_pselect6)
		return r->r9 &&
		       (!fx_memory_read(search->target->pid, r->r9, mask, sizeof(mask)) || mask[0]);
	return has_mask(r);
}

/* Whether it is to get a signal that it has not blocked. */
static bool has_signal(pid_t tid)
{
	uint64_t pending = 0, shared = 0, blocked = 0;
	char path[64], line[256];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)tid);
	file = fopen(path, "re");
	while (file && fgets(line, sizeof(line), file)) {
		if (strncmp(line, "SigPnd:", 7) == 0)
			pending = strtoull(line + 7, NULL, 16);
		if (strncmp(line, "ShdPnd:", 7) == 0)
			shared = strtoull(line + 7, NULL, 16);
		if (strncmp(line, "SigBlk:", 7) == 0)
			blocked = strtoull(line + 7, NULL, 16);
	}
	if (!file)
		return true;
	fclose(file);
	return (pending | shared) & ~blocked;
}

/* Of a thread that was told to stop, and is: a call that was ended by that is made again. */
static void undo_interruption(const struct fx_held *held, struct user_regs_struct *r)
{
	if ((int64_t)r->orig_rax < 0 || (int64_t)r->rax != -EINTR ||
	    !fx_call_ends_by_stop((int64_t)r->orig_rax) || has_signal(held->tid))
		return;
	call_again(r);
	fx_held_set_registers(held, r);
}

/* Stopped outside of a system call, at the end of one, or in one that can be made again. */
static bool is_stopped_well(struct search *search, struct fx_held *held, struct fx_point *ret)
{
	struct user_regs_struct *r = &ret->state.registers;
	int64_t result;
	bool restarts;

	if (!fx_held_registers(held, r))
		return false;
	undo_interruption(held, r);
	result = (int64_t)r->rax;
	if ((int64_t)r->orig_rax < 0)
		return is_sound(search, held, true) || is_sound(search, held, false);
	restarts = result == RESTART_SYS || result == RESTART_NOINTR || result == RESTART_NOHAND ||
		   result == RESTART_BLOCK;
	if (has_mask_of(search, r) || (restarts && r->orig_rax == SYS_restart_syscall) ||
	    (result == RESTART_BLOCK && !is_without_limit(r)) || !is_sound(search, held, true))
		return false;
	if (restarts)
		call_again(r);
	r->orig_rax = UINT64_MAX;
	return true;
}

/* Where a system call begins: it has not been made. One that is taken up again by the kernel's own means can be so only once. */
static bool is_at_entry(struct search *search, struct fx_held *held, struct fx_point *ret)
{
	struct user_regs_struct *r = &ret->state.registers;

	if (!fx_held_registers(held, r) || r->orig_rax == SYS_restart_syscall ||
	    !is_sound(search, held, true))
		return false;
	call_again(r);
	return true;
}

static bool is_stopped_at(struct search *search, struct fx_held *held, enum fx_stop stop,
			  struct fx_point *ret)
{
	if (stop == FX_STOP_ENTRY)
		return is_at_entry(search, held, ret);
	return (stop == FX_STOP_ASKED || stop == FX_STOP_EXIT) &&
	       is_stopped_well(search, held, ret);
}

/* The thread is let go, in whichever state it is. */
static void point_let_go(struct fx_held *held, enum fx_stop stop)
{
	struct user_regs_struct r;

	if (stop == FX_STOP_NOT)
		stop = fx_held_stop(held, STOP_MS);
	if (stop == FX_STOP_GONE || stop == FX_STOP_NOT)
		return;
	if (stop != FX_STOP_ENTRY && fx_held_registers(held, &r))
		undo_interruption(held, &r);
	fx_held_end(held);
}

static bool point_has_room(const struct search *search, const struct fx_point *point)
{
	return fx_target_stack_below(search->target, point->state.registers.rsp) >= STACK_ROOM;
}

/* 0: *ret is held. Else it is let go. */
static int thread_try(struct search *search, pid_t tid, struct fx_point *ret)
{
	struct fx_held held;
	enum fx_stop stop;
	bool found = false;
	int r = fx_held_begin(&held, tid);

	if (r < 0)
		return r == -ESRCH ? -EAGAIN : r;
	stop = fx_held_stop(&held, STOP_MS);
	for (unsigned i = 0; i < LOOKS && !found; i++) {
		found = is_stopped_at(search, &held, stop, ret);
		for (unsigned n = 0;
		     n < CALLS && !found && stop != FX_STOP_GONE && stop != FX_STOP_NOT; n++) {
			stop = fx_held_run(&held, RUN_MS);
			found = is_stopped_at(search, &held, stop, ret);
		}
		if (found || stop == FX_STOP_GONE)
			break;
		stop = fx_held_stop(&held, STOP_MS);
	}
	found = found && point_has_room(search, ret) && fx_chain_keep(&held, &ret->state) == 0;
	ret->held = held;
	if (found)
		return 0;
	point_let_go(&held, stop);
	return -EAGAIN;
}

/* --- Which thread -------------------------------------------------------------------------------- */

struct candidate {
	pid_t tid;
	unsigned rank; /* the lowest first */
};

/* A thread that waits without a limit, and whose call is taken up by the kernel itself, is disturbed least. */
static unsigned thread_rank(pid_t pid, pid_t tid)
{
	struct fx_call_place place;

	if (fx_call_read(pid, tid, &place) < 0)
		return 1;
	if (fx_call_ends_by_stop(place.call))
		return 2;
	switch (place.call) {
	case SYS_futex:
		return place.args[3] ? 1 : 0;
	case SYS_poll:
		return (int)place.args[2] < 0 ? 0 : 3;
	case SYS_nanosleep:
	case SYS_clock_nanosleep:
	case SYS_restart_syscall:
		return 3;
	case SYS_rt_sigsuspend:
		return 4;
	default:
		return 0;
	}
}

static int candidate_compare(const void *a, const void *b)
{
	const struct candidate *c = a, *d = b;

	if (c->rank != d->rank)
		return c->rank < d->rank ? -1 : 1;
	return c->tid < d->tid ? -1 : c->tid > d->tid;
}

static size_t threads_list(pid_t pid, struct candidate *ret, size_t room)
{
	char path[64];
	const struct dirent *entry;
	size_t count = 0;
	DIR *folder;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	folder = opendir(path);
	while (folder && count < room && (entry = readdir(folder))) {
		pid_t tid = (pid_t)strtol(entry->d_name, NULL, 10);

		if (tid > 0)
			ret[count++] = (struct candidate){tid, thread_rank(pid, tid)};
	}
	if (folder)
		closedir(folder);
	qsort(ret, count, sizeof(*ret), candidate_compare);
	return count;
}

static int search_all(struct search *search, struct fx_point *ret)
{
	struct candidate threads[256];
	const struct timespec nap = {.tv_nsec = 5000000};
	int r = -EAGAIN;

	while (r == -EAGAIN && point_now_ms() <= search->deadline) {
		size_t count = threads_list(search->target->pid, threads,
					    sizeof(threads) / sizeof(threads[0]));

		if (!count)
			return -ESRCH;
		for (size_t i = 0; i < count && r == -EAGAIN && point_now_ms() <= search->deadline;
		     i++)
			r = thread_try(search, threads[i].tid, ret);
		if (r == -EAGAIN)
			nanosleep(&nap, NULL);
	}
	return r;
}

int fx_point_find(const struct fx_target *target, unsigned ms, struct fx_point *ret)
{
	struct search *search = calloc(1, sizeof(*search));
	int r = -ENOMEM;

	if (!search)
		return r;
	search->target = target;
	search->deadline = point_now_ms() + ms;
	search->has_allocator = fx_target_program_allocates(target);
	if (fx_symbol_cache_create(NULL, &search->names) == 0 &&
	    fx_spaces_create(search->names, &search->spaces) == 0) {
		fx_space_read(search->spaces, (uint32_t)target->pid);
		r = search_all(search, ret);
	}
	if (search->spaces)
		fx_spaces_destroy(search->spaces);
	fx_symbol_cache_destroy(search->names);
	free(search);
	return r;
}
