/* SPDX-License-Identifier: MIT */
/* Mappings, and memory and messages that processes share. Where something else is mapped, locks are others. */
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/shm.h>

#include "preload/call/call.h"
#include "preload/call/shares.h"
#include "preload/host/real.h"
#include "preload/show/fdtable.h"

static void *fx_call_mmap(void *addr, size_t length, int prot, int flags, int fd, off_t offset)
{
	if (flags & MAP_FIXED)
		fx_share_forget(addr, length);
	if (!(flags & MAP_ANONYMOUS))
		fx_fd_doubled(fd);
	return FX_REAL(mmap)(addr, length, prot, flags, fd, offset);
}

static void *fx_call_mmap64(void *addr, size_t length, int prot, int flags, int fd, off_t offset)
{
	if (flags & MAP_FIXED)
		fx_share_forget(addr, length);
	if (!(flags & MAP_ANONYMOUS))
		fx_fd_doubled(fd);
	return FX_REAL(mmap64)(addr, length, prot, flags, fd, offset);
}

static int fx_call_munmap(void *addr, size_t length)
{
	fx_share_forget(addr, length);
	return FX_REAL(munmap)(addr, length);
}

static void *fx_call_mremap(void *addr, size_t old_length, size_t length, int flags, void *new_addr)
{
	fx_share_forget(addr, old_length);
	if (flags & MREMAP_FIXED)
		fx_share_forget(new_addr, length);
	return FX_REAL(mremap)(addr, old_length, length, flags, new_addr);
}

/* How large a segment is, is not said: all that lies above. */
static void *fx_call_shmat(int shmid, const void *addr, int flags)
{
	if (flags & SHM_REMAP)
		fx_share_forget(addr, SIZE_MAX);
	return FX_REAL(shmat)(shmid, addr, flags);
}

static int fx_call_shmdt(const void *addr)
{
	fx_share_forget(addr, SIZE_MAX);
	return FX_REAL(shmdt)(addr);
}

static int fx_call_sem_close(sem_t *sem)
{
	fx_share_forget(sem, sizeof(*sem));
	return FX_REAL(sem_close)(sem);
}

#include "preload/unit-mappings.inc"
