/* SPDX-License-Identifier: MIT */
/*
 * For the programs that the tests resolve: they print what a traced process records of itself, and
 * which function stands where, as lines of
 *
 *	module BIAS START END BUILD-ID PATH
 *	function ADDRESS NAME
 *
 * with hexadecimal numbers, and "-" for no build-id. In C and in C++.
 */
#ifndef FX_TESTS_SYMBOLS_REPORT_H
#define FX_TESTS_SYMBOLS_REPORT_H

#include <link.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define REPORT_ALIGN(size) (((size) + 3u) & ~3u)

static inline void report_build_id(const unsigned char *note, size_t size)
{
	const unsigned char *end = note + size;
	while ((size_t)(end - note) >= sizeof(ElfW(Nhdr))) {
		ElfW(Nhdr) header;
		memcpy(&header, note, sizeof(header));
		const unsigned char *name = note + sizeof(header);
		const unsigned char *id = name + REPORT_ALIGN(header.n_namesz);
		if (header.n_type == NT_GNU_BUILD_ID && header.n_namesz == 4 &&
		    !memcmp(name, "GNU", 4)) {
			for (size_t i = 0; i < header.n_descsz; i++)
				printf("%02x", id[i]);
			return;
		}
		note = id + REPORT_ALIGN(header.n_descsz);
	}
	putchar('-');
}

static inline int report_module(struct dl_phdr_info *info, size_t size, void *unused)
{
	(void)size;
	(void)unused;
	ElfW(Addr) start = ~(ElfW(Addr))0;
	ElfW(Addr) end = 0;
	const ElfW(Phdr) *note = NULL;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
		if (segment->p_type == PT_LOAD) {
			if (segment->p_vaddr < start)
				start = segment->p_vaddr;
			if (segment->p_vaddr + segment->p_memsz > end)
				end = segment->p_vaddr + segment->p_memsz;
		}
		/* The other note that linkers make, of properties, is aligned to 8 bytes. */
		if (segment->p_type == PT_NOTE && segment->p_align == 4 && !note)
			note = segment;
	}
	printf("module %lx %lx %lx ", (unsigned long)info->dlpi_addr,
	       (unsigned long)(info->dlpi_addr + start), (unsigned long)(info->dlpi_addr + end));
	if (note)
		report_build_id((const unsigned char *)info->dlpi_addr + note->p_vaddr,
				note->p_memsz);
	else
		putchar('-');

	char program[4096];
	ssize_t length = readlink("/proc/self/exe", program, sizeof(program) - 1);
	program[length > 0 ? length : 0] = '\0';
	printf(" %s\n", info->dlpi_name[0] ? info->dlpi_name : program);
	return 0;
}

static inline void report_modules(void)
{
	dl_iterate_phdr(report_module, NULL);
}

static inline void report_function(const void *address, const char *name)
{
	printf("function %lx %s\n", (unsigned long)address, name);
}

#endif
