/* SPDX-License-Identifier: MIT */
#include "attach/elf.h"

#include <string.h>

#include "attach/memory.h"

/* More than any module has: the tables of a process that changes meanwhile are not believed. */
#define DYNAMIC_MAX 256u
#define HEADERS_MAX 64u
#define CHAIN_MAX   4096u
#define SYMBOLS_MAX (1u << 20)

static uint64_t elf_address(const struct fx_elf *elf, uint64_t value)
{
	return value < elf->base ? elf->base + value : value;
}

static void elf_entry(struct fx_elf *elf, const Elf64_Dyn *d, uint64_t *hash)
{
	switch (d->d_tag) {
	case DT_SYMTAB:
		elf->symbols = elf_address(elf, d->d_un.d_ptr);
		break;
	case DT_STRTAB:
		elf->strings = elf_address(elf, d->d_un.d_ptr);
		break;
	case DT_STRSZ:
		elf->string_bytes = d->d_un.d_val;
		break;
	case DT_GNU_HASH:
		*hash = elf_address(elf, d->d_un.d_ptr);
		break;
	}
}

static bool elf_dynamic(pid_t pid, struct fx_elf *elf, uint64_t at)
{
	struct {
		uint32_t bucket_count, first_symbol, bloom_words, bloom_shift;
	} head;
	uint64_t hash = 0;

	for (unsigned i = 0; i < DYNAMIC_MAX; i++) {
		Elf64_Dyn d;

		if (!fx_memory_read(pid, at + i * sizeof(d), &d, sizeof(d)))
			return false;
		if (d.d_tag == DT_NULL)
			break;
		elf_entry(elf, &d, &hash);
	}
	if (!hash || !elf->symbols || !elf->strings ||
	    !fx_memory_read(pid, hash, &head, sizeof(head)) || !head.bucket_count)
		return false;
	elf->bucket_count = head.bucket_count;
	elf->first_symbol = head.first_symbol;
	elf->buckets = hash + sizeof(head) + 8ull * head.bloom_words;
	elf->chains = elf->buckets + 4ull * head.bucket_count;
	return true;
}

bool fx_elf_open(pid_t pid, uint64_t at, struct fx_elf *ret)
{
	Elf64_Phdr headers[HEADERS_MAX];
	uint64_t dynamic = 0, lowest = UINT64_MAX;
	Elf64_Ehdr e;

	*ret = (struct fx_elf){.code_start = UINT64_MAX};
	if (!fx_memory_read(pid, at, &e, sizeof(e)) || memcmp(e.e_ident, ELFMAG, SELFMAG) ||
	    e.e_ident[EI_CLASS] != ELFCLASS64 || e.e_phentsize != sizeof(headers[0]) ||
	    e.e_phnum > HEADERS_MAX ||
	    !fx_memory_read(pid, at + e.e_phoff, headers, e.e_phnum * sizeof(headers[0])))
		return false;
	for (unsigned i = 0; i < e.e_phnum; i++) {
		const Elf64_Phdr *ph = &headers[i];

		if (ph->p_type == PT_DYNAMIC)
			dynamic = ph->p_vaddr;
		if (ph->p_type == PT_LOAD && ph->p_vaddr < lowest)
			lowest = ph->p_vaddr;
	}
	if (!dynamic || lowest == UINT64_MAX)
		return false;
	ret->base = at - (lowest & ~UINT64_C(4095));
	for (unsigned i = 0; i < e.e_phnum; i++) {
		const Elf64_Phdr *ph = &headers[i];

		if (ph->p_type != PT_LOAD || !(ph->p_flags & PF_X))
			continue;
		ret->code_start = ret->base + ph->p_vaddr;
		ret->code_end = ret->code_start + ph->p_memsz;
	}
	return elf_dynamic(pid, ret, ret->base + dynamic);
}

static uint32_t elf_hash(const char *name)
{
	uint32_t h = 5381;

	for (const unsigned char *s = (const unsigned char *)name; *s; s++)
		h = h * 33 + *s;
	return h;
}

static bool elf_name_is(pid_t pid, const struct fx_elf *elf, uint32_t offset, const char *name)
{
	char text[128];
	size_t size = strlen(name) + 1;

	return size <= sizeof(text) && fx_memory_read(pid, elf->strings + offset, text, size) &&
	       memcmp(text, name, size) == 0;
}

bool fx_elf_find(pid_t pid, const struct fx_elf *elf, const char *name, Elf64_Sym *ret)
{
	uint32_t hash = elf_hash(name), i, chain;

	if (!fx_memory_read(pid, elf->buckets + 4ull * (hash % elf->bucket_count), &i, sizeof(i)) ||
	    i < elf->first_symbol)
		return false;
	for (unsigned n = 0; n < CHAIN_MAX; n++, i++) {
		if (!fx_memory_read(pid, elf->chains + 4ull * (i - elf->first_symbol), &chain,
				    sizeof(chain)))
			return false;
		if ((chain | 1) == (hash | 1) &&
		    fx_memory_read(pid, elf->symbols + sizeof(*ret) * i, ret, sizeof(*ret)) &&
		    ret->st_shndx != SHN_UNDEF && elf_name_is(pid, elf, ret->st_name, name))
			return true;
		if (chain & 1)
			break;
	}
	return false;
}

uint32_t fx_elf_count(pid_t pid, const struct fx_elf *elf)
{
	uint32_t most = 0, chain = 0, bucket;

	for (uint32_t i = 0; i < elf->bucket_count; i++) {
		if (!fx_memory_read(pid, elf->buckets + 4ull * i, &bucket, sizeof(bucket)))
			return 0;
		most = bucket > most ? bucket : most;
	}
	while (most >= elf->first_symbol && most < SYMBOLS_MAX && !(chain & 1)) {
		if (!fx_memory_read(pid, elf->chains + 4ull * (most - elf->first_symbol), &chain,
				    sizeof(chain)))
			return 0;
		most++;
	}
	return most < SYMBOLS_MAX ? most : 0;
}
