/* SPDX-License-Identifier: MIT */
#include "preload/host/found.h"

#include <link.h>
#include <stddef.h>
#include <string.h>

#include "base/compiler.h"
#include "preload/host/find-object.h"

#define FIRST_MAX 256u

static struct {
	struct fx_found module[FIRST_MAX];
	unsigned count;
} first FX_LARGE;

/* --- The modules of the start ------------------------------------------------------------------ */

/* libc and the dynamic linker come with the program. What is loaded later stands behind them; so may some that came
 * with the program, but these cannot be told from others, which may go. */
static bool comes_with_program(const char *name)
{
	return strstr(name, "/libc.so.") || strstr(name, "/ld-linux");
}

static struct fx_found found_of(const struct dl_phdr_info *info)
{
	struct fx_found found = {.start = UINT64_MAX};

	for (unsigned i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *ph = &info->dlpi_phdr[i];
		uint64_t start = info->dlpi_addr + ph->p_vaddr, end = start + ph->p_memsz;

		if (ph->p_type == PT_GNU_EH_FRAME)
			found.tables = (const uint8_t *)(uintptr_t)start;
		if (ph->p_type != PT_LOAD)
			continue;
		found.start = start < found.start ? start : found.start;
		found.end = end > found.end ? end : found.end;
	}
	return found;
}

/* `sure`: how many of the list are known to stay. */
static int first_add(struct dl_phdr_info *info, size_t size, void *sure)
{
	(void)size;
	if (first.count == FIRST_MAX)
		return 1;
	first.module[first.count++] = found_of(info);
	if (comes_with_program(info->dlpi_name))
		*(unsigned *)sure = first.count;
	return 0;
}

void fx_found_collect(void)
{
	unsigned sure = 0;

	first.count = 0;
	dl_iterate_phdr(first_add, &sure);
	first.count = sure;
}

bool fx_found_among_first(uint64_t address, struct fx_found *ret)
{
	for (unsigned i = 0; i < first.count; i++) {
		const struct fx_found *m = &first.module[i];

		if (address >= m->start && address < m->end) {
			*ret = *m;
			return true;
		}
	}
	return false;
}

/* ----------------------------------------------------------------------------------------------- */

void fx_found_init(void)
{
	if (!_dl_find_object)
		fx_found_collect();
}

bool fx_found_at(uint64_t address, struct fx_found *ret)
{
	struct dl_find_object o;

	if (!_dl_find_object)
		return fx_found_among_first(address, ret);
	if (_dl_find_object((void *)(uintptr_t)address, &o) != 0)
		return false;
	ret->start = (uint64_t)(uintptr_t)o.dlfo_map_start;
	ret->end = (uint64_t)(uintptr_t)o.dlfo_map_end;
	ret->tables = o.dlfo_eh_frame;
	return true;
}
