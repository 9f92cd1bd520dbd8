/* SPDX-License-Identifier: MIT */
#include "preload/call/file-locks.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include "preload/call/objects.h"
#include "preload/call/waiting.h"
#include "preload/call/words.h"
#include "preload/host/peek.h"
#include "preload/show/args-plain.h"
#include "preload/show/fdname.h"
#include "preload/show/fdtable.h"

#define TO_THE_END UINT64_MAX

int fx_record_locks_of;

/* The files of which the process has had such, by key. */
static struct fx_objects record_locked FX_LARGE;
static bool record_locked_more; /* or others */

static uint64_t file_mix(uint64_t key, uint64_t word)
{
	key = (key ^ word) * 0x9e3779b97f4a7c15ull;
	key = (key ^ key >> 29) * 0xbf58476d1ce4e5b9ull;
	return key ^ key >> 32;
}

/* 0: it is not known; *ret_is_none: since there is no such descriptor. */
static uint64_t file_key(int fd, bool *ret_is_none)
{
	struct statx file;
	long r = fx_engine_may(FX_ASK_LOOK) ? fx_fd_stat(fd, &file) : -EPERM;

	*ret_is_none = r == -EBADF;
	if (r != 0)
		return 0;
	return file_mix((uint64_t)file.stx_dev_major << 32 | file.stx_dev_minor, file.stx_ino) | 1;
}

/* The calling thread, if calls are recorded. */
static struct fx_thread *file_lock_thread(void)
{
	return fx_thread_on(FX_CAT_SYSCALL);
}

static void file_lock_tell(const struct fx_file_lock *lock, enum fx_file_lock_kind kind)
{
	struct fx_thread *t = file_lock_thread();
	const uint64_t words[FX_FILE_LOCK_WORDS] = {
	    FXT_PUT(RECORD_TYPE, FXT_RECORD_KERNEL_OBJECT) |
		FXT_PUT(RECORD_SIZE, FX_FILE_LOCK_WORDS) |
		FXT_PUT(KERNEL_OBJECT_TYPE, FXT_OBJECT_PROCESS) | FXT_PUT(KERNEL_OBJECT_NARGS, 7),
	    0,
	    FX_ARG_HEADER(UINT64, 2, 0, 0),
	    fx_now(),
	    FX_ARG_HEADER(INT32, 1, 0, (uint32_t)kind),
	    FX_ARG_HEADER(INT32, 1, 0, (uint32_t)lock->owner),
	    FX_ARG_HEADER(UINT64, 2, 0, 0),
	    lock->begin,
	    FX_ARG_HEADER(UINT64, 2, 0, 0),
	    lock->key,
	    FX_ARG_HEADER(UINT64, 2, 0, 0),
	    lock->first,
	    FX_ARG_HEADER(UINT64, 2, 0, 0),
	    lock->last};

	if (t)
		fx_words_write(t, words, FX_FILE_LOCK_WORDS, words[0]);
}

/* The bytes that a lock is of. False: that depends on where the file or the descriptor stands. */
static bool record_range(const struct flock *lock, struct fx_file_lock *ret)
{
	int64_t first = lock->l_start, length = lock->l_len;

	if (lock->l_whence != SEEK_SET || first < 0)
		return false;
	ret->first = (uint64_t)first;
	ret->last = TO_THE_END;
	if (length > 0)
		ret->last = (uint64_t)first + (uint64_t)length - 1;
	if (length >= 0)
		return true;
	if (first + length < 0)
		return false;
	ret->first = (uint64_t)(first + length);
	ret->last = (uint64_t)first - 1;
	return true;
}

/* --- What descriptors lead to ------------------------------------------------------------------- */

/* The process whose descriptors others may have, and the one that has told of locks that go with its end; 0: none. */
static int spread_of, alone_of;

/* Locks that only this process can have may be had by these numbers: ALONE_. */
static uint8_t alone_had[FX_FDS_ASKED] FX_LARGE;

#define ALONE_FLOCK 1u
#define ALONE_OFD   2u

static bool is_spread(void)
{
	/* relaxed: pairs with the exchange in fx_files_spread(); what comes between two calls of threads comes in either order */
	return fx_load_relaxed(&spread_of) == fx_engine.pid;
}

void fx_files_spread(void)
{
	const struct fx_file_lock lock = {.owner = FX_FILE_LOCK_OF_PROCESS};
	int before = fx_load_relaxed(&spread_of);

	/* acquire and release: either the lock that another thread asks for finds this, or this finds that it asks */
	if (before == fx_engine.pid || !fx_cas_acq_rel(&spread_of, &before, fx_engine.pid))
		return;
	if (fx_load_relaxed(&alone_of) == fx_engine.pid)
		file_lock_tell(&lock, FX_FILE_LOCK_SPREADS);
}

