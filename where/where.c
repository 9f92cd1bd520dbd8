/* SPDX-License-Identifier: MIT */
#include "where/where.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>

#include "kernel/space.h"
#include "kernel/unwind.h"
#include "symbols/store.h"
#include "symbols/symbols.h"
#include "where/frozen.h"
#include "where/sampled.h"
#include "where/waits.h"

/* So often it is waited in vain for the kernel's copy of a thread. */
#define MISSED_MAX 5u

/* How long it is waited for a thread that was stopped to be back in its call, and for all of them together. */
#define SETTLE_TURN_NS	 1000000
#define SETTLE_TURNS	 1000
#define SETTLE_TURNS_MAX 3000u

int fx_where_init(struct fx_where *ret)
{
	char folder[FX_STORE_PATH_MAX];

	*ret = (struct fx_where){.began = fx_ages_clock_now()};
	if (fx_symbol_cache_create(NULL, &ret->names) < 0 ||
	    fx_spaces_create(ret->names, &ret->spaces) < 0) {
		fx_where_destroy(ret);
		return -ENOMEM;
	}
	if (fx_store_folder(NULL, folder))
		fx_symbol_cache_keep(ret->names, folder);
	return 0;
}

static void thread_free(struct fx_where_thread *thread)
{
	free(thread->stack);
	fx_vector_free(&thread->wishes);
}

void fx_where_destroy(struct fx_where *where)
{
	for (size_t i = 0; i < where->threads.count; i++)
		thread_free(&where->threads.items[i]);
	fx_vector_free(&where->threads);
	if (where->spaces)
		fx_spaces_destroy(where->spaces);
	fx_symbol_cache_destroy(where->names);
}

/* --- Stacks ------------------------------------------------------------------------------------- */

static void line_write(struct fx_symspace *names, FILE *to, uint64_t address, bool first)
{
	char text[FX_SYMBOL_TEXT_MAX];
	struct fx_symbol symbol;

	fx_symspace_want_made(names, address);
	fx_symspace_resolve(names, address, &symbol);
	fx_symbol_format(&symbol, text, sizeof(text));
	fprintf(to, "%s%s", first ? "" : "\n", symbol.kind == FX_SYMBOL_NAMED ? symbol.name : text);
}

/* False: it ends before the thread's begin. */
static bool stack_follow(struct fx_where *where, struct fx_where_thread *thread,
			 const struct fx_frozen *frozen)
{
	struct fx_space *space = fx_space_of(where->spaces, (uint32_t)thread->pid);
	struct fx_symspace *names = space ? fx_space_names(where->spaces, space) : NULL;
	const struct fx_caught sample = {
	    .ip = frozen->ip,
	    .registers = frozen->registers,
	    .unknown = ~frozen->known,
	    .stack = frozen->stack,
	    .stack_size = frozen->stack_size,
	};
	uint64_t frames[FX_UNWIND_MAX];
	size_t size;
	unsigned count;
	FILE *to;

	free(thread->stack);
	thread->stack = NULL;
	to = names ? open_memstream(&thread->stack, &size) : NULL;
	if (!to)
		return false;
	count = fx_unwind(space, &sample, frames, &thread->is_whole);
	for (unsigned i = 0; i < count; i++)
		line_write(names, to, frames[i], i == 0);
	fclose(to);
	return thread->is_whole;
}

/*
 * A call with a time limit, of which a stop has taken that thread out, goes on under another number, with the same arguments. Which it was
 * the function says that made it.
 */
static void call_name_restarted(struct fx_where_thread *thread)
{
	static const struct {
		const char *function;
		int64_t call;
	} calls[] = {
#ifdef SYS_poll
	    {"poll", SYS_poll},
#endif
	    {"nanosleep", SYS_clock_nanosleep},
	    {"futex", SYS_futex},
	};
	size_t length = thread->stack ? strcspn(thread->stack, "\n") : 0;

	if (thread->call != SYS_restart_syscall)
		return;
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		if (memmem(thread->stack, length, calls[i].function, strlen(calls[i].function)))
			thread->call = calls[i].call;
	}
}

/* Of one that computes the kernel may make a copy while it goes on. False: it does not, or the stack is longer. */
static bool thread_sample(struct fx_where *where, struct fx_where_thread *thread,
			  struct fx_frozen *frozen)
{
	/* Where many compute, each has to wait for its turn. */
	if (where->missed == MISSED_MAX)
		return false;
	if (fx_sampled_take(thread->tid, frozen) < 0) {
		where->missed++;
		return false;
	}
	return stack_follow(where, thread, frozen);
}

