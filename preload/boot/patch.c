/* SPDX-License-Identifier: MIT */
#include "preload/boot/patch.h"

#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdint.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>

#include "base/compiler.h"
#include "base/syscall.h"
#include "engine/provider/engine.h"
#include "preload/call/call.h"
#include "preload/hooks/entries.h"
#include "preload/hooks/nops.h"
#include "preload/host/eh-frame.h"
#include "preload/host/lookup.h"

#if defined(__x86_64__)

#define CALL 0xe8u
#define NOP  0x90u

/* A call reaches this far, from any place in a module. */
#define REACH (UINT64_C(1) << 31)

/* Where a page is looked for: so far below what is to reach it, in such steps. */
#define STEP  (UINT64_C(1) << 20)
#define STEPS 1024u

/* Pages that calls reach, with a jump to the way (entry-ways.c), which may lie further off. */
#define BRIDGES_MAX 64u
static uint64_t bridges[BRIDGES_MAX];
static unsigned bridge_count;

/* Modules that were there from the start; they stay. */
static unsigned first_count;

struct segment {
	uint64_t start, end;
};

/* A module while it is looked at. */
struct patched {
	struct segment code; /* the segment that is executed; empty: none, or several */
	const uint8_t *tables;
	uint64_t bridge;
	unsigned room; /* functions that have it */
};

/* --- The bridge ----------------------------------------------------------------------------------- */

static bool bridge_reaches(uint64_t bridge, const struct segment *code)
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

/* jmp *0(%rip), and the address behind it. */
static bool bridge_write(uint64_t bridge, uint64_t page)
{
	static const uint8_t jump[6] = {0xff, 0x25};
	const uint64_t way = (uint64_t)(uintptr_t)fx_entry_patched;

	memcpy((void *)(uintptr_t)bridge, jump, sizeof(jump));
	memcpy((void *)(uintptr_t)(bridge + sizeof(jump)), &way, sizeof(way));
	return fx_syscall3(SYS_mprotect, bridge, page, PROT_READ | PROT_EXEC) == 0;
}

/* Below the module: above the program's own lies its heap, which is to grow. */
static uint64_t bridge_make(const struct segment *code)
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

static uint64_t bridge_find(const struct segment *code)
{
	for (unsigned i = 0; i < bridge_count; i++) {
		if (bridge_reaches(bridges[i], code))
			return bridges[i];
	}
	return bridge_make(code);
}

/* --- Functions ------------------------------------------------------------------------------------ */

/* The room of a function that begins at `start`; NULL: it has none. */
static uint8_t *patch_room(const struct patched *m, uint64_t start, size_t *ret_size)
{
	if (start < m->code.start || start >= m->code.end)
		return NULL;
	return fx_nops_room((uint8_t *)(uintptr_t)start, m->code.end - start, ret_size);
}

static void patch_count(void *opaque, uint64_t start)
{
	struct patched *m = opaque;
	size_t size;

	m->room += patch_room(m, start, &size) != NULL;
}

static void patch_write(void *opaque, uint64_t start)
{
	struct patched *m = opaque;
	size_t size;
	uint8_t *at = patch_room(m, start, &size);
	int32_t distance;

	if (!at)
		return;
	distance = (int32_t)(m->bridge - ((uint64_t)(uintptr_t)at + FX_NOPS_CALL));
	at[0] = CALL;
	memcpy(at + 1, &distance, sizeof(distance));
	memset(at + FX_NOPS_CALL, NOP, size - FX_NOPS_CALL);
}

/* --- Modules -------------------------------------------------------------------------------------- */

static bool patch_is_alone(void)
{
	static const char field[] = "\nThreads:\t1\n";
	char status[4096];
	long fd = fx_syscall4(SYS_openat, AT_FDCWD, "/proc/self/status", O_RDONLY | O_CLOEXEC, 0);
	long length;

	if (fx_syscall_failed(fd))
		return false;
	length = fx_syscall3(SYS_read, fd, status, sizeof(status) - 1);
	fx_syscall1(SYS_close, fd);
	if (length <= 0)
		return false;
	status[length] = 0;
	return strstr(status, field) != NULL;
}

static struct patched patch_look(const struct dl_phdr_info *info)
{
	struct patched m = {.tables = NULL};
	unsigned segments = 0;

