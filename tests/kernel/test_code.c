/* SPDX-License-Identifier: MIT */
/* Words of this program's own file are those of its memory, and a file that was cut gives what it has. */
#include "kernel/code.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <link.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static int own_file(void)
{
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);

	cr_assert_geq(fd, 0);
	return fd;
}

/* The first module is the program. */
static int bias_note(struct dl_phdr_info *info, size_t size, void *ret)
{
	(void)size;
	*(uint64_t *)ret = info->dlpi_addr;
	return 1;
}

Test(code, own_program)
{
	struct fx_code code = {.fd = own_file()};
	uint64_t bias = 0, word, memory, place;

	cr_assert(fx_code_parse(&code));
	cr_expect_neq(code.table, 0);
	dl_iterate_phdr(bias_note, &bias);
	place = (uint64_t)(uintptr_t)own_file;
	memcpy(&memory, (const void *)(uintptr_t)place, 8);
	cr_assert(fx_code_word(&code, place - bias, &word));
	cr_expect_eq(word, memory);
	memcpy(&memory, (const void *)(uintptr_t)(code.table + bias), 8);
	cr_assert(fx_code_word(&code, code.table, &word)); /* of the tables, which are kept */
	cr_expect_eq(word, memory);
	cr_expect_not(fx_code_word(&code, UINT64_MAX - 16, &word));
	cr_assert(fx_code_address(&code, 0, &place));
	cr_expect_not(fx_code_address(&code, UINT64_MAX / 2, &place));
	fx_code_close(&code);
}

struct library {
	char path[256];
	uint64_t bias;
};

static int library_note(struct dl_phdr_info *info, size_t size, void *opaque)
{
	struct library *ret = opaque;

	(void)size;
	if (!strstr(info->dlpi_name, "libc.so"))
		return 0;
	strncpy(ret->path, info->dlpi_name, sizeof(ret->path) - 1);
	ret->bias = info->dlpi_addr;
	return 1;
}

/* Tables that are read in pieces are those in memory, also where a word lies in two. */
Test(code, large_tables)
{
	struct library libc = {.bias = 0};
	struct fx_code code = {.fd = -1};
	uint64_t word, memory;

	dl_iterate_phdr(library_note, &libc);
	code.fd = open(libc.path, O_RDONLY | O_CLOEXEC);
	cr_assert(fx_code_parse(&code));
	cr_assert_gt(code.tables.size, 100000);
	for (uint64_t at = 0; at + 8 <= code.tables.size; at++) {
		uint64_t address = code.tables.address + at;

		memcpy(&memory, (const void *)(uintptr_t)(address + libc.bias), 8);
		if (!fx_code_word(&code, address, &word) || word != memory)
			cr_assert_fail("the word at %#llx", (unsigned long long)at);
	}
	cr_expect_not(fx_code_word(&code, code.tables.address + code.tables.size - 7, &word));
	fx_code_close(&code);
}

/* As long as whole pages of it. */
Test(code, cut)
{
	int from = own_file();
	uint8_t bytes[4096];
	uint64_t word;
	size_t size = 0;

	for (ssize_t n; (n = pread(from, bytes, sizeof(bytes), (off_t)size)) > 0; size += 4096) {
		struct fx_code code = {.fd = memfd_create("cut", MFD_CLOEXEC)};

		cr_assert_geq(code.fd, 0);
		for (size_t at = 0; at < size; at += 4096) {
			cr_assert_eq(pread(from, bytes, sizeof(bytes), (off_t)at), sizeof(bytes));
			cr_assert_eq(pwrite(code.fd, bytes, sizeof(bytes), (off_t)at),
				     sizeof(bytes));
		}
		if (fx_code_parse(&code) && code.table) {
			fx_code_word(&code, code.table, &word);
			fx_code_word(&code, code.table, &word);
		}
		fx_code_close(&code);
	}
	close(from);
}
