/* SPDX-License-Identifier: MIT */
#include "base/vdso.h"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/compiler.h"
#include "base/syscall.h"

#ifndef PR_GET_AUXV
#define PR_GET_AUXV 0x41555856 /* Linux 6.4 */
#endif

/* --- The auxiliary vector ---------------------------------------------------------------------- */

/* Twice as long as any that a kernel has made so far. */
#define AUXV_WORDS 128u

bool fx_auxv_find(const unsigned long *auxv, unsigned long type, unsigned long *ret)
{
	while (auxv[0] != AT_NULL && auxv[0] != type)
		auxv += 2;
	*ret = auxv[0] == AT_NULL ? 0 : auxv[1];
	return auxv[0] != AT_NULL;
}

static void auxv_read(unsigned long *ret, size_t bytes)
{
	long fd = fx_syscall4(SYS_openat, AT_FDCWD, "/proc/self/auxv", O_RDONLY | O_CLOEXEC, 0);

	if (fd < 0)
		return;
	fx_syscall3(SYS_read, fd, ret, bytes);
	fx_syscall1(SYS_close, fd);
}

bool fx_auxv_value(unsigned long type, unsigned long *ret)
{
	unsigned long auxv[AUXV_WORDS + 2] = {AT_NULL}; /* the end stays, whatever is read */
	const size_t bytes = AUXV_WORDS * sizeof *auxv;

	if (fx_syscall6(SYS_prctl, PR_GET_AUXV, (long)auxv, (long)bytes, 0, 0, 0) < 0)
		auxv_read(auxv, bytes);
	return fx_auxv_find(auxv, type, ret);
}

/* --- The image --------------------------------------------------------------------------------- */

struct image {
	const char *start;
	size_t size;	 /* of the one part that is mapped */
	uintptr_t first; /* the address that the image gives to its start */
	const ElfW(Sym) * symbols;
	const char *strings;
	size_t strings_size;
	const uint32_t *hash, *gnu_hash; /* NULL: it has no such table */
};

/* `size` bytes that the image has at `address`; NULL if it does not hold so many, or not in such a place. */
static const void *image_at(const struct image *m, uintptr_t address, size_t size, size_t align)
{
	uintptr_t offset = address - m->first;

	if (offset > m->size || size > m->size - offset || offset % align)
		return NULL;
	return m->start + offset;
}

static bool is_understood(const ElfW(Ehdr) * e)
{
	return memcmp(e->e_ident, ELFMAG, SELFMAG) == 0 && e->e_ident[EI_CLASS] == ELFCLASS64 &&
	       e->e_phentsize == sizeof(ElfW(Phdr));
}

/* The first part that is loaded is all there is. Returns what tells where its tables are. */
static const ElfW(Dyn) * image_map(struct image *m, const ElfW(Ehdr) * e, size_t *ret_count)
{
	const ElfW(Phdr) *ph = (const void *)((const char *)e + e->e_phoff), *dynamic = NULL;

	for (unsigned i = 0; i < e->e_phnum; i++) {
		if (ph[i].p_type == PT_LOAD && !m->size) {
			m->first = ph[i].p_vaddr - ph[i].p_offset;
			m->size = ph[i].p_offset + ph[i].p_memsz;
		} else if (ph[i].p_type == PT_DYNAMIC) {
			dynamic = &ph[i];
		}
	}
	if (!dynamic)
		return NULL;
	*ret_count = dynamic->p_memsz / sizeof(ElfW(Dyn));
	return image_at(m, dynamic->p_vaddr, dynamic->p_memsz, sizeof(uintptr_t));
}

static void image_read(struct image *m, const ElfW(Dyn) * d, size_t count)
{
	for (; count && d->d_tag != DT_NULL; count--, d++) {
		uintptr_t value = d->d_un.d_ptr;

		switch (d->d_tag) {
		case DT_SYMTAB:
			m->symbols = image_at(m, value, sizeof *m->symbols, sizeof(uintptr_t));
			break;
		case DT_STRTAB:
			m->strings = image_at(m, value, 1, 1);
			break;
		case DT_STRSZ:
			m->strings_size = value;
			break;
		case DT_HASH:
			m->hash = image_at(m, value, 2 * sizeof *m->hash, sizeof *m->hash);
			break;
		case DT_GNU_HASH:
			m->gnu_hash = image_at(m, value, 4 * sizeof *m->gnu_hash, sizeof *m->hash);
			break;
		}
	}
}

/* One behind the last symbol of the table's last chain. */
static size_t count_by_gnu_hash(const struct image *m)
{
	const uint32_t *t = m->gnu_hash;
	const size_t room = (size_t)(m->start + m->size - (const char *)t) / sizeof *t;
	const size_t buckets = t[0], first = t[1];
	const size_t bucket = 4 + 2 * (size_t)t[2], chain = bucket + buckets;
	size_t last = 0, i;

	for (i = bucket; i < chain && i < room; i++)
		last = t[i] > last ? t[i] : last;
	if (last < first)
		return 0;
	for (i = chain + (last - first); i < room && !(t[i] & 1); i++)
		last++;
	return last + 1;
}

static size_t count_symbols(const struct image *m)
{
	size_t count = m->hash ? m->hash[1] : m->gnu_hash ? count_by_gnu_hash(m) : 0;
	size_t most = (size_t)(m->start + m->size - (const char *)m->symbols) / sizeof *m->symbols;

	return count < most ? count : most;
}

static bool is_called(const struct image *m, const ElfW(Sym) * s, const char *name)
{
	size_t size = strlen(name) + 1;

	return ELF64_ST_TYPE(s->st_info) == STT_FUNC && s->st_shndx != SHN_UNDEF &&
	       s->st_name < m->strings_size && size <= m->strings_size - s->st_name &&
	       memcmp(m->strings + s->st_name, name, size) == 0;
}

void *fx_vdso_find(const void *image, const char *name)
{
	struct image m = {.start = image};
	const ElfW(Dyn) * dynamic;
	size_t count = 0;

	if (!image || !is_understood(image))
		return NULL;
	dynamic = image_map(&m, image, &count);
	if (!dynamic)
		return NULL;
	image_read(&m, dynamic, count);
	if (!m.symbols || !m.strings ||
	    !image_at(&m, (uintptr_t)(m.strings - m.start) + m.first, m.strings_size, 1))
		return NULL;
	count = count_symbols(&m);
	for (size_t i = 0; i < count; i++)
		if (is_called(&m, &m.symbols[i], name))
			return (void *)image_at(&m, m.symbols[i].st_value, 1, 1);
	return NULL;
}
