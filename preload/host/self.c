/* SPDX-License-Identifier: MIT */
#include "preload/host/self.h"

#include <link.h>
#include <stdint.h>
#include <string.h>

#include "base/late.h"

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
	static const char *path; /* the library is never unloaded, and so neither is its name */

	if (!path)
		dl_iterate_phdr(find_self, &path);
	return path;
}

bool fx_self_is_late(void)
{
	const char *path = fx_self_path();
	size_t length = path ? strlen(path) : 0;

	while (length && path[length - 1] != '/')
		length--;
	return length >= sizeof FX_LATE_MARK - 1 &&
	       memcmp(path + length - (sizeof FX_LATE_MARK - 1), FX_LATE_MARK,
		      sizeof FX_LATE_MARK - 1) == 0;
}

static const char *self_last_part(const char *path, size_t length, size_t *ret_length)
{
	size_t n = length;

	while (n && path[n - 1] != '/')
		n--;
	*ret_length = length - n;
	return path + n;
}

bool fx_self_is(const char *element, size_t length)
{
	const char *path = fx_self_path();
	size_t own, other;
	const char *a, *b;

	if (!path)
		return false;
	a = self_last_part(path, strlen(path), &own);
	b = self_last_part(element, length, &other);
	return own == other && memcmp(a, b, own) == 0;
}

const char *fx_self_next(const char *list, size_t *ret_length)
{
	list += strspn(list, ": \t\n");
	*ret_length = strcspn(list, ": \t\n");
	return *ret_length ? list : NULL;
}

bool fx_self_is_in(const char *list)
{
	size_t length;

	for (const char *e = fx_self_next(list, &length); e; e = fx_self_next(e + length, &length))
		if (fx_self_is(e, length))
			return true;
	return false;
}
