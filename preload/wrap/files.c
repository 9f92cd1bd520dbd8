/* SPDX-License-Identifier: MIT */
/* Files and file systems: wrappers of the generic shape. */
#include "preload/call/call.h"
#include "preload/show/fdtable.h"
#include "preload/host/real.h"

/* Beside the range of close_range(), which glibc 2.34 has first. */
#ifndef CLOSE_RANGE_CLOEXEC
#define CLOSE_RANGE_CLOEXEC 4u
#endif

static int fx_call_close_range(unsigned first, unsigned last, int flags)
{
	if (!((unsigned)flags & CLOSE_RANGE_CLOEXEC))
		fx_fd_forget_range(first, last);
	return FX_REAL(close_range)(first, last, flags);
}

static void fx_call_closefrom(int first)
{
	fx_fd_forget_range(first < 0 ? 0 : (unsigned)first, UINT32_MAX);
	FX_REAL(closefrom)(first);
}

static int fcntl_done(int fd, int command, int ret)
{
	if (command == F_DUPFD || command == F_DUPFD_CLOEXEC)
		fx_fd_copied(fd, ret);
	return ret;
}

static int fx_call_fcntl(int fd, int command, long arg)
{
	return fcntl_done(fd, command, FX_REAL(fcntl)(fd, command, arg));
}

static int fx_call_fcntl64(int fd, int command, long arg)
{
	return fcntl_done(fd, command, FX_REAL(fcntl64)(fd, command, arg));
}

#include "preload/unit-files.inc"
