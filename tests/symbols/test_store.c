/* SPDX-License-Identifier: MIT */
/* Tables on disk: what is kept comes back, and what is spoiled, another's or of another file counts for nothing. */
#include "symbols/store.h"

#include <criterion/criterion.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define ENTRIES 500u
#define LIMIT	(UINT64_C(1) << 20)

static char top[64], folder[FX_STORE_PATH_MAX], path[FX_STORE_PATH_MAX + 256];
static struct fx_symtab table;
static struct fx_store_key key;

static void begin(void)
{
	char name[32];

	strcpy(top, "/tmp/fxtrace-store-XXXXXX");
	cr_assert_not_null(mkdtemp(top));
	snprintf(folder, sizeof(folder), "%s/not/there/yet/fxtrace", top);
	fx_symtab_begin(&table);
	for (unsigned i = 0; i < ENTRIES; i++) {
		snprintf(name, sizeof(name), "function%u", i);
		cr_assert_eq(fx_symtab_add(&table, name, strlen(name), 16 * i, 16, 1 << 20, 0), 0);
	}
	cr_assert_eq(fx_symtab_finish(&table), 0);
	cr_assert_eq(fx_symtab_want_sources(&table), 0);
	cr_assert_eq(fx_symtab_set_source(&table, 32, "source.c"), 0);
	memset(&key, 0, sizeof(key));
	key.build_id_size = 20;
	memset(key.build_id, 0xab, 20);
	key.size = 12345;
	key.wants_sources = true;
}

static void end(void)
{
	char command[128];

	fx_symtab_clear(&table);
	snprintf(command, sizeof(command), "rm -r '%s'", top);
	cr_expect_eq(system(command), 0);
}

TestSuite(store, .init = begin, .fini = end);

static void keep(void)
{
	fx_store_put(folder, &key, &table, FX_STORE_NS);
}

/* How many files there are; the path of one of them is in `path'. */
static unsigned count_files(void)
{
	DIR *dir = opendir(folder);
	struct dirent *entry;
	unsigned count = 0;

	while (dir && (entry = readdir(dir))) {
		if (entry->d_name[0] == '.')
			continue;
		count++;
		snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
	}
	if (dir)
		closedir(dir);
	return count;
}

static bool is_there(void)
{
	struct fx_symtab found;
	bool there = fx_store_get(folder, &key, LIMIT, &found);

	if (!there)
		return false;
	cr_expect_eq(found.entries.count, ENTRIES);
	cr_expect_eq(found.names.count, table.names.count);
	cr_expect_eq(memcmp(found.names.items, table.names.items, table.names.count), 0);
	cr_expect_eq(fx_symtab_find(&found, 16 * 7 + 3), 7);
	cr_expect_str_eq(fx_symtab_source(&found, 2), "source.c");
	cr_expect_null(fx_symtab_source(&found, 3));
	fx_symtab_clear(&found);
	return true;
}

Test(store, what_is_kept_comes_back)
{
	struct stat st;

	cr_expect_not(is_there());
	fx_store_put(folder, &key, &table, FX_STORE_NS - 1);
	cr_expect_eq(count_files(), 0, "it is small, and took no time");
	keep();
	cr_expect_eq(count_files(), 1);
	cr_assert_eq(stat(path, &st), 0);
	cr_expect_eq(st.st_mode & 0777, 0600);
	cr_expect(is_there());
	keep();
	cr_expect_eq(count_files(), 1);
	cr_expect(is_there());
}

/* Each part of the key tells files apart. */
Test(store, other_files)
{
	const struct fx_store_key right = key;

	keep();
	key.build_id[3]++;
	cr_expect_not(is_there());
	key = right;
	key.build_id_size--;
	cr_expect_not(is_there());
	key = right;
	key.size++;
	cr_expect_not(is_there(), "it was stripped");
	key = right;
	key.debug.inode = 1;
	cr_expect_not(is_there(), "a debug file came");
	key = right;
	key.wants_lines = true;
	cr_expect_not(is_there());
	key = right;
	cr_expect(is_there());
}

/* Every byte counts, and every length. */
Test(store, spoiled)
{
	static char whole[1 << 20];
	struct stat st;
	int fd;

	keep();
	cr_assert_eq(count_files(), 1);
	fd = open(path, O_RDWR);
	cr_assert(fd >= 0 && fstat(fd, &st) == 0 && st.st_size < (off_t)sizeof(whole));
	cr_assert_eq(read(fd, whole, sizeof(whole)), st.st_size);
	for (off_t at = 0; at < st.st_size; at += at < 512 ? 1 : 37) {
		char spoiled = (char)(whole[at] ^ 0x41);

		cr_assert_eq(pwrite(fd, &spoiled, 1, at), 1);
		cr_expect_not(is_there(), "byte %jd", (intmax_t)at);
		cr_assert_eq(pwrite(fd, &whole[at], 1, at), 1);
	}
	cr_expect(is_there());
	for (off_t size = st.st_size - 1; size >= 0; size = size > 600 ? size - 41 : size - 1) {
		cr_assert_eq(ftruncate(fd, size), 0);
		cr_expect_not(is_there(), "%jd bytes", (intmax_t)size);
	}
	close(fd);
	/* What counts for nothing is written anew. */
	keep();
	cr_expect(is_there());
}