/* A lock of what the descriptor leads to is about to be asked for. */
static void alone_look(struct fx_file_lock *lock, int fd)
{
	int before = fx_load_relaxed(&alone_of);

	if ((unsigned)fd >= FX_FDS_ASKED || !fx_fd_is_single(fd) || is_spread())
		return;
	/* acquire and release: see fx_files_spread() */
	if (before != fx_engine.pid)
		fx_cas_acq_rel(&alone_of, &before, fx_engine.pid);
	if (is_spread())
		return;
	/* relaxed: who closes it has seen it locked */
	fx_store_relaxed(
	    &alone_had[fd],
	    (uint8_t)(fx_load_relaxed(&alone_had[fd]) |
		      (lock->owner & FX_FILE_LOCK_OF_FLOCK ? ALONE_FLOCK : ALONE_OFD)));
	lock->owner |= FX_FILE_LOCK_OF_ALONE;
	fx_store_relaxed(&fx_record_locks_of, fx_engine.pid);
}

/* The locks that go when the descriptor is closed: ALONE_. The next one of its number has none. */
static uint8_t alone_take(int fd)
{
	uint8_t had;

	if ((unsigned)fd >= FX_FDS_ASKED)
		return 0;
	had = fx_load_relaxed(&alone_had[fd]);
	if (!had)
		return 0;
	fx_store_relaxed(&alone_had[fd], 0);
	/* Whether another number still has it is not followed; so it does not go with the process's end for sure. */
	if (!fx_fd_is_single(fd))
		fx_files_spread();
	return is_spread() ? 0 : had;
}

/* Another thread's call keeps open what is closed meanwhile, and another thread may make a copy or a child. */
static bool alone_is_sure(int fd)
{
	return fx_has_one_thread() && fx_fd_is_single(fd) && !is_spread();
}

/* Locks that the descriptor had. */
static void alone_tell(const struct fx_file_lock *lock, enum fx_file_lock_kind kind)
{
	struct fx_file_lock of = *lock;

	of.owner = 1 + lock->fd;
	if (lock->alone & ALONE_OFD)
		file_lock_tell(&of, kind);
	of.owner |= FX_FILE_LOCK_OF_FLOCK;
	if (lock->alone & ALONE_FLOCK)
		file_lock_tell(&of, kind);
}

/* Before the number can be another one's. */
static void alone_begin(struct fx_file_lock *lock)
{
	if (!lock->key)
		fx_files_spread();
	else if (alone_is_sure(lock->fd))
		return;
	else
		alone_tell(lock, FX_FILE_LOCK_MAY_GO);
	lock->alone = 0;
}

/* --- Calls ----------------------------------------------------------------------------------------- */

static void file_lock_begin(struct fx_file_lock *lock, int fd, bool is_said, bool is_shared)
{
	bool is_none;

	lock->key = file_key(fd, &is_none);
	if (is_none) {
		lock->begin = 0; /* the call will say so, too */
	} else if (!lock->key || !is_said) {
		file_lock_tell(lock, FX_FILE_LOCK_NOT_SAID);
		lock->begin = 0;
	} else if (!lock->frees) {
		file_lock_tell(lock, is_shared ? FX_FILE_LOCK_WANTS_SHARED : FX_FILE_LOCK_WANTS);
	}
}

static volatile void *file_object(uint64_t key)
{
	return (volatile void *)(uintptr_t)key;
}

/* From now on it is told when it is closed. */
static void record_lock_note(uint64_t key)
{
	if (!fx_objects_have(&record_locked, file_object(key)))
		fx_objects_set(&record_locked, file_object(key), true);
	if (!fx_objects_have(&record_locked, file_object(key)))
		fx_store_relaxed(&record_locked_more, true);
	fx_store_relaxed(&fx_record_locks_of, fx_engine.pid);
}

struct fx_file_lock fx_record_lock_begin(int fd, int command, const void *opaque)
{
	const struct flock *asked = opaque;
	struct fx_file_lock lock = {.owner = FX_FILE_LOCK_OF_PROCESS};
	struct flock copy;

