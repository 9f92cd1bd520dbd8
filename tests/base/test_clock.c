/* SPDX-License-Identifier: MIT */
#include <elf.h>
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "base/clock.h"
#include "base/syscall.h"
#include "base/vdso.h"

#if defined(__x86_64__)
#define NAME "__vdso_clock_gettime"
#elif defined(__aarch64__)
#define NAME "__kernel_clock_gettime"
#endif

static uint64_t kernel_ns(clockid_t clock)
{
	struct timespec t;

	cr_assert_eq(fx_syscall2(SYS_clock_gettime, clock, &t), 0);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void is_between_readings_of_the_kernel(void)
{
	static const clockid_t clocks[] = {CLOCK_BOOTTIME, CLOCK_MONOTONIC};

	for (unsigned i = 0; i < FX_ARRAY_LEN(clocks); i++) {
		uint64_t before = kernel_ns(clocks[i]);
		uint64_t ns = fx_clock_ns(clocks[i]);

		cr_assert_leq(before, ns);
		cr_assert_leq(ns, kernel_ns(clocks[i]));
	}
}

Test(clock, is_found_by_the_first_reading)
{
	is_between_readings_of_the_kernel();
	cr_assert_eq(fx_clock_has_vdso(), getauxval(AT_SYSINFO_EHDR) != 0);
}

Test(clock, is_read_by_a_system_call_where_there_is_no_vdso)
{
	fx_clock_init(NULL);
	cr_assert_not(fx_clock_has_vdso());
	is_between_readings_of_the_kernel();
}

Test(clock, says_what_the_kernel_says_of_no_clock)
{
	struct timespec t;

	fx_monotonic_ns();
	cr_assert_eq(fx_clock_read(1000, &t), -22);
	cr_assert_eq(fx_clock_ns(1000), 0);
}

Test(clock, auxiliary_vector)
{
	static const unsigned long types[] = {AT_SYSINFO_EHDR, AT_PAGESZ, AT_RANDOM,
					      AT_SECURE,       AT_ENTRY,  1000};
	static const unsigned long vector[] = {AT_ENTRY, 5, AT_PAGESZ, 7, AT_NULL, 9, AT_UID, 11};

	static const unsigned long none[] = {AT_NULL, 3};
	unsigned long value;

	for (unsigned i = 0; i < FX_ARRAY_LEN(types); i++) {
		unsigned long wanted;

		errno = 0;
		wanted = getauxval(types[i]);
		cr_assert_eq(fx_auxv_value(types[i], &value), errno == 0, "type %lu", types[i]);
		cr_assert_eq(value, wanted, "type %lu", types[i]);
	}
	cr_assert(fx_auxv_find(vector, AT_PAGESZ, &value));
	cr_assert_eq(value, 7);
	cr_assert_not(fx_auxv_find(vector, AT_UID, &value));
	cr_assert_eq(value, 0);
	cr_assert_not(fx_auxv_find(vector, AT_NULL, &value));
	cr_assert_not(fx_auxv_find(none, 3, &value));
}

/* --- Images ------------------------------------------------------------------------------------ */

/* With both tables of names; each of them alone finds the functions. */
struct image {
	Elf64_Ehdr header;
	Elf64_Phdr load, dynamic;
	Elf64_Dyn entries[6];
	Elf64_Sym symbols[4];
	uint32_t hash[2 + 1 + 4];
	uint32_t gnu_hash[4 + 2 + 1 + 3];
	char strings[64];
	char code[16];
};

#define BASE	   0x1000u
#define AT(member) (BASE + offsetof(struct image, member))

static void symbol_set(struct image *m, unsigned i, unsigned name, unsigned char type,
		       uint16_t section)
{
	m->symbols[i].st_name = name;
	m->symbols[i].st_info = ELF64_ST_INFO(STB_GLOBAL, type);
	m->symbols[i].st_shndx = section;
	m->symbols[i].st_value = AT(code) + i;
}

/* A function that is not there, no function, and the function. */
static struct image image_make(void)
{
	struct image m = {.strings = "\0missing\0data\0function"};

	memcpy(m.header.e_ident, ELFMAG, SELFMAG);
	m.header.e_ident[EI_CLASS] = ELFCLASS64;
	m.header.e_phoff = offsetof(struct image, load);
	m.header.e_phentsize = sizeof(Elf64_Phdr);
	m.header.e_phnum = 2;
	m.load = (Elf64_Phdr){.p_type = PT_LOAD, .p_vaddr = BASE, .p_memsz = sizeof(m)};
	m.dynamic = (Elf64_Phdr){
	    .p_type = PT_DYNAMIC, .p_vaddr = AT(entries), .p_memsz = sizeof(m.entries)};
	m.entries[0] = (Elf64_Dyn){DT_SYMTAB, {AT(symbols)}};
	m.entries[1] = (Elf64_Dyn){DT_STRTAB, {AT(strings)}};
	m.entries[2] = (Elf64_Dyn){DT_STRSZ, {sizeof(m.strings)}};
	m.entries[3] = (Elf64_Dyn){DT_HASH, {AT(hash)}};
	m.entries[4] = (Elf64_Dyn){DT_GNU_HASH, {AT(gnu_hash)}};
	symbol_set(&m, 1, 1, STT_FUNC, SHN_UNDEF);
	symbol_set(&m, 2, 9, STT_OBJECT, 1);
	symbol_set(&m, 3, 14, STT_FUNC, 1);
	m.hash[0] = 1;
	m.hash[1] = 4;
	m.gnu_hash[0] = 1; /* bucket */
	m.gnu_hash[1] = 1; /* first symbol */
	m.gnu_hash[2] = 1; /* word of the filter */
	m.gnu_hash[6] = 1; /* the bucket's first */
	m.gnu_hash[9] = 1; /* the last one of its chain */
	return m;
}

Test(vdso, function_is_found_by_each_table)
{
	for (unsigned without = 3; without <= 4; without++) {
		struct image m = image_make();

		m.entries[without].d_tag = DT_DEBUG;
		cr_assert_eq(fx_vdso_find(&m, "function"), m.code + 3);
		cr_assert_null(fx_vdso_find(&m, "missing"));
		cr_assert_null(fx_vdso_find(&m, "data"));
		cr_assert_null(fx_vdso_find(&m, "functio"));
		cr_assert_null(fx_vdso_find(&m, "function of another name"));
	}
}

Test(vdso, nothing_is_found_without_a_table)
{
	for (unsigned without = 0; without <= 2; without++) {
		struct image m = image_make();

		m.entries[without].d_tag = DT_DEBUG;
		cr_assert_null(fx_vdso_find(&m, "function"));
	}
	cr_assert_null(fx_vdso_find(NULL, "function"));
}

/* A copy that ends where the memory does, with a byte or some more changed behind the first `sound` ones, which tell
 * what is mapped: it has the function, or not. */
static void try_damaged(const void *original, size_t sound, size_t size, const char *name,
			unsigned rounds)
{
	size_t room = FX_ALIGN_UP(size, 4096u);
	char *memory =
	    mmap(NULL, room + 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char *copy = memory + room - FX_ALIGN_UP(size, 8u);

	cr_assert_neq(memory, MAP_FAILED);
	cr_assert_eq(mprotect(memory + room, 4096, PROT_NONE), 0);
	srandom(1);
	for (unsigned i = 0; i < rounds; i++) {
		const char *found;

		memcpy(copy, original, size);
		for (unsigned n = i % 4 + 1; n; n--)
			copy[sound + (size_t)random() % (size - sound)] = (char)random();
		found = fx_vdso_find(copy, name);
		cr_assert(!found || (found >= copy && found <= copy + size), "round %u", i);
	}
	munmap(memory, room + 4096);
}

Test(vdso, damaged_images)
{
	struct image m = image_make();

	try_damaged(&m, offsetof(struct image, dynamic), sizeof m, "function", 200000);
}

Test(vdso, this_machine)
{
	const char *image = (const char *)getauxval(AT_SYSINFO_EHDR);
	const Elf64_Ehdr *header;
	const Elf64_Phdr *parts;

	if (!image)
		cr_skip_test("this process has no vDSO");
	cr_assert_not_null(fx_vdso_find(image, NAME));
	header = (const void *)image;
	parts = (const void *)(image + header->e_phoff);
	cr_assert_eq(parts[0].p_type, PT_LOAD);
	try_damaged(image, header->e_phoff + header->e_phnum * sizeof *parts, parts[0].p_memsz,
		    NAME, 2000);
}
