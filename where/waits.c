/* SPDX-License-Identifier: MIT */
#include "where/waits.h"

#include <inttypes.h>
#include <linux/futex.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "where/frozen.h"
#include "where/wishes.h"

/* So often a holder is looked for between two looks at the thread that waits for it: one that goes on meanwhile may be the next to have
 * the lock itself. */
#define HOLDER_LOOKS 5

/* Functions of the stack, from the innermost on, among which the one that waits is looked for. */
#define LINES_MAX 8

/* Where glibc keeps the holder's number in a pthread_mutex_t (nptl, on both machines). */
#define MUTEX_OWNER 8u

/* The same of a pthread_rwlock_t, which begins at a multiple of eight: two words that threads wait at, and who writes. */
#define RWLOCK_PHASE   8u
#define RWLOCK_WRITERS 12u
#define RWLOCK_WRITER  24u

/* Its first word: how many readers there are, and below that, whether a writer has it. */
#define RWLOCK_WRITE_PHASE  1u
#define RWLOCK_READER_SHIFT 3u

/* A function of this name, whatever stands in front of it, waits so. The first that matches counts. */
static const struct {
	const char *function;
	enum fx_where_wait wait;
} waiting_functions[] = {
    {"pthread_cond_", FX_WAITS_CONDITION},
    {"cnd_", FX_WAITS_CONDITION},
    {"pthread_rwlock_", FX_WAITS_RWLOCK},
    {"sem_", FX_WAITS_SEMAPHORE},
    {"new_sem_wait", FX_WAITS_SEMAPHORE},
    {"pthread_join", FX_WAITS_THREAD},
    {"pthread_timedjoin", FX_WAITS_THREAD},
    {"pthread_clockjoin", FX_WAITS_THREAD},
    {"pthread_mutex_", FX_WAITS_MUTEX},
    {"lll_mutex_", FX_WAITS_MUTEX},
    {"mtx_", FX_WAITS_MUTEX},
};

static uint32_t word_at(pid_t pid, uint64_t address)
{
	uint32_t word = 0;
	struct iovec to = {&word, sizeof(word)}, from = {(void *)(uintptr_t)address, sizeof(word)};

	return process_vm_readv(pid, &to, 1, &from, 1, 0) == sizeof(word) ? word : 0;
}

static enum fx_where_wait line_wait(const char *line, size_t length)
{
	while (length && *line == '_') {
		line++;
		length--;
	}
	for (size_t i = 0; i < sizeof(waiting_functions) / sizeof(waiting_functions[0]); i++) {
		size_t size = strlen(waiting_functions[i].function);

		if (length >= size && memcmp(line, waiting_functions[i].function, size) == 0)
			return waiting_functions[i].wait;
	}
	return FX_WAITS_NOT;
}

/* By the functions; a futex that nobody of them waits at is one of the program's own. */
static enum fx_where_wait stack_wait(const char *stack)
{
	for (int i = 0; stack && i < LINES_MAX; i++) {
		const char *end = strchr(stack, '\n');
		enum fx_where_wait wait =
		    line_wait(stack, end ? (size_t)(end - stack) : strlen(stack));

		if (wait != FX_WAITS_NOT)
			return wait;
		stack = end ? end + 1 : NULL;
	}
	return FX_WAITS_UNKNOWN;
}

static bool is_thread(uint32_t tid)
{
	char path[32];

	snprintf(path, sizeof(path), "/proc/%u", tid);
	return tid > 0 && access(path, F_OK) == 0;
}

/* The lock that has the word that is waited at, and the thread that writes; of readers glibc knows only how many there are. */
static uint32_t rwlock_writer(struct fx_where_thread *thread)
{
	uint32_t readers;

	thread->address -= thread->address % 8 ? RWLOCK_WRITERS : RWLOCK_PHASE;
	readers = word_at(thread->pid, thread->address);
	thread->readers = readers & RWLOCK_WRITE_PHASE ? 0 : readers >> RWLOCK_READER_SHIFT;
	return word_at(thread->pid, thread->address + RWLOCK_WRITER);
}

/* Sets the lock's address and its readers. Returns the number of the thread that has it; 0: none, or it is not known. */
static uint32_t futex_holder(struct fx_where_thread *thread)
{
	uint64_t address = thread->args[0];
	uint32_t holder = 0;

	thread->address = address;
	thread->readers = 0;
	if (((int)thread->args[1] & FUTEX_CMD_MASK) == FUTEX_LOCK_PI)
		holder = word_at(thread->pid, address) & FUTEX_TID_MASK;
	else if (thread->wait == FX_WAITS_MUTEX)
		holder = word_at(thread->pid, address + MUTEX_OWNER);
	else if (thread->wait == FX_WAITS_RWLOCK)
		holder = rwlock_writer(thread);
	else if (thread->wait == FX_WAITS_THREAD)
		holder = (uint32_t)thread->args[2]; /* its number, until it ends */
	return is_thread(holder) ? holder : 0;
}

