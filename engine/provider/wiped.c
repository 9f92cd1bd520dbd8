/* SPDX-License-Identifier: MIT */
#include "engine/provider/wiped.h"

#include <stdint.h>
#include <sys/mman.h>

#include "base/atomic.h"
#include "base/syscall.h"

#define ADVICE_UNKNOWN 0x7ffffff1

/* Made by the constructor and the first attachment, one after the other. */
static struct {
	void *begin;
	size_t size;
} mappings[FX_WIPED_MAX];
static unsigned count;

static long map(void *at, size_t size, int flags)
{
	return fx_syscall6(SYS_mmap, (long)(uintptr_t)at, (long)size, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | flags, -1, 0);
}

static void keep_out_of_dumps(long p, size_t size)
{
	fx_syscall3(SYS_madvise, p, size, MADV_DONTDUMP);
}

void *fx_wiped_map(size_t size)
{
	long p;

	if (count == FX_WIPED_MAX)
		return NULL;
	p = map(NULL, size, 0);
	if (p < 0 && p > -4096)
		return NULL;
	if (fx_syscall3(SYS_madvise, p, size, MADV_WIPEONFORK) != 0) {
		fx_syscall2(SYS_munmap, p, size);
		return NULL;
	}
	keep_out_of_dumps(p, size);
	mappings[count].begin = (void *)p;
	mappings[count++].size = size;
	return (void *)p;
}

bool fx_wiped_by_hand(void)
{
	static uint32_t asked; /* 0: not yet, 1: the kernel wipes, 2: nobody does */

	if (!count)
		return false;
	/* relaxed: whoever asks gets the same answer */
	if (!fx_load_relaxed(&asked)) {
		long known = fx_syscall3(SYS_madvise, mappings[0].begin, 1, ADVICE_UNKNOWN);

		fx_store_relaxed(&asked, known == 0 ? 2 : 1);
	}
	return fx_load_relaxed(&asked) == 2;
}

void fx_wiped_wipe(void)
{
	for (unsigned i = 0; i < count; i++) {
		map(mappings[i].begin, mappings[i].size, MAP_FIXED);
		keep_out_of_dumps((long)mappings[i].begin, mappings[i].size);
	}
}
