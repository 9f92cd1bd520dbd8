/* SPDX-License-Identifier: MIT */
#include "preload/boot/words.h"

#include <elf.h>
#include <errno.h>
#include <link.h>
#include <stddef.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>

#include "base/atomic.h"
#include "base/compiler.h"
#include "base/syscall.h"
#include "preload/host/lookup.h"

#if defined(__x86_64__)
#define RELOCATION_CALL R_X86_64_JUMP_SLOT
#define RELOCATION_WORD R_X86_64_GLOB_DAT
#elif defined(__aarch64__)
#define RELOCATION_CALL R_AARCH64_JUMP_SLOT
#define RELOCATION_WORD R_AARCH64_GLOB_DAT
#endif

/* A word that was changed. */
struct word {
	uint64_t *at;
	uint64_t before, after;
};

#define BLOCK_BYTES (64u << 10)

/* They are never given back: in a process that is attached once more there are as many again. */
struct block {
	struct block *next;
	uint32_t count;
	struct word words[(BLOCK_BYTES - 16) / sizeof(struct word)];
};

_Static_assert(sizeof(struct block) <= BLOCK_BYTES, "what is mapped");

/* Of whoever is inside dl_iterate_phdr(), but for `on`. */
static struct {
	uint32_t on;
	struct block *first, *last;
} words_all;

/* What a module says of itself. */
struct words_module {
	uint64_t bias;
	const ElfW(Sym) * symbols;
	const char *strings;
	const ElfW(Half) * versions; /* NULL: none */
	const ElfW(Verneed) * needs;
	const ElfW(Rela) * calls, *relocations;
	size_t call_count, relocation_count;
	uint64_t code_start, code_end;	 /* executable */
	uint64_t relro_start, relro_end; /* read-only once it is relocated; equal: nothing */
	uint64_t image_start, image_end; /* all of it */
	bool is_open;			 /* relro is writable at the moment */
	bool is_stubborn;		 /* it cannot be made so */
};

/* --- A module --------------------------------------------------------------------------------- */

static const void *words_address(const struct words_module *m, uint64_t value)
{
	return (const void *)(value < m->bias ? m->bias + value : value);
}

static void words_dynamic(struct words_module *m, const ElfW(Dyn) * d)
{
	for (; d->d_tag != DT_NULL; d++) {
		const void *at = words_address(m, d->d_un.d_ptr);

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
		case DT_VERNEED:
			m->needs = at;
			break;
		case DT_JMPREL:
			m->calls = at;
			break;
		case DT_PLTRELSZ:
			m->call_count = d->d_un.d_val / sizeof(ElfW(Rela));
			break;
		case DT_RELA:
			m->relocations = at;
			break;
		case DT_RELASZ:
			m->relocation_count = d->d_un.d_val / sizeof(ElfW(Rela));
			break;
		}
	}
}

static void words_segment(struct words_module *m, const ElfW(Phdr) * ph)
{
	const uint64_t page = getauxval(AT_PAGESZ);
	uint64_t start = m->bias + ph->p_vaddr, end = start + ph->p_memsz;

	if (ph->p_type == PT_GNU_RELRO) {
		m->relro_start = FX_ALIGN_DOWN(start, page);
		m->relro_end = FX_ALIGN_DOWN(end, page);
	}
	if (ph->p_type != PT_LOAD)
		return;
	m->image_start = start < m->image_start ? start : m->image_start;
	m->image_end = end > m->image_end ? end : m->image_end;
	if (!(ph->p_flags & PF_X))
		return;
	m->code_start = start < m->code_start ? start : m->code_start;
	m->code_end = end > m->code_end ? end : m->code_end;
}

