/* SPDX-License-Identifier: MIT */
/* The sorted table: which symbol stands for an address. */
#include "symbols/table.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#define FUNCTION (FX_RANK_FUNCTION | FX_RANK_GLOBAL | FX_RANK_STRONG)
#define LIMIT	 0x10000

static struct fx_symtab table;

static void begin(void)
{
	fx_symtab_begin(&table);
}

static void end(void)
{
	fx_symtab_clear(&table);
}

static void add(const char *name, uint64_t start, uint64_t size, uint32_t flags)
{
	cr_assert_eq(fx_symtab_add(&table, name, strlen(name), start, size, LIMIT, flags), 0);
}

static const char *name_at(uint64_t address)
{
	uint32_t index = fx_symtab_find(&table, address);
	return index == FX_NO_ENTRY ? "-" : table.names.items + table.entries.items[index].name;
}

TestSuite(table, .init = begin, .fini = end);

Test(table, empty)
{
	cr_assert_eq(fx_symtab_finish(&table), 0);
	cr_expect_str_eq(name_at(0), "-");
	cr_expect_eq(table.entries.count, 0);
}

Test(table, borders)
{
	add("second", 0x200, 0x10, FUNCTION);
	add("first", 0x100, 0x20, FUNCTION);
	cr_assert_eq(fx_symtab_finish(&table), 0);
	cr_expect_str_eq(name_at(0xff), "-");
	cr_expect_str_eq(name_at(0x100), "first");
	cr_expect_str_eq(name_at(0x11f), "first");
	cr_expect_str_eq(name_at(0x120), "-");
	cr_expect_str_eq(name_at(0x20f), "second");
	cr_expect_str_eq(name_at(0x210), "-");
	cr_expect_str_eq(name_at(UINT64_MAX), "-");
}

Test(table, without_size_up_to_the_next)
{
	add("open", 0x100, 0, FUNCTION);
	add("next", 0x180, 0x10, FUNCTION);
	add("last", 0x1000, 0, FUNCTION);
	cr_assert_eq(fx_symtab_finish(&table), 0);
	cr_expect_str_eq(name_at(0x17f), "open");
	cr_expect_str_eq(name_at(0x180), "next");
	cr_expect_str_eq(name_at(0x190), "-");
	cr_expect_str_eq(name_at(LIMIT - 1), "last");
	cr_expect_str_eq(name_at(LIMIT), "-");
}

Test(table, ends_with_its_code)
{
	add("endless", 0x100, UINT64_MAX, FUNCTION);
	add("behind", LIMIT, 0x10, FUNCTION);
	cr_assert_eq(fx_symtab_finish(&table), 0);
	cr_expect_eq(table.entries.count, 1);
	cr_expect_str_eq(name_at(LIMIT - 1), "endless");
	cr_expect_str_eq(name_at(LIMIT), "-");
}

Test(table, inner_before_outer)
{
	add("outer", 0x100, 0x100, FUNCTION);
	add("inner", 0x120, 0x20, FUNCTION);
	add("innermost", 0x130, 0x8, FUNCTION);
	add("across", 0x1f0, 0x20, FUNCTION);
	add("label", 0x150, 0, FX_RANK_GLOBAL);
	cr_assert_eq(fx_symtab_finish(&table), 0);
	cr_expect_str_eq(name_at(0x110), "outer");
	cr_expect_str_eq(name_at(0x12f), "inner");
	cr_expect_str_eq(name_at(0x137), "innermost");
	cr_expect_str_eq(name_at(0x138), "inner");
	cr_expect_str_eq(name_at(0x140), "outer");
	cr_expect_str_eq(name_at(0x150), "outer");
	cr_expect_str_eq(name_at(0x1f0), "across");
	cr_expect_str_eq(name_at(0x20f), "across");
	cr_expect_str_eq(name_at(0x210), "-");
}

