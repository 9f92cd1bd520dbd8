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
#include "preload/boot/bridge.h"
#include "preload/boot/sled-map.h"
#include "preload/call/call.h"
#include "preload/hooks/nops.h"
#include "preload/host/eh-frame.h"
#include "preload/host/lookup.h"

#if defined(__x86_64__)

#define CALL 0xe8u
#define NOP  0x90u

/* Modules that were there from the start; they stay. */
static unsigned first_count;

/* A module while it is looked at. */
struct patched {
	struct fx_code code; /* the segment that is executed; empty: none, or several */
	const uint8_t *tables;
	uint64_t bridge;
	unsigned room;	/* functions that have it */
	unsigned sleds; /* of these: it is a sled */
};

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
	const uint8_t *at = patch_room(m, start, &size);

	if (!at)
		return;
	m->room++;
	m->sleds += at[0] == FX_NOPS_SLED;
}

static void patch_write(void *opaque, uint64_t start)
{
	struct patched *m = opaque;
	size_t size;
	uint8_t *at = patch_room(m, start, &size);
	int32_t distance;

	if (!at)
		return;
	distance =
	    fx_bridge_distance(m->bridge, FX_BRIDGE_ENTRY, (uint64_t)(uintptr_t)at + FX_NOPS_CALL);
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
			m.code = (struct fx_code){start, start + p->p_filesz};
	}
	if (segments != 1)
		m.code.end = m.code.start;
	return m;
}

static bool patch_protect(const struct patched *m, int protection)
{
	const uint64_t page = getauxval(AT_PAGESZ);
	const uint64_t first = m->code.start & ~(page - 1);

	return fx_syscall3(SYS_mprotect, first, FX_ALIGN_UP(m->code.end, page) - first,
			   PROT_READ | PROT_EXEC | protection) == 0;
}

static const char beside_others[] = "the process had other threads";

/* NULL: the code may be written, the bridge is there; or why not. */
static const char *patch_open(struct patched *m)
{
	m->bridge = fx_bridge_find(&m->code);
	if (!m->bridge)
		return "there is no room near it";
	return patch_protect(m, PROT_WRITE) ? NULL : "its code may not be written";
}

/* Entries. NULL: it is done; or why not. */
static const char *patch_module(struct patched *m)
{
	const char *why = patch_is_alone() ? patch_open(m) : beside_others;

	if (why)
		return why;
	fx_fde_starts(m->tables, patch_write, m);
	patch_protect(m, 0);
	return NULL;
}

/* The same of entries and ends, where there is room for both. */
static const char *patch_sleds(struct patched *m, const struct fx_sled_map *map)
{
	const char *why = patch_open(m);

	if (why)
		return why;
	if (!fx_sled_map_patch(map, &m->code, m->bridge, patch_is_alone()))
		why = beside_others;
	patch_protect(m, 0);
	return why;
}

static void patch_tell(const char *path, unsigned functions, const char *why)
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
	fx_arg_size(&instant, FX_STR_functions, functions);
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
	struct fx_sled_map map;
	struct patched m;

	(void)size;
	if (walk->seen++ < walk->skip)
		return 0;
	m = patch_look(info);
	if (!m.tables || patch_is_ours(info, &m))
		return 0;
	fx_fde_starts(m.tables, patch_count, &m);
	if (m.sleds && fx_sled_map_find(info, &m.code, &map)) {
		patch_tell(info->dlpi_name, m.sleds, patch_sleds(&m, &map));
		m.room -= m.sleds;
	}
	if (m.room)
		patch_tell(info->dlpi_name, m.room, patch_module(&m));
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

/* Under a filter that refuses anything, more is looked for in vain: it is not known what else would be the program's end. */
void fx_patch_loaded(void)
{
	if (first_count && fx_engine_may(FX_ASK_ALL))
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