/* False: there is nothing in it to be changed. The dynamic linker, which is in nobody's way, and this library stay as they are. */
static bool words_module_read(struct words_module *m, const struct dl_phdr_info *info)
{
	const ElfW(Dyn) *dynamic = NULL;
	uint64_t here = (uint64_t)(uintptr_t)&words_all;

	*m = (struct words_module){
	    .bias = info->dlpi_addr, .code_start = UINT64_MAX, .image_start = UINT64_MAX};
	for (unsigned i = 0; i < info->dlpi_phnum; i++) {
		words_segment(m, &info->dlpi_phdr[i]);
		if (info->dlpi_phdr[i].p_type == PT_DYNAMIC)
			dynamic = (const void *)(m->bias + info->dlpi_phdr[i].p_vaddr);
	}
	if (!dynamic || (here >= m->image_start && here < m->image_end) ||
	    m->bias == getauxval(AT_BASE) || strncmp(info->dlpi_name, "linux-", 6) == 0)
		return false;
	words_dynamic(m, dynamic);
	return m->symbols && m->strings;
}

/* The version that the module wants of symbol `i`; empty: none in particular. */
static const char *words_version(const struct words_module *m, uint32_t i)
{
	unsigned wanted = m->versions ? m->versions[i] & 0x7fffu : 0;
	const ElfW(Verneed) *n = wanted > VER_NDX_GLOBAL ? m->needs : NULL;

	while (n) {
		const ElfW(Vernaux) *a = (const void *)((const char *)n + n->vn_aux);

		for (unsigned k = 0; k < n->vn_cnt; k++) {
			if ((a->vna_other & 0x7fffu) == wanted)
				return m->strings + a->vna_name;
			a = (const void *)((const char *)a + a->vna_next);
		}
		n = n->vn_next ? (const void *)((const char *)n + n->vn_next) : NULL;
	}
	return "";
}

static bool relro_set(struct words_module *m, int protection)
{
	return fx_syscall3(SYS_mprotect, m->relro_start, m->relro_end - m->relro_start,
			   protection) == 0;
}

/* Writes a word if it is as expected. False: it is not, or cannot be written. */
static bool word_write(struct words_module *m, uint64_t *at, uint64_t from, uint64_t to)
{
	uint64_t address = (uint64_t)(uintptr_t)at;

	if (address >= m->relro_start && address < m->relro_end && !m->is_open) {
		if (m->is_stubborn || !relro_set(m, PROT_READ | PROT_WRITE)) {
			m->is_stubborn = true;
			return false;
		}
		m->is_open = true;
	}
	return fx_cas_acq_rel(at, &from, to);
}

static void words_module_close(struct words_module *m)
{
	if (m->is_open)
		relro_set(m, PROT_READ);
	m->is_open = false;
}

/* --- Changing --------------------------------------------------------------------------------- */

static struct word *word_new(void)
{
	struct block *b = words_all.last;
	long p;

