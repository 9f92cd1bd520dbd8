/* SPDX-License-Identifier: MIT */
#include "preload/self.h"

#include <link.h>
#include <stddef.h>
#include <stdint.h>

static int find_self(struct dl_phdr_info *info, size_t size, void *out)
{
	uintptr_t here = (uintptr_t)&find_self - info->dlpi_addr;

	(void)size;
	for (unsigned i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *ph = &info->dlpi_phdr[i];

		if (ph->p_type == PT_LOAD && here - ph->p_vaddr < ph->p_memsz) {
			*(const char **)out = info->dlpi_name;
			return 1;
		}
	}
	return 0;
}

const char *fx_self_path(void)
{
	const char *path = NULL;

	dl_iterate_phdr(find_self, &path);
	return path;
}
