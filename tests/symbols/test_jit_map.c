/* SPDX-License-Identifier: MIT */
/* Maps of made code: which line an address has, files that grow and are replaced, and files that are none. */
#include "symbols/jit-map.h"
#include "symbols/made.h"
#include "symbols/symbols.h"

#include <criterion/criterion.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

static char path[64];
static struct fx_symbol_cache *cache;
static struct fx_symspace *space;

static void begin(void)
{
	/* Each test is a process of its own; no other writes a map of that number. */
	const uint32_t pid = (uint32_t)getpid();

	snprintf(path, sizeof(path), "/tmp/perf-%u.map", pid);
	unlink(path);
	cr_assert_eq(fx_symbol_cache_create(NULL, &cache), 0);
	cr_assert_eq(fx_symspace_create(cache, &space), 0);
	fx_symspace_expect_map(space, pid, geteuid(), 0);
}

static void end(void)
{
	fx_symspace_destroy(space);
	fx_symbol_cache_destroy(cache);
	unlink(path);
}

TestSuite(jit_map, .init = begin, .fini = end);

static void map_write(const char *mode, const char *text)
{
	FILE *file = fopen(path, mode);

	cr_assert_not_null(file);
	fputs(text, file);
	fclose(file);
}

/* The name of an address as a reader of the archive finds it. */
static const char *name_of(uint64_t address)
{
	static char text[FX_SYMBOL_TEXT_MAX];
	struct fx_symbol symbol;

	usleep(2 * FX_MADE_FRESH_NS / 1000); /* what is known is looked up anew */
	fx_symspace_want_made(space, address);
	fx_symspace_resolve(space, address, &symbol);
	if (symbol.kind == FX_SYMBOL_NAMED)
		cr_expect_str_eq(symbol.module, "jit");
	fx_symbol_format(&symbol, text, sizeof(text));
	return text;
}

Test(jit_map, lines)
{
	map_write("w", "1000 10 first\n"
		       "0x2000 0x20 JS:~with blanks /tmp/@scope/file.js:1:2\n"
		       "3000 0 empty\n"
		       "4000 10\n"
		       "5000 10 \n"
		       "nonsense\n"
		       "\n"
		       "6000 fffffffffffff000 beyond\n"
		       "12345678901234567 10 too long a number\n"
		       "fffffffffffffff8 10 around\n"
		       "7000 10 _ZN3foo3barEv\n"
		       "8000 10 \x01\xff\n"
		       "9000 10 not yet");
	cr_expect_str_eq(name_of(0x1000), "first");
	cr_expect_str_eq(name_of(0x100f), "first+0xf");
	cr_expect_str_eq(name_of(0x1010), "0x1010");
	cr_expect_str_eq(name_of(0x2000), "JS:~with blanks /tmp/@scope/file.js:1:2");
	cr_expect_str_eq(name_of(0x3000), "0x3000");
	cr_expect_str_eq(name_of(0x4000), "0x4000");
	cr_expect_str_eq(name_of(0x5000), "0x5000");
	cr_expect_str_eq(name_of(0x6000), "0x6000");
	cr_expect_str_eq(name_of(UINT64_MAX - 1), "0xfffffffffffffffe");
	cr_expect_str_eq(name_of(0x7000), "_ZN3foo3barEv", "as its compiler shows it");
	cr_expect_str_eq(name_of(0x8000), "\\x01\\xFF");
	cr_expect_str_eq(name_of(0x9000), "0x9000", "the line has no end");
	map_write("a", "!\n");
	cr_expect_str_eq(name_of(0x9000), "not yet!");
}

Test(jit_map, grows_and_is_replaced)
{
	char line[64];

	map_write("w", "1000 10 first\n2000 10 other\n");
	/* More looks than are kept apart. */
	for (unsigned i = 0; i < 40; i++) {
		snprintf(line, sizeof(line), "%x 10 function%u\n", 0x10000 + 16 * i, i);
		map_write("a", line);
		snprintf(line, sizeof(line), "function%u", i);
		cr_expect_str_eq(name_of(0x10000 + 16 * i), line);
	}
	cr_expect_str_eq(name_of(0x10000), "function0");
	cr_expect_str_eq(name_of(0x1000), "first");
	/* The last that covers an address is right. */
	map_write("a", "1004 4 second\n");
	cr_expect_str_eq(name_of(0x1000), "first");
	cr_expect_str_eq(name_of(0x1004), "second");
	cr_expect_str_eq(name_of(0x1008), "first+0x8");
	map_write("w", "1000 10 anew\n");
	cr_expect_str_eq(name_of(0x1000), "anew");
	cr_expect_str_eq(name_of(0x2000), "0x2000");
	unlink(path);
	map_write("w", "1000 10 another file\n2000 10 of its own\n");
	cr_expect_str_eq(name_of(0x2000), "of its own");
	cr_expect_str_eq(name_of(0x1000), "another file");
}

