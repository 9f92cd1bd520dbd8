/* SPDX-License-Identifier: MIT */
#include "preload/host/lookup.h"

#include <elf.h>
#include <link.h>
#include <stdint.h>
#include <string.h>

#include "base/compiler.h"
#include "preload/host/self.h"

#define MODULES_MAX 128

#define VERSION_HIDDEN 0x8000u /* not the default one of its name */

struct module {
	ElfW(Addr) bias;
	const ElfW(Sym) * symbols;
	const char *strings;
	const ElfW(Half) * versions; /* NULL: none */
	const ElfW(Verdef) * definitions;
	const uint64_t *bloom;
	const uint32_t *buckets, *chains;
	uint32_t bucket_count, first_symbol, bloom_words, bloom_shift;
};

static struct {
	unsigned
	    count; /* the small ones first: all that a process with few modules writes is on one page */
	bool
	    late; /* this library came into a process that ran already: it stands behind the others */
	bool behind;   /* this library has been passed */
	bool complete; /* up to libc, all of a kind that is read here */
	struct module own;
	struct module module[MODULES_MAX];
} scope FX_LARGE;

/* The linker has made addresses of most entries, but not of those in read-only memory. */
static const void *lookup_address_of(const struct dl_phdr_info *info, ElfW(Addr) value)
{
	return (const void *)(value < info->dlpi_addr ? info->dlpi_addr + value : value);
}

static void read_hash(struct module *m, const uint32_t *table)
{
	m->bucket_count = table[0];
	m->first_symbol = table[1];
	m->bloom_words = table[2];
	m->bloom_shift = table[3];
	m->bloom = (const uint64_t *)(table + 4);
	m->buckets = (const uint32_t *)(m->bloom + m->bloom_words);
	m->chains = m->buckets + m->bucket_count;
}

static void lookup_read_dynamic(struct module *m, const struct dl_phdr_info *info,
				const ElfW(Dyn) * d)
{
	m->bias = info->dlpi_addr;
	for (; d->d_tag != DT_NULL; d++) {
		const void *at = lookup_address_of(info, d->d_un.d_ptr);

		switch (d->d_tag) {
		case DT_SYMTAB:
			m->symbols = at;
			break;
		case DT_STRTAB:
			m->strings = at;
			break;
		case DT_VERSYM:
			m->versions = at;
			break;
		case DT_VERDEF:
			m->definitions = at;
			break;
		case DT_GNU_HASH:
			read_hash(m, at);
			break;
		}
	}
}

static bool is_self(const struct dl_phdr_info *info)
{
	uintptr_t here = (uintptr_t)&scope - info->dlpi_addr;

	for (unsigned i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *ph = &info->dlpi_phdr[i];

		if (ph->p_type == PT_LOAD && here - ph->p_vaddr < ph->p_memsz)
			return true;
	}
	return false;
}

