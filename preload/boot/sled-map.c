/* SPDX-License-Identifier: MIT */
/* LLVM's "XRay Instrumentation", and what its X86 back end makes of PATCHABLE_FUNCTION_ENTER, PATCHABLE_RET and PATCHABLE_TAIL_CALL. */
#include "preload/boot/sled-map.h"

#include <elf.h>
#include <fcntl.h>
#include <linux/membarrier.h>
#include <string.h>

#include "base/atomic.h"
#include "base/syscall.h"
#include "engine/provider/engine.h"

#if defined(__x86_64__)

#define SECTIONS_MAX 4096u
#define SLED_SIZE    11u
#define SLED_FIRST   2u /* bytes that are exchanged by one store */
#define MOVL_OFFSET  2u /* where its operand stands */
#define JUMP_AT	     6u

/* A row of the section, which has any alignment. Both distances are from where they stand. */
struct sled_row {
	int64_t sled, function;
	uint8_t kind, always, version, padding[13];
};

_Static_assert(sizeof(struct sled_row) == 32, "as clang writes it");

#define ROW_VERSION 2u /* since LLVM 11; before, addresses stood there */

/* Kinds of rows; others are no calls. */
enum { ROW_ENTER = 0, ROW_LEAVE = 1, ROW_TAIL = 2, ROW_ENTER_ARGUMENTS = 3 };

struct sled {
	uint8_t *at;
	uint64_t function;
	enum fx_bridge_way way;
};

/* --- The section ---------------------------------------------------------------------------------- */

static bool file_has(long fd, void *to, uint64_t size, uint64_t offset)
{
	return fx_syscall4(SYS_pread64, fd, to, size, offset) == (long)size;
}

static bool map_section_is_it(long fd, const ElfW(Shdr) * s, const ElfW(Shdr) * names)
{
	static const char name[] = "xray_instr_map";
	char text[sizeof(name)];

	return s->sh_type == SHT_PROGBITS && (s->sh_flags & SHF_ALLOC) &&
	       file_has(fd, text, sizeof(text), names->sh_offset + s->sh_name) &&
	       memcmp(text, name, sizeof(name)) == 0;
}

static bool map_section_find(long fd, ElfW(Shdr) * ret)
{
	ElfW(Ehdr) file;
	ElfW(Shdr) names;

	if (!file_has(fd, &file, sizeof(file), 0) || memcmp(file.e_ident, ELFMAG, SELFMAG) != 0 ||
	    file.e_shentsize != sizeof(*ret) || file.e_shnum > SECTIONS_MAX ||
	    !file_has(fd, &names, sizeof(names),
		      file.e_shoff + (uint64_t)file.e_shstrndx * sizeof(names)))
		return false;
	for (unsigned i = 0; i < file.e_shnum; i++) {
		if (!file_has(fd, ret, sizeof(*ret), file.e_shoff + i * sizeof(*ret)))
			return false;
		if (map_section_is_it(fd, ret, &names))
			return true;
	}
	return false;
}

/* Whether the module has this section in memory that is its own, and that may be read. */
static bool map_section_is_loaded(const struct dl_phdr_info *info, const ElfW(Shdr) * s)
{
	for (unsigned i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];

		if (p->p_type == PT_LOAD && (p->p_flags & PF_R) && s->sh_addr >= p->p_vaddr &&
		    s->sh_addr - p->p_vaddr <= p->p_filesz &&
		    s->sh_size <= p->p_filesz - (s->sh_addr - p->p_vaddr))
			return true;
	}
	return false;
}

/* --- Its rows ------------------------------------------------------------------------------------- */

static bool row_way(uint8_t kind, enum fx_bridge_way *ret)
{
	switch (kind) {
	case ROW_ENTER:
	case ROW_ENTER_ARGUMENTS:
		*ret = FX_BRIDGE_SLED_ENTER;
		return true;
	case ROW_LEAVE:
		*ret = FX_BRIDGE_SLED_LEAVE;
		return true;
	case ROW_TAIL:
		*ret = FX_BRIDGE_SLED_TAIL;
		return true;
	default:
		return false;
	}
}

static bool row_read(const struct fx_sled_map *map, uint64_t i, const struct fx_code *code,
		     struct sled *ret)
{
	const uint8_t *at = map->sleds + i * sizeof(struct sled_row);
	struct sled_row row;
	uint64_t sled;

	memcpy(&row, at, sizeof(row));
	sled = (uint64_t)(uintptr_t)at + (uint64_t)row.sled;
	ret->at = (uint8_t *)(uintptr_t)sled;
	ret->function =
	    (uint64_t)(uintptr_t)at + offsetof(struct sled_row, function) + (uint64_t)row.function;
	return row.version == ROW_VERSION && row_way(row.kind, &ret->way) &&
	       sled % SLED_FIRST == 0 && sled >= code->start && sled < code->end &&
	       code->end - sled >= SLED_SIZE && ret->function >= code->start &&
	       ret->function < code->end;
}

