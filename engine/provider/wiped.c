/* SPDX-License-Identifier: MIT */
#include "engine/provider/wiped.h"

#include <stdint.h>
#include <sys/mman.h>

#include "base/atomic.h"
#include "base/compiler.h"
#include "base/syscall.h"

#define ADVICE_UNKNOWN 0x7ffffff1

/* One mapping, of which what is asked for is cut off; the constructor and the first attachment ask, one after the other. */
static char *wiped_room;
static size_t wiped_used;

static long map(void *at, int flags)
{
	return fx_syscall6(SYS_mmap, (long)(uintptr_t)at, FX_WIPED_SIZE, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | flags, -1, 0);
}

static void wiped_keep_out_of_dumps(long p)
{
	fx_syscall3(SYS_madvise, p, FX_WIPED_SIZE, MADV_DONTDUMP);
}

static bool wiped_room_make(void)
{
	long p = map(NULL, 0);

	if (fx_syscall_failed(p))
		return false;
	if (fx_syscall3(SYS_madvise, p, FX_WIPED_SIZE, MADV_WIPEONFORK) != 0) {
		fx_syscall2(SYS_munmap, p, FX_WIPED_SIZE);
		return false;
	}
	wiped_keep_out_of_dumps(p);
	wiped_room = (char *)p;
	return true;
}

bool fx_wiped_lies(void *at)
{
	if (wiped_room || fx_syscall3(SYS_madvise, at, FX_WIPED_SIZE, MADV_WIPEONFORK) != 0)
		return false;
	wiped_room = at;
	return true;
}

void *fx_wiped_map(size_t size)
{
	void *p;

	size = FX_ALIGN_UP(size, 4096);
	if (size > FX_WIPED_SIZE - wiped_used || (!wiped_room && !wiped_room_make()))
		return NULL;
	p = wiped_room + wiped_used;
	wiped_used += size;
	return p;
}

bool fx_wiped_renew(void)
{
	static char *last;
	char *now = wiped_room;

	if (!wiped_room_make())
		return false;
	if (last)
		fx_syscall3(SYS_madvise, last, FX_WIPED_SIZE, MADV_DONTNEED);
	last = now;
	wiped_used = 0;
	return true;
}

bool fx_wiped_by_hand(void)
{
	static uint32_t asked; /* 0: not yet, 1: the kernel wipes, 2: nobody does */

	if (!wiped_room)
		return false;
	/* relaxed: every thread that asks gets the same answer */
	if (!fx_load_relaxed(&asked)) {
		long known = fx_syscall3(SYS_madvise, wiped_room, 1, ADVICE_UNKNOWN);

		fx_store_relaxed(&asked, known == 0 ? 2 : 1);
	}
	return fx_load_relaxed(&asked) == 2;
}

void fx_wiped_wipe(void)
{
	if (!wiped_room)
		return;
	map(wiped_room, MAP_FIXED);
	wiped_keep_out_of_dumps((long)wiped_room);
}
