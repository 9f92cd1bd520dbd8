/* SPDX-License-Identifier: MIT */
#include "attach/libc.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "attach/elf.h"
#include "attach/memory.h"
#include "attach/proc.h"
#include "attach/refusal.h"

static int function_compare(const void *a, const void *b)
{
	const struct fx_target_function *f = a, *g = b;

	return (f->start > g->start) - (f->start < g->start);
}

static void functions_collect(struct fx_target *target, const struct fx_elf *elf,
			      const Elf64_Sym *symbols, uint32_t from, uint32_t count)
{
	for (uint32_t i = from; i < count; i++) {
		const Elf64_Sym *s = &symbols[i];

		if (s->st_shndx == SHN_UNDEF || s->st_name >= elf->string_bytes || !s->st_size ||
		    (ELF64_ST_TYPE(s->st_info) != STT_FUNC &&
		     ELF64_ST_TYPE(s->st_info) != STT_GNU_IFUNC))
			continue;
		target->functions.items[target->functions.count++] = (struct fx_target_function){
		    elf->base + s->st_value, elf->base + s->st_value + s->st_size,
		    target->names + s->st_name};
	}
	qsort(target->functions.items, target->functions.count, sizeof(target->functions.items[0]),
	      function_compare);
}

static int libc_functions_read(struct fx_target *target, const struct fx_elf *elf)
{
	uint32_t count = fx_elf_count(target->pid, elf);
	Elf64_Sym *symbols;
	int r = -EIO;

	if (!count || !elf->string_bytes || elf->string_bytes > 16u << 20)
		return -EIO;
	symbols = calloc(count, sizeof(*symbols));
	target->names = calloc(1, elf->string_bytes + 1);
	if (!symbols || !target->names || fx_vector_reserve(&target->functions, count) < 0) {
		r = -ENOMEM;
	} else if (fx_memory_read(target->pid, elf->symbols, symbols, count * sizeof(*symbols)) &&
		   fx_memory_read(target->pid, elf->strings, target->names, elf->string_bytes)) {
		functions_collect(target, elf, symbols, elf->first_symbol, count);
		r = 0;
	}
	free(symbols);
	return r;
}

const char *fx_target_function_at(const struct fx_target *target, uint64_t address)
{
	const char *name = NULL;

	/* Of several names of one function any does: callers have lists of all. */
	for (size_t i = 0; i < target->functions.count; i++) {
		const struct fx_target_function *f = &target->functions.items[i];

		if (f->start > address)
			break;
		if (address < f->end)
			name = f->name;
	}
	return name;
}

uint64_t fx_target_function_of(const struct fx_target *target, uint64_t module, const char *name)
{
	struct fx_elf elf;
	Elf64_Sym symbol;

	if (!module || !fx_elf_open(target->pid, module, &elf) ||
	    !fx_elf_find(target->pid, &elf, name, &symbol) ||
	    ELF64_ST_TYPE(symbol.st_info) != STT_FUNC)
		return 0;
	return elf.base + symbol.st_value;
}

/* Where these bytes stand in libc's code; 0: nowhere. */
static uint64_t code_find(const uint8_t *code, size_t size, uint64_t start, const void *bytes,
			  size_t count)
{
	const uint8_t *found = memmem(code, size, bytes, count);

	return found ? start + (uint64_t)(found - code) : 0;
}

/*
 * __errno_location() is
 *
 *	mov DISTANCE(%rip), %rax	[endbr64 before it, or not]
 *	add %fs:0, %rax
 *	ret
 */
static bool errno_find(struct fx_target *target)
{
	static const uint8_t mark[] = {0xf3, 0x0f, 0x1e, 0xfa}, load[] = {0x48, 0x8b, 0x05},
			     add[] = {0x64, 0x48, 0x03, 0x04, 0x25, 0, 0, 0, 0, 0xc3};
	uint64_t at = fx_target_function_of(target, target->libc, "__errno_location");
	uint8_t code[32];
	int32_t distance;
	size_t i = 0;

	if (!at || !fx_memory_read(target->pid, at, code, sizeof(code)))
		return false;
	if (memcmp(code, mark, sizeof(mark)) == 0)
		i += sizeof(mark);
	if (memcmp(code + i, load, sizeof(load)) != 0 || memcmp(code + i + 7, add, sizeof(add)))
		return false;
	memcpy(&distance, code + i + 3, sizeof(distance));
	return fx_memory_read(target->pid, at + i + 7 + (uint64_t)(int64_t)distance,
			      &target->errno_offset, sizeof(target->errno_offset));
}

static int libc_read(struct fx_target *target, const struct fx_elf *elf)
{
	static const uint8_t back[] = {0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05},
			     call[] = {0x0f, 0x05, 0xc3};
	size_t size = elf->code_end - elf->code_start;
	uint8_t *code;

	if (elf->code_start >= elf->code_end || size > 64u << 20)
		return -EIO;
	code = malloc(size);
	if (!code)
		return -ENOMEM;
	if (fx_memory_read(target->pid, elf->code_start, code, size)) {
		target->sigreturn = code_find(code, size, elf->code_start, back, sizeof(back));
		target->syscall = code_find(code, size, elf->code_start, call, sizeof(call));
	}
	free(code);
	target->dlopen = fx_target_function_of(target, target->libc, "dlopen");
	return target->sigreturn && target->syscall && errno_find(target) ? 0 : -EIO;
}

int fx_target_read_libc(struct fx_target *target, char *why)
{
	uint64_t linker = 0;
	struct fx_elf elf;

	if (!fx_proc_auxv(target->pid, AT_BASE, &linker) || !linker)
		return fx_target_refuse(
		    why, "its program is static: it has no dynamic linker that could "
			 "load libfxtrace.so");
	if (!target->libc)
		return fx_target_refuse(why, "its C library is not glibc");
	if (!fx_elf_open(target->pid, target->libc, &elf) || libc_functions_read(target, &elf) < 0)
		return fx_target_refuse(why, "its C library cannot be read");
	if (libc_read(target, &elf) < 0)
		return fx_target_refuse(why, "its C library is of a kind that is not known");
	if (!target->dlopen)
		return fx_target_refuse(why, "its C library is older than glibc 2.34");
	return 0;
}