/* As the compiler has left it. */
static const uint8_t *sled_plain(const struct sled *s)
{
	static const uint8_t over[SLED_SIZE] = {0xeb, 0x09, 0x66, 0x0f, 0x1f, 0x84,
						0x00, 0x00, 0x02, 0x00, 0x00};
	static const uint8_t ret[SLED_SIZE] = {0xc3, 0x2e, 0x66, 0x0f, 0x1f, 0x84,
					       0x00, 0x00, 0x02, 0x00, 0x00};

	return s->way == FX_BRIDGE_SLED_LEAVE ? ret : over;
}

static bool sled_is_plain(const struct sled *s)
{
	return memcmp(s->at, sled_plain(s), SLED_SIZE) == 0;
}

static void sled_call(const struct sled *s, uint64_t bridge, uint8_t call[SLED_SIZE])
{
	const uint32_t offset = fx_bridge_offset(bridge, s->function);
	const int32_t distance =
	    fx_bridge_distance(bridge, s->way, (uint64_t)(uintptr_t)(s->at + SLED_SIZE));

	call[0] = 0x41;
	call[1] = 0xba;
	memcpy(call + MOVL_OFFSET, &offset, sizeof(offset));
	call[JUMP_AT] = s->way == FX_BRIDGE_SLED_LEAVE ? 0xe9 : 0xe8;
	memcpy(call + JUMP_AT + 1, &distance, sizeof(distance));
}

/* What nobody executes as yet. */
static void sled_prepare(const struct sled *s, uint64_t bridge)
{
	uint8_t call[SLED_SIZE];

	if (!sled_is_plain(s))
		return;
	sled_call(s, bridge, call);
	memcpy(s->at + SLED_FIRST, call + SLED_FIRST, SLED_SIZE - SLED_FIRST);
}

static void sled_exchange(const struct sled *s, uint64_t bridge)
{
	uint8_t call[SLED_SIZE];
	uint16_t first;

	sled_call(s, bridge, call);
	if (memcmp(s->at, sled_plain(s), SLED_FIRST) != 0 ||
	    memcmp(s->at + SLED_FIRST, call + SLED_FIRST, SLED_SIZE - SLED_FIRST) != 0)
		return;
	memcpy(&first, call, sizeof(first));
	/* release: behind what was prepared. Pairs with the processors' fetching of instructions */
	fx_store_release((uint16_t *)(void *)s->at, first);
}

/* Every other thread fetches its instructions anew before it executes what is written after this. */
static bool sleds_are_seen(void)
{
	const long flush = MEMBARRIER_CMD_PRIVATE_EXPEDITED_SYNC_CORE;

	return fx_engine_may(FX_ASK_WAIT) &&
	       fx_syscall3(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED_SYNC_CORE, 0,
			   0) == 0 &&
	       fx_syscall3(SYS_membarrier, flush, 0, 0) == 0;
}

bool fx_sled_map_find(const struct dl_phdr_info *info, const struct fx_code *code,
		      struct fx_sled_map *ret)
{
	const char *path = info->dlpi_name[0] ? info->dlpi_name : "/proc/self/exe";
	long fd = fx_syscall4(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0);
	ElfW(Shdr) section;
	bool found;

	if (fx_syscall_failed(fd))
		return false;
	found = map_section_find(fd, &section) && map_section_is_loaded(info, &section);
	fx_syscall1(SYS_close, fd);
	if (!found)
		return false;
	ret->sleds = (const uint8_t *)(uintptr_t)(info->dlpi_addr + section.sh_addr);
	ret->count = section.sh_size / sizeof(struct sled_row);
	for (uint64_t i = 0; i < ret->count; i++) {
		struct sled s;

		if (row_read(ret, i, code, &s) && s.way != FX_BRIDGE_SLED_ENTER &&
		    sled_is_plain(&s))
			return true;
	}
	return false;
}

static void sleds_change(const struct fx_sled_map *map, const struct fx_code *code, bool ends,
			 void (*change)(const struct sled *, uint64_t bridge), uint64_t bridge)
{
	for (uint64_t i = 0; i < map->count; i++) {
		struct sled s;

		if (row_read(map, i, code, &s) && (s.way != FX_BRIDGE_SLED_ENTER) == ends)
			change(&s, bridge);
	}
}

bool fx_sled_map_patch(const struct fx_sled_map *map, const struct fx_code *code, uint64_t bridge,
		       bool alone)
{
	sleds_change(map, code, true, sled_prepare, bridge);
	sleds_change(map, code, false, sled_prepare, bridge);
	if (!alone && !sleds_are_seen())
		return false;
	sleds_change(map, code, true, sled_exchange, bridge);
	sleds_change(map, code, false, sled_exchange, bridge);
	return true;
}

#endif