	if (!file_lock_thread())
		return lock;
	lock.begin = fx_now();
	if (command == F_OFD_SETLK || command == F_OFD_SETLKW)
		lock.owner = 1 + fd;
	lock.waits = command == F_SETLKW || command == F_OFD_SETLKW;
	/* Nobody need have an address that is right. */
	if (fx_peek_copy(&copy, asked, sizeof(copy)) != sizeof(copy)) {
		lock.begin = 0;
		return lock;
	}
	lock.frees = copy.l_type == F_UNLCK;
	if (!lock.frees && lock.owner != FX_FILE_LOCK_OF_PROCESS)
		alone_look(&lock, fd);
	file_lock_begin(&lock, fd, record_range(&copy, &lock), copy.l_type == F_RDLCK);
	if (lock.begin && !lock.frees && lock.owner == FX_FILE_LOCK_OF_PROCESS)
		record_lock_note(lock.key);
	return lock;
}

struct fx_file_lock fx_close_begin(int fd)
{
	struct fx_file_lock lock = {
	    .owner = FX_FILE_LOCK_OF_PROCESS, .last = TO_THE_END, .frees = true};
	bool is_none;

	/* A forked child has none of the locks, which is known once it is attached. */
	if (!file_lock_thread() || !fx_close_may_free())
		return lock;
	lock.alone = alone_take(fd);
	/* Without record locks nobody asks which file it is. */
	if (!lock.alone && !fx_load_relaxed(&record_locked.used))
		return lock;
	lock.fd = fd;
	lock.begin = fx_now();
	lock.key = file_key(fd, &is_none);
	/* Each of the others is another file, or none. */
	lock.closes = lock.key ? fx_objects_have(&record_locked, file_object(lock.key)) ||
				     fx_load_relaxed(&record_locked_more)
			       : !is_none;
	if (lock.alone)
		alone_begin(&lock);
	if (lock.closes && !lock.key)
		file_lock_tell(&lock, FX_FILE_LOCK_NOT_SAID);
	if (!lock.key || (!lock.closes && !lock.alone))
		lock.begin = 0;
	return lock;
}

void fx_close_failed(struct fx_file_lock *lock)
{
	/* What it has is not known any more. */
	if (lock->alone)
		fx_files_spread();
	lock->begin = 0;
}

static void close_tell(volatile void *object)
{
	const struct fx_file_lock lock = {.begin = fx_now(),
					  .key = (uint64_t)(uintptr_t)object,
					  .owner = FX_FILE_LOCK_OF_PROCESS};

	file_lock_tell(&lock, FX_FILE_LOCK_NOT_SAID);
}

void fx_close_many(void)
{
	/* A forked child has none of the locks, which is known once it is attached. */
	if (!fx_close_may_free() || !file_lock_thread() || !fx_close_may_free())
		return;
	/* Nor is told which descriptors had one. */
	fx_files_spread();
	if (fx_load_relaxed(&record_locked_more))
		close_tell(NULL); /* any file */
	else
		fx_objects_each(&record_locked, close_tell);
}

/* close() closes, whatever it says. */
static void close_end(const struct fx_file_lock *lock)
{
	if (lock->closes)
		file_lock_tell(lock, FX_FILE_LOCK_CLOSES);
	/* A handler of a signal may have come between. */
	if (lock->alone)
		alone_tell(lock,
			   alone_is_sure(lock->fd) ? FX_FILE_LOCK_CLOSES : FX_FILE_LOCK_MAY_GO);
}

void fx_file_lock_end(const struct fx_file_lock *lock, bool failed)
{
	if (!lock->begin)
		return;
	if (lock->closes || lock->alone) {
		close_end(lock);
		return;
	}
	if (failed && lock->frees)
		return;
	file_lock_tell(lock, failed	   ? FX_FILE_LOCK_FAILS
			     : lock->frees ? FX_FILE_LOCK_FREES
			     : lock->waits ? FX_FILE_LOCK_HAS_WAITED
					   : FX_FILE_LOCK_HAS);
}

struct fx_file_lock fx_flock_begin(int fd, int operation)
{
	struct fx_file_lock lock = {.owner = (1 + fd) | FX_FILE_LOCK_OF_FLOCK, .last = TO_THE_END};
	int what = operation & ~LOCK_NB;

	if (!file_lock_thread() || fd < 0 ||
	    (what != LOCK_SH && what != LOCK_EX && what != LOCK_UN))
		return lock;
	lock.begin = fx_now();
	lock.frees = what == LOCK_UN;
	lock.waits = !(operation & LOCK_NB);
	if (!lock.frees)
		alone_look(&lock, fd);
	file_lock_begin(&lock, fd, true, what == LOCK_SH);
	return lock;
}

void fx_file_lock_not_said(int fd)
{
	struct fx_file_lock lock = {.begin = file_lock_thread() ? fx_now() : 0};

	if (lock.begin)
		file_lock_begin(&lock, fd, false, false);
}