/* The better one of each pair comes out, whichever was added first. */
Test(table, which_of_two)
{
	static const struct {
		const char *better;
		uint32_t better_flags;
		uint64_t better_size;
		const char *other;
		uint32_t other_flags;
		uint64_t other_size;
	} pairs[] = {
	    {"__f", FX_RANK_FUNCTION, 0, "label", FX_RANK_GLOBAL | FX_RANK_STRONG, 4},
	    {"__sized", FX_RANK_FUNCTION, 4, "open", FUNCTION, 0},
	    {"__global", FUNCTION, 4, "local", FX_RANK_FUNCTION, 4},
	    {"read", FX_RANK_FUNCTION | FX_RANK_GLOBAL, 4, "__read", FUNCTION, 4},
	    {"strong", FUNCTION, 4, "feeble", FX_RANK_FUNCTION | FX_RANK_GLOBAL, 4},
	    {"_ZN1AC1Ev", FUNCTION, 4, "_ZN1AC2Ev", FUNCTION, 4},
	};
	const uint64_t count = sizeof(pairs) / sizeof(pairs[0]);
	for (uint64_t i = 0; i < count; i++) {
		uint64_t twice[] = {0x100 + i * 0x20, 0x110 + i * 0x20};
		add(pairs[i].better, twice[0], pairs[i].better_size, pairs[i].better_flags);
		add(pairs[i].other, twice[0], pairs[i].other_size, pairs[i].other_flags);
		add(pairs[i].other, twice[1], pairs[i].other_size, pairs[i].other_flags);
		add(pairs[i].better, twice[1], pairs[i].better_size, pairs[i].better_flags);
	}
	cr_assert_eq(fx_symtab_finish(&table), 0);
	cr_expect_eq(table.entries.count, 2 * count);
	for (uint64_t i = 0; i < count; i++) {
		cr_expect_str_eq(name_at(0x100 + i * 0x20), pairs[i].better);
		cr_expect_str_eq(name_at(0x110 + i * 0x20), pairs[i].better);
	}
}

/* Against a plain search over all symbols, for symbols at random. */
Test(table, agrees_with_a_plain_search)
{
	enum { SYMBOLS = 500 };
	uint64_t starts[SYMBOLS];
	uint64_t sizes[SYMBOLS];
	uint32_t state = 12345;
	for (int i = 0; i < SYMBOLS; i++) {
		state = state * 1664525 + 1013904223;
		starts[i] = (uint64_t)i * 16 + ((state >> 8) & 15);
		sizes[i] = 1 + ((state >> 16) & ((state >> 30) ? 31 : 1023));
		char name[16];
		snprintf(name, sizeof(name), "s%d", i);
		add(name, starts[i], sizes[i], FUNCTION);
	}
	cr_assert_eq(fx_symtab_finish(&table), 0);
	for (uint64_t address = 0; address < SYMBOLS * 16 + 1024; address++) {
		char expected[16] = "-";
		for (int i = 0; i < SYMBOLS; i++)
			if (address >= starts[i] && address - starts[i] < sizes[i])
				snprintf(expected, sizeof(expected), "s%d", i);
		cr_assert_str_eq(name_at(address), expected, "at %#lx", (unsigned long)address);
	}
}

Test(table, a_million_symbols)
{
	const uint64_t count = 1000000;
	/* Multiples of an odd number, modulo a power of two, come in no order. */
	for (uint64_t i = 0; i < count; i++) {
		uint64_t at = i * 7919 % (1 << 20);
		char name[16];
		int length = snprintf(name, sizeof(name), "f%llu", (unsigned long long)at);
		cr_assert_eq(
		    fx_symtab_add(&table, name, (size_t)length, at * 16, 16, UINT64_MAX, FUNCTION),
		    0);
	}
	cr_assert_eq(fx_symtab_finish(&table), 0);
	cr_expect_eq(table.entries.count, count);
	for (uint64_t i = 0; i < count; i += 997) {
		uint64_t at = i * 7919 % (1 << 20);
		char name[16];
		snprintf(name, sizeof(name), "f%llu", (unsigned long long)at);
		cr_assert_str_eq(name_at(at * 16 + 15), name);
	}
	cr_expect_leq(fx_symtab_memory(&table), 100 * count);
}