/* By another way: each address has the last of all lines that cover it. */
Test(jit_map, last_line_is_right)
{
	enum { ADDRESSES = 400, LINES = 300 };
	unsigned wanted[ADDRESSES] = {0};
	FILE *file = fopen(path, "w");
	struct fx_jit_source source = {.owner = geteuid()};
	struct fx_symtab table;
	int fd;

	cr_assert_not_null(file);
	srand(7);
	for (unsigned i = 1; i <= LINES; i++) {
		unsigned start = (unsigned)rand() % ADDRESSES, size = 1 + (unsigned)rand() % 30;

		fprintf(file, "%x %x %u\n", start, size, i);
		for (unsigned a = start; a < start + size && a < ADDRESSES; a++)
			wanted[a] = i;
	}
	fclose(file);
	cr_assert_eq(fx_jit_map_open(-1, path, &source, &fd), 0);
	cr_assert_eq(fx_jit_map_read(fd, &source, FX_SYMBOL_BYTES, &table), 0);
	close(fd);
	for (unsigned a = 0; a < ADDRESSES; a++) {
		uint32_t index = fx_symtab_find(&table, a);
		unsigned found =
		    index == FX_NO_ENTRY
			? 0
			: (unsigned)atoi(table.names.items + table.entries.items[index].name);

		cr_assert_eq(found, wanted[a], "address %u: line %u, and not %u", a, found,
			     wanted[a]);
	}
	fx_symtab_clear(&table);
}

static int open_problem(const struct fx_jit_source *source)
{
	int fd, failed = fx_jit_map_open(-1, path, source, &fd);

	if (!failed)
		close(fd);
	return failed;
}

Test(jit_map, is_none)
{
	const int unreadable = FX_SYMBOL_FILE_UNREADABLE + 1;
	struct fx_jit_source source = {.owner = geteuid()};
	const struct timeval old[2] = {{.tv_sec = 1000}, {.tv_sec = 1000}};
	char other[80];

	cr_expect_eq(open_problem(&source), FX_SYMBOL_FILE_MISSING + 1);
	map_write("w", "1000 10 first\n");
	cr_expect_eq(open_problem(&source), 0);
	source.owner++;
	cr_expect_eq(open_problem(&source), unreadable, "another user's");
	source.owner--;
	source.since_ns = UINT64_C(2000000000000);
	cr_expect_eq(open_problem(&source), 0);
	cr_assert_eq(utimes(path, old), 0);
	cr_expect_eq(open_problem(&source), unreadable, "a process's before");
	source.since_ns = 0;
	snprintf(other, sizeof(other), "%s.other", path);
	cr_assert_eq(rename(path, other), 0);
	cr_assert_eq(symlink(other, path), 0);
	cr_expect_eq(open_problem(&source), unreadable, "a link");
	unlink(path);
	unlink(other);
	cr_assert_eq(mkfifo(path, 0600), 0);
	cr_expect_eq(open_problem(&source), unreadable, "a FIFO");
	unlink(path);
	cr_assert_eq(mkdir(path, 0700), 0);
	cr_expect_eq(open_problem(&source), unreadable, "a folder");
	cr_expect_str_eq(name_of(0x1000), "0x1000");
	rmdir(path);
}

/* A map of what is no text at all, and of a line that never ends, is gone through to its end. */
Test(jit_map, hostile)
{
	struct fx_jit_source source = {.owner = geteuid()};
	struct fx_symtab table;
	FILE *file = fopen(path, "w");
	uint64_t before;
	int fd;

	cr_assert_not_null(file);
	srand(11);
	for (unsigned i = 0; i < 100000; i++)
		fputc("0123456789abcdefx \n\n\xff"[rand() % 21], file);
	for (unsigned i = 0; i < 5000; i++)
		fputc('x', file);
	fclose(file);
	cr_assert_eq(fx_jit_map_open(-1, path, &source, &fd), 0);
	/* A thousand bytes at a time. */
	do {
		before = source.mark.end;
		cr_assert_eq(fx_jit_map_read(fd, &source, 1000, &table), 0);
		source.mark = table.jit;
		for (size_t i = 1; i < table.entries.count; i++)
			cr_assert_gt(table.entries.items[i].start,
				     table.entries.items[i - 1].start);
		fx_symtab_clear(&table);
	} while (source.mark.end > before);
	cr_expect_gt(source.mark.end, 104000, "%ju", (uintmax_t)source.mark.end);
	close(fd);
}
