/* SPDX-License-Identifier: MIT */
/* Files and file systems: wrappers of the generic shape. */
#include "preload/call/call.h"
#include "preload/call/file-locks.h"
#include "preload/show/fdtable.h"
#include "preload/host/real.h"

/* Beside the range of close_range(), which glibc 2.34 has first. */
#ifndef CLOSE_RANGE_UNSHARE
#define CLOSE_RANGE_UNSHARE 2u
#endif
#ifndef CLOSE_RANGE_CLOEXEC
#define CLOSE_RANGE_CLOEXEC 4u
#endif

static int fx_call_close_range(unsigned first, unsigned last, int flags)
{
	if ((unsigned)flags & CLOSE_RANGE_UNSHARE)
		fx_files_spread();
	if (!((unsigned)flags & CLOSE_RANGE_CLOEXEC)) {
		fx_close_many();
		fx_fd_forget_range(first, last);
	}
	return FX_REAL(close_range)(first, last, flags);
}

static void fx_call_closefrom(int first)
{
	fx_close_many();
	fx_fd_forget_range(first < 0 ? 0 : (unsigned)first, UINT32_MAX);
	FX_REAL(closefrom)(first);
}

static int fcntl_done(int fd, int command, int ret)
{
	if (command == F_DUPFD || command == F_DUPFD_CLOEXEC)
		fx_fd_copied(fd, ret);
	return ret;
}

/* --- Locks ------------------------------------------------------------------------------------ */

static bool sets_lock(int command)
{
	return command == F_SETLK || command == F_SETLKW || command == F_OFD_SETLK ||
	       command == F_OFD_SETLKW;
}

/* A call of fcntl() that sets a lock, by this function. */
static fx_cold int fcntl_locks(__typeof__(fcntl) *real, int fd, int command, long arg)
{
	struct fx_file_lock lock = fx_record_lock_begin(fd, command, (const void *)arg);
	int ret = real(fd, command, arg);

	fx_file_lock_end(&lock, ret < 0);
	return ret;
}

/* What may give back locks of the process. */
static fx_cold int close_frees(int fd)
{
	struct fx_file_lock lock = fx_close_begin(fd);
	int ret;

	fx_fd_forget(fd);
	ret = FX_REAL(close)(fd);
	fx_file_lock_end(&lock, ret < 0);
	return ret;
}

static int fx_call_close(int fd)
{
	if (fx_close_may_free())
		return close_frees(fd);
	fx_fd_forget(fd);
	return FX_REAL(close)(fd);
}

/* They close what had the number before. */
static struct fx_file_lock copy_begin(int fd, int newfd)
{
	if (fd == newfd || !fx_close_may_free())
		return (struct fx_file_lock){0};
	return fx_close_begin(newfd);
}

static int copy_end(struct fx_file_lock *lock, int fd, int ret)
{
	if (ret < 0)
		fx_close_failed(lock);
	fx_file_lock_end(lock, false);
	fx_fd_copied(fd, ret);
	return ret;
}

static int fx_call_dup2(int fd, int newfd)
{
	struct fx_file_lock lock = copy_begin(fd, newfd);

	return copy_end(&lock, fd, FX_REAL(dup2)(fd, newfd));
}

static int fx_call_dup3(int fd, int newfd, int flags)
{
	struct fx_file_lock lock = copy_begin(fd, newfd);

	return copy_end(&lock, fd, FX_REAL(dup3)(fd, newfd, flags));
}

static int fx_call_fcntl(int fd, int command, long arg)
{
	if (sets_lock(command))
		return fcntl_locks(FX_REAL(fcntl), fd, command, arg);
	return fcntl_done(fd, command, FX_REAL(fcntl)(fd, command, arg));
}

static int fx_call_fcntl64(int fd, int command, long arg)
{
	if (sets_lock(command))
		return fcntl_locks(FX_REAL(fcntl64), fd, command, arg);
	return fcntl_done(fd, command, FX_REAL(fcntl64)(fd, command, arg));
}

static int fx_call_flock(int fd, int operation)
{
	struct fx_file_lock lock = fx_flock_begin(fd, operation);
	int ret = FX_REAL(flock)(fd, operation);

	fx_file_lock_end(&lock, ret < 0);
	return ret;
}

/* It is of bytes from where the descriptor stands. */
static int fx_call_lockf(int fd, int command, off_t length)
{
	fx_file_lock_not_said(fd);
	return FX_REAL(lockf)(fd, command, length);
}

static int fx_call_lockf64(int fd, int command, off_t length)
{
	fx_file_lock_not_said(fd);
	return FX_REAL(lockf64)(fd, command, length);
}

#include "preload/unit-files.inc"
