/* SPDX-License-Identifier: MIT */
/* Functions of libc that do more than one system call. */
#include "preload/call/call.h"
#include "preload/call/file-locks.h"
#include "preload/host/real.h"

/* Bytes before the buffer in a DIR, at most; an entry takes 24 or more. */
#define DIR_HEADER_MAX 64u

/* Whether readdir() had to ask the kernel: then its entry is the first of the buffer, which lies right
 * behind what else is in a DIR. At the end it asks too. */
static bool fx_directory_read(const DIR *dir, const void *entry)
{
	return !entry || (uintptr_t)entry - (uintptr_t)dir <= DIR_HEADER_MAX;
}

static int fx_call_closedir(DIR *dir)
{
	struct fx_file_lock lock = {0};
	int ret, fd = dir ? FX_REAL(dirfd)(dir) : -1;

	if (fx_close_may_free())
		lock = fx_close_begin(fd);
	fx_fd_forget(fd);
	ret = FX_REAL(closedir)(dir);
	fx_file_lock_end(&lock, false);
	return ret;
}

/* The child returns. */
static int fx_call_daemon(int keep_directory, int keep_streams)
{
	bool guarded = fx_fork_guard();
	int ret;

	fx_files_spread();
	ret = FX_REAL(daemon)(keep_directory, keep_streams);
	fx_fork_leave(guarded);
	return ret;
}

/* They make children inside themselves. */
static int fx_call_system(const char *command)
{
	fx_files_spread();
	return FX_REAL(system)(command);
}

static int fx_call_wordexp(const char *words, wordexp_t *result, int flags)
{
	fx_files_spread();
	return FX_REAL(wordexp)(words, result, flags);
}

#include "preload/unit-library.inc"
