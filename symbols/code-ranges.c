/* SPDX-License-Identifier: MIT */
#include "symbols/code-ranges.h"

#include <stdlib.h>
#include <string.h>

#include "symbols/symbols.h"

static int code_problem(enum fx_symbol_problem_kind kind)
{
	return (int)kind + 1;
}

static int code_reserve(struct fx_code_ranges *code, size_t count)
{
	code->count = 0;
	code->list = calloc(count ? count : 1, sizeof(*code->list));
	return code->list ? 0 : code_problem(FX_SYMBOL_FILE_NO_MEMORY);
}

/* There is room. */
static void code_add(struct fx_code_ranges *code, uint64_t start, uint64_t size, bool is_data)
{
	if (size && start + size > start)
		code->list[code->count++] = (struct fx_code_range){start, start + size, is_data};
}

static int code_compare(const void *left, const void *right)
{
	const struct fx_code_range *a = left;
	const struct fx_code_range *b = right;

	return a->start < b->start ? -1 : a->start > b->start;
}

const struct fx_code_range *fx_code_ranges_find(const struct fx_code_ranges *code, uint64_t address)
{
	const struct fx_code_range *range;
	size_t low = 0, high = code->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (code->list[middle].start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	range = low ? &code->list[low - 1] : NULL;
	return range && address < range->end ? range : NULL;
}

static void segment_take(struct fx_code_ranges *code, const GElf_Phdr *segment)
{
	uint64_t align = segment->p_align ? segment->p_align : 1;
	uint64_t end = segment->p_vaddr + segment->p_memsz;

	/* libdwfl counts from the first segment; they stand in ascending order. */
	if (code->start == UINT64_MAX)
		code->start = segment->p_vaddr & -align;
	if (end > code->end)
		code->end = end;
	if (segment->p_flags & PF_X)
		code_add(code, segment->p_vaddr, segment->p_memsz, false);
}

/* Where the file is loaded, and which segments are code. */
static int segments_read(Elf *elf, struct fx_code_ranges *code)
{
	GElf_Phdr segment;
	size_t count;
	int failed;

	if (elf_getphdrnum(elf, &count))
		return code_problem(FX_SYMBOL_FILE_DAMAGED);
	failed = code_reserve(code, count);
	if (failed)
		return failed;
	code->start = UINT64_MAX;
	code->end = 0;
	for (size_t i = 0; i < count; i++) {
		if (!gelf_getphdr(elf, (int)i, &segment))
			return code_problem(FX_SYMBOL_FILE_DAMAGED);
		if (segment.p_type == PT_LOAD)
			segment_take(code, &segment);
	}
	return code->start < code->end ? 0 : code_problem(FX_SYMBOL_FILE_DAMAGED);
}

static bool is_code_section(const GElf_Shdr *header)
{
	const uint64_t wanted = SHF_ALLOC | SHF_EXECINSTR;

	return (header->sh_flags & wanted) == wanted;
}

/* What is written to when it runs; what is only relocated are tables, which are many. */
static bool is_data_section(Elf *elf, const GElf_Shdr *header)
{
	const uint64_t wanted = SHF_ALLOC | SHF_WRITE, unwanted = SHF_EXECINSTR | SHF_TLS;
	static const char relocated[] = ".data.rel.ro";
	const char *name = NULL;
	size_t names;

	if ((header->sh_flags & (wanted | unwanted)) == wanted &&
	    elf_getshdrstrndx(elf, &names) == 0)
		name = elf_strptr(elf, names, header->sh_name);
	return name && strncmp(name, relocated, sizeof(relocated) - 1) != 0;
}

/* Sections, where there are any, are finer than segments: a label cannot reach into the next one. */
static int sections_read(Elf *elf, struct fx_code_ranges *code)
{
	struct fx_code_ranges sections;
	bool has_code = false;
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	size_t count;
	int failed;

	if (elf_getshdrnum(elf, &count) || !count)
		return 0;
	failed = code_reserve(&sections, count);
	if (failed)
		return failed;
	while ((section = elf_nextscn(elf, section))) {
		bool is_code;

		if (!gelf_getshdr(section, &header))
			continue;
		is_code = is_code_section(&header);
		if (is_code || is_data_section(elf, &header))
			code_add(&sections, header.sh_addr, header.sh_size, !is_code);
		has_code = has_code || is_code;
	}
	if (has_code) {
		free(code->list);
		code->list = sections.list;
		code->count = sections.count;
	} else {
		free(sections.list);
	}
	return 0;
}

int fx_code_ranges_read(Elf *elf, struct fx_code_ranges *ret)
{
	struct fx_code_ranges code = {0};
	int failed = segments_read(elf, &code);

	if (!failed)
		failed = sections_read(elf, &code);
	if (failed) {
		free(code.list);
		return failed;
	}
	qsort(code.list, code.count, sizeof(*code.list), code_compare);
	*ret = code;
	return 0;
}

void fx_code_ranges_clear(struct fx_code_ranges *code)
{
	free(code->list);
	*code = (struct fx_code_ranges){0};
}
