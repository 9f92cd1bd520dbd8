/* SPDX-License-Identifier: MIT */
/* Lines of the kernel's log that tell of faults. */
#include <criterion/criterion.h>

#include "manager/process/ending.h"

static bool parse(const char *line, struct fx_ending *ret)
{
	*ret = (struct fx_ending){.tid = 1, .address = 2, .code = 3};
	return fx_ending_parse(line, ret);
}

static void expect_fault(const char *line, uint32_t tid)
{
	struct fx_ending e;

	cr_assert(parse(line, &e), "%s", line);
	cr_assert_eq(e.tid, tid, "%s: %u", line, e.tid);
}

Test(ending, segmentation_faults)
{
	struct fx_ending e;

	cr_assert(parse("6,812,9812345,-;crash[4711]: segfault at 8 ip 000055d0c0de1139 sp "
			"00007ffc11112220 error 6 in crash[55d0c0de1000+1000]",
			&e));
	cr_assert_eq(e.tid, 4711);
	cr_assert(e.has_address && e.has_code);
	cr_assert_eq(e.address, 8);
	cr_assert_eq(e.code, 0x55d0c0de1139);
	expect_fault(
	    "7,1,2,-;a b[77]: segfault (11) at 10 nip 10000668 lr 10000658 code 1 in a b[1+2]", 77);
}

/* The processor does not say which address it was that is none. */
Test(ending, general_protection_faults)
{
	struct fx_ending e;

	cr_assert(parse("6,9,10,-;traps: crash[4712] general protection fault ip:401136 "
			"sp:7ffd00112233 error:0 in crash[401000+1000]",
			&e));
	cr_assert_eq(e.tid, 4712);
	cr_assert(!e.has_address && e.has_code);
	cr_assert_eq(e.code, 0x401136);
	expect_fault("traps: crash[12] trap stack segment ip:401136 sp:7ffd error:0", 12);
}

Test(ending, an_address_alone)
{
	struct fx_ending e;

	cr_assert(parse("6,9,10,-;crash[31]: unhandled signal 11 code 0x1 at 0x0000000000000008 in "
			"crash[2aaa+1000]",
			&e));
	cr_assert_eq(e.tid, 31);
	cr_assert(e.has_address && !e.has_code);
	cr_assert_eq(e.address, 8);
}

Test(ending, what_is_none)
{
	static const char *const lines[] = {
	    "",
	    "[",
	    "]: segfault at ",
	    "]: segfault at 8 ip 9",
	    "[]: segfault at 8 ip 9",
	    "12]: segfault at 8 ip 9",
	    "a[12]: segfault at",
	    "a[12]: segfault at ",
	    "a[12]: segfault at  ip 9",
	    "a[12]: segfault at 8",
	    "a[12]: segfault at 8 ip",
	    "a[12]: segfault at 8 ip -9",
	    "a[-12]: segfault at 8 ip 9",
	    "a[99999999999999999999]: segfault at 8 ip 9",
	    "a[12]: segfault at 11112222333344445 ip 9",
	    "a[12] general protection fault ip:",
	    "traps: a[12] trap invalid opcode ip:401136 sp:7ffd error:0",
	    /* arm64 writes registers in lines of their own */
	    ("a[12]: unhandled exception: DABT (lower EL), ESR 0x0000000092000046, level 2 "
	     "translation fault in a[aaaad0000000+1000]"),
	    "a[12]: unhandled signal 4 code 0x1 at 0x8",
	};

	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		struct fx_ending e;

		cr_assert_not(parse(lines[i], &e), "%s", lines[i]);
		cr_assert(e.tid == 1 && e.address == 2 && e.code == 3 && !e.has_fault, "%s",
			  lines[i]);
	}
}

/* A thread may have any name of 15 bytes. */
Test(ending, names_like_parts_of_the_line)
{
	expect_fault("6,1,2,-;]: segfault at [5]: segfault at 8 ip 9 sp a error 4", 5);
	expect_fault("6,1,2,-;[7]: segfault a[5]: segfault at 8 ip 9 sp a error 4", 5);
	expect_fault("6,1,2,-;traps: x[1] y[2][5] general protection fault ip:9 sp:a error:0", 5);
}