static const ElfW(Dyn) * lookup_dynamic_of(const struct dl_phdr_info *info)
{
	for (unsigned i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_DYNAMIC)
			return (const void *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
	return NULL;
}

static int lookup_own_find(struct dl_phdr_info *info, size_t size, void *unused)
{
	(void)size;
	(void)unused;
	if (!is_self(info))
		return 0;
	lookup_read_dynamic(&scope.own, info, lookup_dynamic_of(info));
	return 1;
}

static int lookup_module_add(struct dl_phdr_info *info, size_t size, void *unused)
{
	struct module *m = &scope.module[scope.count];
	const ElfW(Dyn) * dynamic;

	(void)size;
	(void)unused;
	if (!scope.behind) {
		scope.behind = is_self(info);
		return 0;
	}
	dynamic = lookup_dynamic_of(info);
	/* the kernel's object: it exports nothing that libc does */
	if (!dynamic || strncmp(info->dlpi_name, "linux-", 6) == 0)
		return 0;
	if (scope.count == MODULES_MAX)
		return 1;
	memset(m, 0, sizeof *m);
	lookup_read_dynamic(m, info, dynamic);
	if (!m->symbols || !m->strings || !m->bloom_words)
		return 1;
	scope.count++;
	/* All that is asked for is libc's: a module that comes behind may also go away again. */
	scope.complete = strstr(info->dlpi_name, "/libc.so.") != NULL;
	return scope.complete;
}

bool fx_lookup_init(void)
{
	scope.count = 0;
	scope.late = fx_self_is_late();
	scope.behind = scope.late;
	scope.complete = false;
	if (scope.late)
		dl_iterate_phdr(lookup_own_find, NULL);
	dl_iterate_phdr(lookup_module_add, NULL);
	if (!scope.complete)
		scope.count = 0;
	return scope.complete;
}

uint64_t fx_lookup_libc(void)
{
	return scope.count ? scope.module[scope.count - 1].bias : 0;
}

static uint32_t lookup_hash_of(const char *name)
{
	uint32_t h = 5381;

	for (const unsigned char *s = (const unsigned char *)name; *s; s++)
		h = h * 33 + *s;
	return h;
}

/* What is certainly not there: most modules have none of the functions asked for. */
static bool bloom_says_no(const struct module *m, uint32_t hash)
{
	uint64_t word = m->bloom[hash / 64 & (m->bloom_words - 1)];

	return !(word >> hash % 64 & word >> (hash >> m->bloom_shift) % 64 & 1);
}

static const char *version_name(const struct module *m, unsigned index)
{
	const ElfW(Verdef) *d = m->definitions;

	while (d && d->vd_ndx != index)
		d = d->vd_next ? (const void *)((const char *)d + d->vd_next) : NULL;
	if (!d)
		return "";
	return m->strings + ((const ElfW(Verdaux) *)((const char *)d + d->vd_aux))->vda_name;
}

/* Whether symbol `i` is of this version; with an empty one, of the default; with NULL, of any. */
static bool version_fits(const struct module *m, uint32_t i, const char *version)
{
	unsigned v = m->versions ? m->versions[i] : VER_NDX_GLOBAL;

	if (!version)
		return true;
	if (!version[0])
		return !(v & VERSION_HIDDEN) && v != VER_NDX_LOCAL;
	if (v == VER_NDX_GLOBAL) /* a module without versions stands for all of them */
		return true;
	return strcmp(version_name(m, v & ~VERSION_HIDDEN), version) == 0;
}

static const ElfW(Sym) *
    find(const struct module *m, const char *name, uint32_t hash, const char *version)
{
	uint32_t i = bloom_says_no(m, hash) ? 0 : m->buckets[hash % m->bucket_count];
	uint32_t chain;

	if (i < m->first_symbol)
		return NULL;
	do {
		const ElfW(Sym) *s = &m->symbols[i];

		chain = m->chains[i - m->first_symbol];
		if ((chain | 1) == (hash | 1) && s->st_shndx != SHN_UNDEF &&
		    strcmp(m->strings + s->st_name, name) == 0 && version_fits(m, i, version))
			return s;
		i++;
	} while (!(chain & 1));
	return NULL;
}

static void *find_in_scope(const char *name, const char *version)
{
	uint32_t hash = lookup_hash_of(name);

	for (unsigned i = 0; i < scope.count; i++) {
		const struct module *m = &scope.module[i];
		const ElfW(Sym) *s = find(m, name, hash, version);

		/* An indirect function has to be asked where it is: the dynamic linker does that. */
		if (s)
			return ELF64_ST_TYPE(s->st_info) == STT_FUNC
				   ? (void *)(m->bias + s->st_value)
				   : NULL;
	}
	return NULL;
}

void *fx_lookup(const char *name, const char *version)
{
	void *p = version[0] ? find_in_scope(name, version) : NULL;

	if (!p)
		p = find_in_scope(name, "");
	/* Some are there for old programs alone, which ask for the version of their day. */
	return p ? p : find_in_scope(name, NULL);
}

void *fx_lookup_own(const char *name)
{
	const ElfW(Sym) *s =
	    scope.own.bloom_words ? find(&scope.own, name, lookup_hash_of(name), NULL) : NULL;

	return s && ELF64_ST_TYPE(s->st_info) == STT_FUNC ? (void *)(scope.own.bias + s->st_value)
							  : NULL;
}
