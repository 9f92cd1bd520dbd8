/* SPDX-License-Identifier: MIT */
#include "preload/boot/bridge.h"

#include <stdbool.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>

#include "base/syscall.h"
#include "preload/hooks/entries.h"
#include "preload/hooks/sleds.h"

#if defined(__x86_64__)

/* A call reaches this far. */
#define REACH (UINT64_C(1) << 31)

/* Where a page is looked for: so far below what is to reach it, in such steps. */
#define STEP  (UINT64_C(1) << 20)
#define STEPS 1024u

#define BRIDGES_MAX 64u
static uint64_t bridges[BRIDGES_MAX];
static unsigned bridge_count;

/*
 * A page begins with the lowest address that it reaches and those of the ways; behind them stands the code to each:
 *
 *	pushfq			to the tail's alone
 *	addq lowest(%rip), %r10	to those of sleds
 *	jmp *way(%rip)
 */
#define CODE_START 64u
#define CODE_SIZE  16u

static bool bridge_reaches(uint64_t bridge, const struct fx_code *code)
{
	uint64_t low = bridge < code->start ? bridge : code->start;
	uint64_t high = bridge > code->end ? bridge : code->end;

	return high - low < REACH - STEP;
}

/* A page at `hint` and nowhere else; 0: it is taken. (Kernels before 4.17 take the flag for a wish.) */
static uint64_t bridge_map(uint64_t hint, uint64_t page)
{
	long p = fx_syscall6(SYS_mmap, (long)hint, (long)page, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);

	if (fx_syscall_failed(p))
		return 0;
	if ((uint64_t)p != hint) {
		fx_syscall2(SYS_munmap, p, page);
		return 0;
	}
	return hint;
}

/* An instruction whose last four bytes are the distance to word `word` of the page. Returns where the next one begins. */
static uint8_t *bridge_put(uint8_t *page, uint8_t *at, const uint8_t *what, size_t length,
			   unsigned word)
{
	int32_t distance;

	memcpy(at, what, length);
	at += length + sizeof(distance);
	distance = (int32_t)(page + word * sizeof(uint64_t) - at);
	memcpy(at - sizeof(distance), &distance, sizeof(distance));
	return at;
}

static bool bridge_write(uint64_t bridge, uint64_t size)
{
	static void (*const ways[FX_BRIDGE_WAYS])(void) = {
	    [FX_BRIDGE_ENTRY] = fx_entry_patched,
	    [FX_BRIDGE_SLED_ENTER] = fx_sled_way_enter,
	    [FX_BRIDGE_SLED_LEAVE] = fx_sled_way_leave,
	    [FX_BRIDGE_SLED_TAIL] = fx_sled_way_tail,
	};
	static const uint8_t pushfq = 0x9c, add[] = {0x4c, 0x03, 0x15}, jump[] = {0xff, 0x25};
	const uint64_t lowest = bridge - REACH;
	uint8_t *page = (uint8_t *)(uintptr_t)bridge;

	memcpy(page, &lowest, sizeof(lowest));
	for (unsigned way = 0; way < FX_BRIDGE_WAYS; way++) {
		const uint64_t to = (uint64_t)(uintptr_t)ways[way];
		uint8_t *at = page + CODE_START + CODE_SIZE * way;

		memcpy(page + (1 + way) * sizeof(to), &to, sizeof(to));
		if (way == FX_BRIDGE_SLED_TAIL)
			*at++ = pushfq;
		if (way != FX_BRIDGE_ENTRY)
			at = bridge_put(page, at, add, sizeof(add), 0);
		bridge_put(page, at, jump, sizeof(jump), 1 + way);
	}
	return fx_syscall3(SYS_mprotect, bridge, size, PROT_READ | PROT_EXEC) == 0;
}

/* Below the module: above the program's own lies its heap, which is to grow. */
static uint64_t bridge_make(const struct fx_code *code)
{
	const uint64_t page = getauxval(AT_PAGESZ);
	uint64_t bridge = 0, hint = code->start & ~(STEP - 1);

	if (bridge_count == BRIDGES_MAX)
		return 0;
	for (unsigned i = 0; i < STEPS && !bridge && hint > 2 * STEP; i++) {
		hint -= STEP;
		bridge = bridge_reaches(hint, code) ? bridge_map(hint, page) : 0;
	}
	if (!bridge)
		return 0;
	if (!bridge_write(bridge, page)) {
		fx_syscall2(SYS_munmap, bridge, page);
		return 0;
	}
	bridges[bridge_count++] = bridge;
	return bridge;
}

uint64_t fx_bridge_find(const struct fx_code *code)
{
	for (unsigned i = 0; i < bridge_count; i++) {
		if (bridge_reaches(bridges[i], code))
			return bridges[i];
	}
	return bridge_make(code);
}

int32_t fx_bridge_distance(uint64_t bridge, enum fx_bridge_way way, uint64_t behind)
{
	return (int32_t)(bridge + CODE_START + CODE_SIZE * way - behind);
}

uint32_t fx_bridge_offset(uint64_t bridge, uint64_t function)
{
	return (uint32_t)(function - (bridge - REACH));
}

#endif