bool fx_where_switches(const struct fx_where_thread *thread, uint64_t *ret)
{
	char path[64], line[128];
	unsigned found = 0;
	uint64_t count;
	FILE *file;

	*ret = 0;
	snprintf(path, sizeof(path), "/proc/%d/task/%d/status", (int)thread->pid, (int)thread->tid);
	file = fopen(path, "re");
	while (file && fgets(line, sizeof(line), file)) {
		if (sscanf(line, "voluntary_ctxt_switches: %" SCNu64, &count) != 1 &&
		    sscanf(line, "nonvoluntary_ctxt_switches: %" SCNu64, &count) != 1)
			continue;
		*ret += count;
		found++;
	}
	if (file)
		fclose(file);
	return found == 2;
}

bool fx_where_is_in_call(const struct fx_where_thread *thread)
{
	struct fx_call_place place;

	return fx_call_read(thread->pid, thread->tid, &place) == 0 &&
	       (place.call == thread->call || place.call == SYS_restart_syscall) &&
	       memcmp(place.args, thread->args, sizeof(place.args)) == 0;
}

/*
 * Who has the lock while the thread waits for it: one that has gone on may have it by now, and one that waits again waits for another.
 *
 *	read		switches, call, holder, call, switches
 *	the thread		|---- waits ----|
 */
static pid_t futex_find_holder(struct fx_where_thread *thread)
{
	for (int i = 0; i < HOLDER_LOOKS; i++) {
		uint64_t before, after;
		uint32_t holder;

		if (!fx_where_switches(thread, &before) || !fx_where_is_in_call(thread))
			continue;
		holder = futex_holder(thread);
		if (fx_where_is_in_call(thread) && fx_where_switches(thread, &after) &&
		    after == before)
			return (pid_t)holder;
	}
	thread->readers = 0;
	return 0;
}

static void futex_wait(struct fx_where_thread *thread)
{
	int operation = (int)thread->args[1] & FUTEX_CMD_MASK;

	if (operation != FUTEX_WAIT && operation != FUTEX_WAIT_BITSET &&
	    operation != FUTEX_LOCK_PI && operation != FUTEX_WAIT_REQUEUE_PI)
		return;
	thread->wait = operation == FUTEX_LOCK_PI ? FX_WAITS_MUTEX : stack_wait(thread->stack);
	thread->address = thread->args[0];
	thread->holder = futex_find_holder(thread);
}

/* The one that is named, if one is. */
static void child_wait(struct fx_where_thread *thread)
{
	int64_t id = (int32_t)thread->args[0];

	thread->wait = FX_WAITS_CHILD;
	if (thread->call == SYS_waitid)
		id = thread->args[0] == 1 ? (int32_t)thread->args[1] : -1; /* P_PID */
	if (id > 0)
		thread->holder = (pid_t)id;
}

void fx_where_find_wait(struct fx_where_thread *thread)
{
	if (!thread->in_call)
		return;
	fx_wishes_find(thread);
	if (thread->call == SYS_futex)
		futex_wait(thread);
	else if (thread->call == SYS_wait4 || thread->call == SYS_waitid)
		child_wait(thread);
}

const char *fx_where_wait_text(enum fx_where_wait wait)
{
	static const char *const texts[] = {
	    [FX_WAITS_NOT] = "",
	    [FX_WAITS_MUTEX] = "a mutex",
	    [FX_WAITS_RWLOCK] = "a read-write lock",
	    [FX_WAITS_CONDITION] = "a condition",
	    [FX_WAITS_SEMAPHORE] = "a semaphore",
	    [FX_WAITS_THREAD] = "the end of a thread",
	    [FX_WAITS_CHILD] = "the end of a child",
	    [FX_WAITS_BYTES] = "bytes in a pipe",
	    [FX_WAITS_ROOM] = "room in a pipe",
	    [FX_WAITS_SOCKET_BYTES] = "bytes from a socket",
	    [FX_WAITS_SOCKET_ROOM] = "room in a socket",
	    [FX_WAITS_CALLER] = "somebody who connects",
	    [FX_WAITS_ACCEPTED] = "a connection to be accepted",
	    [FX_WAITS_ANY] = "any of some descriptors",
	    [FX_WAITS_UNKNOWN] = "a futex",
	};

	return texts[wait];
}