/* A file that is whole, and says what cannot be. */
Test(store, hostile)
{
	struct fx_symtab_entry *entry = &table.entries.items[7];
	const struct fx_symtab_entry right = *entry;

	entry->name = (uint32_t)table.names.count;
	keep();
	cr_expect_not(is_there());
	*entry = right;
	entry->outer = 7;
	keep();
	cr_expect_not(is_there());
	*entry = right;
	entry->start = table.entries.items[6].start;
	keep();
	cr_expect_not(is_there());
	*entry = right;
	table.sources[7] = UINT32_MAX;
	keep();
	cr_expect_not(is_there());
	table.sources[7] = 0;
	keep();
	cr_expect(is_there());
}

Test(store, another_hand)
{
	char other[sizeof(path) + 8];

	keep();
	cr_assert_eq(count_files(), 1);
	cr_assert_eq(chmod(path, 0660), 0);
	cr_expect_not(is_there(), "others can write it");
	cr_assert_eq(chmod(path, 0600), 0);
	cr_expect(is_there());
	snprintf(other, sizeof(other), "%s/other", top);
	cr_assert_eq(rename(path, other), 0);
	cr_assert_eq(symlink(other, path), 0);
	cr_expect_not(is_there(), "a link");
	cr_assert_eq(unlink(path), 0);
	cr_assert_eq(mkfifo(path, 0600), 0);
	cr_expect_not(is_there(), "a FIFO");
	cr_assert_eq(unlink(path), 0);
	cr_assert_eq(rename(other, path), 0);
	cr_expect(is_there());
	cr_assert_eq(chmod(folder, 0777), 0);
	cr_expect_not(is_there(), "everybody's folder");
	unlink(path);
	keep();
	cr_expect_eq(count_files(), 0, "nothing is written there");
	cr_assert_eq(chmod(folder, 0700), 0);
	keep();
	cr_expect(is_there());
}

/* The oldest go, and what nobody writes any more. */
Test(store, bounded)
{
	const struct timeval old[2] = {{.tv_sec = 1000}, {.tv_sec = 1000}};
	char left[sizeof(folder) + 32], first[sizeof(path)];
	unsigned count;

	keep();
	cr_assert_eq(count_files(), 1);
	strcpy(first, path);
	snprintf(left, sizeof(left), "%s/left.1.new", folder);
	close(open(left, O_WRONLY | O_CREAT, 0600));
	cr_assert_eq(utimes(left, old), 0);
	cr_assert_eq(utimes(first, old), 0);
	cr_expect(is_there(), "a use makes it young");
	for (unsigned i = 1; i < FX_STORE_ALL_FILES; i++) {
		char more[sizeof(folder) + 32];

		snprintf(more, sizeof(more), "%s/%u.symbols", folder, i);
		close(open(more, O_WRONLY | O_CREAT, 0600));
		cr_assert_eq(utimes(more, old), 0);
	}
	key.size++;
	keep();
	count = count_files();
	cr_expect_eq(count, FX_STORE_ALL_FILES, "%u files", count);
	cr_expect(is_there());
	key.size--;
	cr_expect(is_there());
	cr_expect_neq(access(left, F_OK), 0);
}

Test(store, which_folder)
{
	char found[FX_STORE_PATH_MAX], want[FX_STORE_PATH_MAX];

	unsetenv("XDG_CACHE_HOME");
	setenv("HOME", top, 1);
	snprintf(want, sizeof(want), "%s/.cache/fxtrace", top);
	cr_assert(fx_store_folder(NULL, found));
	cr_expect_str_eq(found, want);
	cr_expect_not(fx_store_folder("no", found));
	cr_assert(fx_store_folder("/somewhere", found));
	cr_expect_str_eq(found, "/somewhere");
	setenv("XDG_CACHE_HOME", top, 1);
	snprintf(want, sizeof(want), "%s/fxtrace", top);
	cr_assert(fx_store_folder(NULL, found));
	cr_expect_str_eq(found, want);
	snprintf(want, sizeof(want), "%s/not/there/yet", top);
	setenv("XDG_CACHE_HOME", want, 1);
	snprintf(want, sizeof(want), "%s/not/there/yet/fxtrace", top);
	cr_assert(fx_store_folder(NULL, found), "it can be made");
	cr_expect_str_eq(found, want);
	setenv("XDG_CACHE_HOME", "/proc/self/status/yet", 1);
	cr_expect_not(fx_store_folder(NULL, found));
	setenv("XDG_CACHE_HOME", "relative", 1);
	cr_expect_not(fx_store_folder(NULL, found));
	setenv("XDG_CACHE_HOME", "", 1);
	setenv("HOME", "/proc/self/none", 1);
	cr_expect_not(fx_store_folder(NULL, found));
	setenv("HOME", geteuid() ? "/" : "/proc/self/fd", 1);
	if (geteuid())
		cr_expect_not(fx_store_folder(NULL, found), "another's");
	if (geteuid() == 0 && chown(top, 12345, 12345) == 0) {
		setenv("HOME", top, 1);
		cr_expect_not(fx_store_folder(NULL, found), "another's");
	}
}
