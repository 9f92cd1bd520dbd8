/* SPDX-License-Identifier: MIT */
/*
 * Locks of files: flock(), record locks of processes, and those of open files (F_OFD_SETLK). Who has one next is not known to any process, so
 * each tells the manager what it does (enum fx_file_lock_kind, engine/layout.h), whether anybody waits or not; and
 * manager/archive/file-locks.h draws. Which file it is, is asked before each call: device and inode.
 */
#ifndef FX_PRELOAD_FILE_LOCKS_H
#define FX_PRELOAD_FILE_LOCKS_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/provider/engine.h"

/* A call in work. */
struct fx_file_lock {
	uint64_t begin; /* ticks; 0: nothing is told of it */
	uint64_t key;
	uint64_t first, last;
	int32_t owner;
	bool frees, waits;
	bool closes; /* and gives back record locks */
	uint8_t
	    alone; /* and gives back those that the descriptor had, which are told of as this one's: */
	int fd;
};

/* fcntl(fd, command, lock), of the commands that set one; or flock(fd, operation). Nothing is told unless calls are recorded. */
struct fx_file_lock fx_record_lock_begin(int fd, int command, const void *lock);
struct fx_file_lock fx_flock_begin(int fd, int operation);

/* The process whose locks a close() may give back: it had some; 0: none. */
extern int fx_record_locks_of;

/*
 * A lock of flock() or of an open file goes when nothing leads to what was opened any more, in any process. Who else leads there no process
 * can know, unless it has opened that itself, and has never made a child, nor sent or got descriptors: then what it closes, or
 * its end, gives back the lock. This is to be called before anything of that kind; it is believed of a process once and for all.
 */
void fx_files_spread(void);

/* Whether a close() may be one that gives back record locks: any descriptor of the file takes all that the process has of it. */
fx_hot bool fx_close_may_free(void)
{
	/* relaxed: who has a lock has set it before */
	int of = fx_load_relaxed(&fx_record_locks_of);

	return fx_unlikely(of != 0) && of == fx_engine.pid;
}

/* The descriptor is about to be closed; fx_file_lock_end() follows. */
struct fx_file_lock fx_close_begin(int fd);

/* It was not, as dup2() says. */
void fx_close_failed(struct fx_file_lock *lock);

/* Many are, and which is not told: any file that the process has locked may be among them. */
void fx_close_many(void);

/* The call is over; it has failed, or not. Keeps errno. */
void fx_file_lock_end(const struct fx_file_lock *lock, bool failed);

/* Locks were changed in a way that is not told (lockf). */
void fx_file_lock_not_said(int fd);

#endif
