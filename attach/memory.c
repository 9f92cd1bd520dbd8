/* SPDX-License-Identifier: MIT */
#include "attach/memory.h"

#include <sys/uio.h>

bool fx_memory_read(pid_t pid, uint64_t at, void *to, size_t size)
{
	struct iovec here = {to, size}, there = {(void *)(uintptr_t)at, size};

	return process_vm_readv(pid, &here, 1, &there, 1, 0) == (ssize_t)size;
}

bool fx_memory_write(pid_t pid, uint64_t at, const void *from, size_t size)
{
	struct iovec here = {(void *)(uintptr_t)from, size}, there = {(void *)(uintptr_t)at, size};

	return process_vm_writev(pid, &here, 1, &there, 1, 0) == (ssize_t)size;
}
