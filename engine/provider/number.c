/* SPDX-License-Identifier: MIT */
#include "engine/provider/number.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/prctl.h>

#include "base/atomic.h"
#include "base/handle.h"
#include "base/syscall.h"

#ifndef PR_GET_TID_ADDRESS
#define PR_GET_TID_ADDRESS 40
#endif

/* libc's description of a thread is no larger, and lies at the thread pointer: behind it on x86-64, before it on
 * aarch64. */
#define NEAR 4096

/* From where libc's list of robust mutexes begins to the number, in all versions: the list's first link backwards lies
 * between them, and a number that is not in use. */
#define FROM_ROBUST_LIST (-16)

static int64_t offset; /* from the thread pointer; 0: not known */

static int32_t number_at(int64_t distance)
{
	return *(const int32_t *)(uintptr_t)(fx_thread_pointer() + (uint64_t)distance);
}

/* Takes `address` for the place if the number is there. */
static void number_try(uint64_t address)
{
	int64_t distance = (int64_t)(address - fx_thread_pointer());

	if (distance > -NEAR && distance < NEAR && distance && distance % 4 == 0 &&
	    number_at(distance) == fx_gettid())
		fx_store_relaxed(&offset, distance); /* the same for all threads */
}

void fx_number_learn(void)
{
	static bool asked; /* what was not known before a filter is not asked for under it */
	uint64_t address = 0;
	size_t size;

	if (__atomic_exchange_n(&asked, true, __ATOMIC_RELAXED))
		return;
	/* The word that the kernel clears when the thread is gone. Not all kernels tell. */
	if (!fx_load_relaxed(&offset) && fx_syscall2(SYS_prctl, PR_GET_TID_ADDRESS, &address) == 0)
		number_try(address);
	if (!fx_load_relaxed(&offset) &&
	    fx_syscall3(SYS_get_robust_list, 0, &address, &size) == 0 && address)
		number_try(address + FROM_ROBUST_LIST);
}

/* libc's description of a thread is larger than that, and lies behind the thread pointer. */
#define FIND_BYTES 1024

void fx_number_find(uint32_t number)
{
#if defined(__x86_64__)
	int64_t found = 0;

	for (int64_t distance = 4; distance < FIND_BYTES; distance += 4) {
		if (number_at(distance) != (int32_t)number)
			continue;
		if (found)
			return;
		found = distance;
	}
	fx_store_relaxed(&offset, found); /* the same for all threads */
#else
	(void)number;
#endif
}

uint32_t fx_number(void)
{
	int64_t distance = fx_load_relaxed(&offset);
	int32_t number = distance ? number_at(distance) : 0;

	return number > 0 ? (uint32_t)number : 0;
}