	for (unsigned i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];
		uint64_t start = info->dlpi_addr + p->p_vaddr;

		if (p->p_type == PT_GNU_EH_FRAME)
			m.tables = (const uint8_t *)(uintptr_t)start;
		if (p->p_type != PT_LOAD || !(p->p_flags & PF_X))
			continue;
		segments++;
		if ((p->p_flags & (PF_R | PF_W)) == PF_R)
			m.code = (struct segment){start, start + p->p_filesz};
	}
	if (segments != 1)
		m.code.end = m.code.start;
	return m;
}

/* NULL: it is done; or why not. */
static const char *patch_module(struct patched *m)
{
	const uint64_t page = getauxval(AT_PAGESZ);
	const uint64_t first = m->code.start & ~(page - 1);
	const uint64_t size = FX_ALIGN_UP(m->code.end, page) - first;

	if (!patch_is_alone())
		return "the process had other threads";
	m->bridge = bridge_find(&m->code);
	if (!m->bridge)
		return "there is no room near it";
	if (fx_syscall3(SYS_mprotect, first, size, PROT_READ | PROT_WRITE | PROT_EXEC) != 0)
		return "its code may not be written";
	fx_fde_starts(m->tables, patch_write, m);
	fx_syscall3(SYS_mprotect, first, size, PROT_READ | PROT_EXEC);
	return NULL;
}

static void patch_tell(const char *path, const struct patched *m, const char *why)
{
	enum { WORDS = 2 };
	struct fx_thread *t = fx_thread_on(UINT32_MAX);
	uint64_t words[WORDS + 2 * FX_TEXT_WORDS(FX_TEXT_MAX) + 4];
	struct fx_call instant = {.record = words, .next = words + WORDS};
	unsigned count;

	if (!t)
		return;
	words[1] = fx_thread_now(t);
	if (path[0])
		fx_arg_readable_text(&instant, FX_STR_module, path);
	fx_arg_size(&instant, FX_STR_functions, m->room);
	if (why)
		fx_arg_readable_text(&instant, FX_STR_why, why);
	count = (unsigned)(instant.next - words);
	fx_words_write(t, words, count,
		       FX_EVENT_HEADER(FX_EVENT_INSTANT, count, instant.nargs, FX_STR_process,
				       why ? FX_STR_not_patched : FX_STR_patched));
}

static bool patch_has(const struct patched *m, const void *place)
{
	uint64_t address = (uint64_t)(uintptr_t)place;

	return address >= m->code.start && address < m->code.end;
}

/* What the hooks themselves need stays as it is: this library, the dynamic linker, and libc, whose assembly may begin with no-ops. */
static bool patch_is_ours(const struct dl_phdr_info *info, const struct patched *m)
{
	return info->dlpi_addr == getauxval(AT_BASE) ||
	       patch_has(m, (const void *)fx_patch_begin) || patch_has(m, fx_lookup("_exit", ""));
}

struct patch_walk {
	unsigned skip, seen;
};

static int patch_one(struct dl_phdr_info *info, size_t size, void *opaque)
{
	struct patch_walk *walk = opaque;
	struct patched m;

	(void)size;
	if (walk->seen++ < walk->skip)
		return 0;
	m = patch_look(info);
	if (!m.tables || patch_is_ours(info, &m))
		return 0;
	fx_fde_starts(m.tables, patch_count, &m);
	if (m.room)
		patch_tell(info->dlpi_name, &m, patch_module(&m));
	return 0;
}

static void patch_walk(void)
{
	struct patch_walk walk = {.skip = first_count};

	dl_iterate_phdr(patch_one, &walk);
	if (!first_count)
		first_count = walk.seen;
}

bool fx_patch_is_wanted(void)
{
	return first_count != 0;
}

void fx_patch_begin(void)
{
	if (fx_engine.page->patch)
		patch_walk();
}

void fx_patch_loaded(void)
{
	if (first_count)
		patch_walk();
}

#else

/* Room for a call is made otherwise on other machines. */
bool fx_patch_is_wanted(void)
{
	return false;
}

void fx_patch_begin(void)
{
}

void fx_patch_loaded(void)
{
}

#endif
