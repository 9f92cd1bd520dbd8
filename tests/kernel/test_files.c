/* SPDX-License-Identifier: MIT */
/* What lies at an address, as mappings come one over another. */
#include "kernel/files.h"

#include <criterion/criterion.h>
#include <string.h>
#include <unistd.h>

static struct fx_files *files;

static void prepare(void)
{
	files = fx_files_create();
}

static void finish(void)
{
	fx_files_destroy(files);
}

TestSuite(files, .init = prepare, .fini = finish);

static void expect_at(uint32_t pid, uint64_t address, const char *want, uint64_t want_offset)
{
	uint64_t offset = 0;
	const char *path = fx_files_at(files, pid, address, &offset);

	if (!want) {
		cr_expect_null(path);
		return;
	}
	cr_assert_not_null(path);
	cr_expect_str_eq(path, want);
	cr_expect_eq(offset, want_offset);
}

Test(files, newest_counts)
{
	fx_files_map(files, 1, 0x1000, 0x4000, 0x100, "a");
	expect_at(1, 0xfff, NULL, 0);
	expect_at(1, 0x1000, "a", 0x100);
	expect_at(1, 0x4fff, "a", 0x40ff);
	expect_at(1, 0x5000, NULL, 0);
	expect_at(2, 0x1000, NULL, 0);
	fx_files_map(files, 1, 0x2000, 0x1000, 0, "b");
	expect_at(1, 0x2010, "b", 0x10);
	expect_at(1, 0x3000, "a", 0x2100);
	fx_files_map(files, 1, 0, 0x10000, 0, "c");
	expect_at(1, 0x2010, "c", 0x2010);
	/* None at all, or one that goes round. */
	fx_files_map(files, 1, 0x20000, 0, 0, "d");
	fx_files_map(files, 1, UINT64_MAX - 1, 0x1000, 0, "d");
	expect_at(1, 0x20000, NULL, 0);
	expect_at(1, UINT64_MAX - 1, NULL, 0);
}

Test(files, lives)
{
	fx_files_map(files, 1, 0x1000, 0x1000, 0, "a");
	fx_files_fork(files, 1, 2);
	fx_files_fork(files, 1, 1);
	fx_files_fork(files, 7, 8);
	fx_files_map(files, 2, 0x1000, 0x1000, 0, "b");
	expect_at(1, 0x1000, "a", 0);
	expect_at(2, 0x1000, "b", 0);
	fx_files_clear(files, 1);
	fx_files_clear(files, 9);
	expect_at(1, 0x1000, NULL, 0);
	expect_at(2, 0x1000, "b", 0);
}

Test(files, of_this_process)
{
	uint64_t offset;
	const char *path;

	fx_files_read(files, (uint32_t)getpid());
	path = fx_files_at(files, (uint32_t)getpid(), (uint64_t)(uintptr_t)prepare, &offset);
	cr_assert_not_null(path);
	cr_expect_str_eq(strrchr(path, '/'), "/test_files");
}