/*
 * One that was stopped in a call goes back into it when a processor takes it up again; before that it is not seen what it waits for.
 * One that has left the call meanwhile, and computes, is not waited for for long.
 */
static void thread_settle(struct fx_where *where, const struct fx_where_thread *thread)
{
	const struct timespec turn = {.tv_nsec = SETTLE_TURN_NS};
	struct fx_call_place place;

	for (int i = 0; i < SETTLE_TURNS && where->settling < SETTLE_TURNS_MAX; i++) {
		if (fx_call_read(thread->pid, thread->tid, &place) != -EAGAIN)
			return;
		where->settling++;
		nanosleep(&turn, NULL);
	}
}

/* A thread that waits is not touched, if its stack can be followed without its registers. */
static void thread_look(struct fx_where *where, struct fx_where_thread *thread,
			struct fx_frozen *frozen)
{
	int r = fx_frozen_read(thread->pid, thread->tid, frozen, &thread->call, thread->args);

	thread->in_call = thread->call >= 0;
	if (r == 0 && stack_follow(where, thread, frozen))
		return;
	/* What waits for a disk cannot be stopped; of some calls a stop would be the end. */
	if (thread->state == 'D' && r == 0)
		return;
	if (thread->state == 'R' && !thread->in_call && thread_sample(where, thread, frozen))
		return;
	if (thread->in_call && fx_call_ends_by_stop(thread->call)) {
		thread->error = thread->stack ? 0 : -EINTR;
		return;
	}
	r = fx_frozen_take(thread->pid, thread->tid, frozen);
	where->held += frozen->held_ns != 0;
	if (frozen->held_ns > where->held_most_ns)
		where->held_most_ns = frozen->held_ns;
	if (frozen->held_ns && thread->in_call)
		thread_settle(where, thread);
	if (r == 0)
		stack_follow(where, thread, frozen);
	else if (!thread->stack)
		thread->error = r;
}

/* --- Processes ---------------------------------------------------------------------------------- */

/* "TID (NAME) STATE ...", and a name may have anything in it. */
static bool thread_read(struct fx_where_thread *thread)
{
	char path[64], text[512] = "";
	const char *open, *close;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/stat", (int)thread->pid, (int)thread->tid);
	file = fopen(path, "re");
	if (!file)
		return false;
	text[fread(text, 1, sizeof(text) - 1, file)] = 0;
	fclose(file);
	open = strchr(text, '(');
	close = strrchr(text, ')');
	if (!open || !close || close < open || !close[1])
		return false;
	snprintf(thread->name, sizeof(thread->name), "%.*s", (int)(close - open - 1), open + 1);
	thread->state = close[2];
	return true;
}

static int thread_add(struct fx_where *where, pid_t pid, pid_t tid, struct fx_frozen *frozen)
{
	struct fx_where_thread thread = {.pid = pid, .tid = tid, .call = -1};

	if (!thread_read(&thread) || thread.state == 'Z' || thread.state == 'X')
		return 0; /* it has just ended */
	thread_look(where, &thread, frozen);
	call_name_restarted(&thread);
	fx_where_find_wait(&thread);
	if (fx_vector_reserve(&where->threads, 1) < 0) {
		thread_free(&thread);
		return -ENOMEM;
	}
	where->threads.items[where->threads.count++] = thread;
	return thread.error == -EPERM || thread.error == -EACCES ? -EPERM : 0;
}

int fx_where_add(struct fx_where *where, pid_t pid)
{
	struct fx_frozen *frozen = malloc(sizeof(*frozen));
	char path[32];
	size_t before = where->threads.count;
	struct dirent *entry;
	DIR *tasks;
	int r = 0;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	tasks = opendir(path);
	if (!frozen || !tasks) {
		r = frozen ? -errno : -ENOMEM;
		r = r == -ENOENT ? -ESRCH : r;
	} else {
		fx_space_read(where->spaces, (uint32_t)pid);
	}
	while (r == 0 && (entry = readdir(tasks))) {
		if (entry->d_name[0] != '.')
			r = thread_add(where, pid, (pid_t)atoi(entry->d_name), frozen);
	}
	if (tasks)
		closedir(tasks);
	if (where->threads.count > before)
		fx_ages_find(pid, &where->began, &where->threads.items[before],
			     where->threads.count - before);
	free(frozen);
	return r;
}

struct fx_where_thread *fx_where_thread_of(const struct fx_where *where, pid_t tid)
{
	for (size_t i = 0; tid && i < where->threads.count; i++) {
		if (where->threads.items[i].tid == tid)
			return &where->threads.items[i];
	}
	return NULL;
}