	if (b && b->count < FX_ARRAY_LEN(b->words))
		return &b->words[b->count];
	if (b && b->next) {
		words_all.last = b->next;
		return &b->next->words[0];
	}
	p = fx_syscall6(SYS_mmap, 0, BLOCK_BYTES, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (fx_syscall_failed(p))
		return NULL;
	if (b)
		b->next = (struct block *)p;
	else
		words_all.first = (struct block *)p;
	words_all.last = (struct block *)p;
	return &words_all.last->words[0];
}

struct words_walk {
	struct fx_words_count count;
	int error;
};

/* Nobody has called through it yet: it leads to the module's own stub, of a function that the module has not. */
static bool is_unbound(const struct words_module *m, uint32_t symbol, uint64_t value)
{
	return value >= m->code_start && value < m->code_end &&
	       m->symbols[symbol].st_shndx == SHN_UNDEF;
}

static void word_change(struct words_module *m, const ElfW(Rela) * r, struct words_walk *walk)
{
	uint32_t symbol = (uint32_t)ELF64_R_SYM(r->r_info);
	unsigned type = (unsigned)ELF64_R_TYPE(r->r_info);
	uint64_t *at = (uint64_t *)(m->bias + r->r_offset), value;
	const char *name = m->strings + m->symbols[symbol].st_name;
	void *wrapper, *real;
	struct word *word;

	if (!symbol || (type != RELOCATION_CALL && type != RELOCATION_WORD))
		return;
	wrapper = fx_lookup_own(name);
	if (!wrapper)
		return;
	value = fx_load_relaxed(at); /* one word, whoever writes it */
	real = fx_lookup(name, words_version(m, symbol));
	if (!real || (value != (uint64_t)(uintptr_t)real &&
		      !(type == RELOCATION_CALL && is_unbound(m, symbol, value))))
		return;
	word = word_new();
	if (!word) {
		walk->error = -ENOMEM;
		return;
	}
	*word = (struct word){at, value, (uint64_t)(uintptr_t)wrapper};
	words_all.last->count++; /* before it: what is changed is known */
	if (word_write(m, at, value, word->after))
		walk->count.changed++;
	else {
		words_all.last->count--;
		walk->count.left++;
	}
}

static int words_change_one(struct dl_phdr_info *info, size_t size, void *opaque)
{
	struct words_walk *walk = opaque;
	struct words_module m;

	(void)size;
	if (!words_module_read(&m, info))
		return 0;
	for (size_t i = 0; i < m.call_count; i++)
		word_change(&m, &m.calls[i], walk);
	for (size_t i = 0; i < m.relocation_count; i++)
		word_change(&m, &m.relocations[i], walk);
	words_module_close(&m);
	return 0;
}

int fx_words_change(struct fx_words_count *ret)
{
	struct words_walk walk = {0};

	/* relaxed: a dlopen() that is under way does not matter, for this walk sees what it has brought, or it sees this */
	fx_store_relaxed(&words_all.on, 1);
	dl_iterate_phdr(words_change_one, &walk);
	*ret = walk.count;
	return walk.error;
}

bool fx_words_are_changed(void)
{
	return fx_load_relaxed(&words_all.on); /* as above */
}

static int words_load_one(struct dl_phdr_info *info, size_t size, void *opaque)
{
	/* relaxed: who puts words back is inside here too, or has not begun */
	return fx_load_relaxed(&words_all.on) ? words_change_one(info, size, opaque) : 1;
}

void fx_words_loaded(void)
{
	struct words_walk walk = {0};

	if (fx_words_are_changed())
		dl_iterate_phdr(words_load_one, &walk);
}

/* --- Putting back ----------------------------------------------------------------------------- */

static bool word_lies_in(const struct words_module *m, const struct word *word)
{
	uint64_t at = (uint64_t)(uintptr_t)word->at;

	return at >= m->image_start && at < m->image_end;
}

/* Of what lay in a module that is gone nothing is touched: no module has it. */
static int words_restore_one(struct dl_phdr_info *info, size_t size, void *opaque)
{
	struct words_walk *walk = opaque;
	struct words_module m;

	(void)size;
	if (!words_module_read(&m, info))
		return 0;
	for (const struct block *b = words_all.first; b; b = b->next) {
		for (uint32_t i = b->count; i--;) {
			const struct word *word = &b->words[i];

			if (!word_lies_in(&m, word) || fx_load_relaxed(word->at) != word->after)
				continue;
			if (word_write(&m, word->at, word->after, word->before))
				walk->count.changed++;
			else
				walk->count.left++;
		}
	}
	words_module_close(&m);
	return 0;
}

/* When the last module was seen; so that who loads one meanwhile comes before it, or finds it over. */
static int words_restore_all(struct dl_phdr_info *info, size_t size, void *opaque)
{
	fx_store_relaxed(&words_all.on, 0);
	return words_restore_one(info, size, opaque);
}

void fx_words_restore(struct fx_words_count *ret)
{
	struct words_walk walk = {0};

	dl_iterate_phdr(words_restore_all, &walk);
	for (struct block *b = words_all.first; b && !walk.count.left; b = b->next)
		b->count = 0;
	if (!walk.count.left)
		words_all.last = words_all.first;
	*ret = walk.count;
}
