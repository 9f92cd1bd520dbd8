/* SPDX-License-Identifier: MIT */
/* Operands of static probes as definitions of the kernel's, and which probes a list of categories asks for. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "kernel/probe-find.h"
#include "kernel/probe-operand.h"

struct expected {
	const char *list;
	const char *shown; /* type=fetch, constants with a #, what cannot be had with a ? */
};

static void list_show(const char *list, char *ret, size_t size)
{
	struct fx_probe_argument arguments[FX_PROBE_ARGUMENTS];
	const struct fx_probe_seen probe = {.arguments = list};
	unsigned count = fx_probe_operands(&probe, arguments);
	size_t used = 0;

	ret[0] = 0;
	for (unsigned i = 0; i < count; i++) {
		const struct fx_probe_argument *a = &arguments[i];

		used += (size_t)snprintf(ret + used, size - used, "%s%s=", i ? " " : "",
					 fx_probe_argument_type(a));
		if (a->kind == FX_PROBE_FETCHED)
			used += (size_t)snprintf(ret + used, size - used, "%s", a->fetch);
		else if (a->kind == FX_PROBE_CONSTANT)
			used += (size_t)snprintf(ret + used, size - used, "#%lld",
						 (long long)a->constant);
		else
			used += (size_t)snprintf(ret + used, size - used, "?");
	}
}

static const struct expected table[] = {
    {"", ""},
    {"   ", ""},
#if defined(__x86_64__)
    {"-4@%eax 8@%rsi", "s32=%ax u64=%si"},
    {"1@%al -1@%bpl 2@%r8w -2@%r15w 4@%r10d 8@%r11",
     "u8=%ax s8=%bp u16=%r8 s16=%r15 u32=%r10 u64=%r11"},
    {"-4@112(%rsp) 8@-80(%rbx) 8@(%rdi) 4@0x10(%r9)",
     "s32=+112(%sp) u64=-80(%bx) u64=+0(%di) u32=+16(%r9)"},
    {"-4@$7 -2@$-3", "s32=#7 s16=#-3"},
    {"8f@%rcx 4f@-4(%rbp) 8f@%xmm0", "f64=%cx f32=-4(%bp) f64=?"},
    /* Nothing that the kernel could fetch: */
    {"8@(%rax,%rbx,8) 4@counter(%rip) 1@%ah 8@%rip 4@%fs:0 8@8(%rax",
     "u64=? u32=? u8=? u64=? u32=? u64=?"},
    /* Nothing that <sys/sdt.h> would write: */
    {"%rax 3@%eax 8@ @%rax -f@%eax 1f@%al 8@$ 8@$5x 8@(%) 8@%r16 8@%r8z 8@%r8dd",
     "u64=? u64=? u64=? u64=? u64=? f64=? u64=? u64=? u64=? u64=? u64=? u64=?"},
    {"8@%rax  8@%rbx ", "u64=%ax u64=%bx"},
    /* Twelve at most. */
    {"1@$1 1@$2 1@$3 1@$4 1@$5 1@$6 1@$7 1@$8 1@$9 1@$10 1@$11 1@$12 1@$13",
     "u8=#1 u8=#2 u8=#3 u8=#4 u8=#5 u8=#6 u8=#7 u8=#8 u8=#9 u8=#10 u8=#11 u8=#12"},
#elif defined(__aarch64__)
    {"-4@w0 8@x30", "s32=%x0 u64=%x30"},
    {"8@[sp, 16] -4@[x29, -20] 8@[x3] 8@[x1,8]",
     "u64=+16(%sp) s32=-20(%x29) u64=+0(%x3) u64=+8(%x1)"},
    {"-4@7 8@xzr 4@wzr -4@-3", "s32=#7 u64=#0 u32=#0 s32=#-3"},
    {"8@[x0, x1] 8@x31 8f@d0 8@[sp, 16 8@", "u64=? u64=? f64=? u64=?"},
#endif
};

Test(probe_operand, table)
{
	char shown[512];

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		list_show(table[i].list, shown, sizeof(shown));
		cr_expect_str_eq(shown, table[i].shown, "%s: %s", table[i].list, shown);
	}
}

/* Addresses are 64 bits without a sign: only those are looked behind for a text. */
Test(probe_operand, texts)
{
	struct fx_probe_argument a[FX_PROBE_ARGUMENTS];
	const struct fx_probe_seen probe = {
#if defined(__x86_64__)
		.arguments = "8@%rax -8@%rax 4@%eax 8f@%rax 8@$5",
#else
		.arguments = "8@x0 -8@x0 4@w0 8f@x0 8@5",
#endif
	};

	cr_assert_eq(fx_probe_operands(&probe, a), 5);
	cr_expect(fx_probe_may_be_text(&a[0]));
	for (unsigned i = 1; i < 5; i++)
		cr_expect_not(fx_probe_may_be_text(&a[i]), "argument %u", i);
}

/* Why each of them cannot be had. */
Test(probe_operand, reasons)
{
	static const struct {
		const char *list, *why;
	} cases[] = {
#if defined(__x86_64__)
		{"8@(%rax,%rbx,8)", "two registers"},
		{"4@counter(%rip)", "unknown symbol"},
		{"4@8+counter(%rip)", "unknown symbol"},
		{"4@%fs:0", "thread-local"},
		{"-4@%fs:x@tpoff", "thread-local"},
		{"8f@%xmm0", "vector"},
		{"8f@%ymm3", "vector"},
		{"1@%ah", "unknown operand"},
		{"3@%eax", "unknown size"},
#else
		{"8@[x0, x1]", "two registers"},
		{"8f@d0", "vector"},
		{"3@x0", "unknown size"},
#endif
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct fx_probe_seen probe = {.arguments = cases[i].list};
		struct fx_probe_argument a[FX_PROBE_ARGUMENTS];

		cr_assert_eq(fx_probe_operands(&probe, a), 1, "%s", cases[i].list);
		cr_assert_eq(a[0].kind, FX_PROBE_UNREACHABLE, "%s", cases[i].list);
		cr_expect_str_eq(a[0].why, cases[i].why, "%s: %s", cases[i].list, a[0].why);
	}
}

Test(probe_find, words)
{
	static const struct {
		const char *words, *category;
		bool is_asked;
	} cases[] = {
	    {"sdt:a:b", "sdt:a:b", true},
	    {"sdt:a:b", "sdt:a:bc", false},
	    {"sdt:a:b", "sdt:a:", false},
	    {"sdt:a:*", "sdt:a:bc", true},
	    {"sdt:*", "sdt:a:bc", true},
	    {"syscall,sdt:a:b,heap", "sdt:a:b", true},
	    {"sdt:*,-sdt:a:*", "sdt:a:b", false},
	    {"-sdt:a:*,sdt:*", "sdt:a:b", true},
	    {"sdt:*,-sdt:a:*,sdt:a:b", "sdt:a:b", true},
	    {"sdt:*,-*", "sdt:a:b", false},
	    /* Nobody asks for a breakpoint who says "all", or "all that begin with an s". */
	    {"*", "sdt:a:b", false},
	    {"s*", "sdt:a:b", false},
	    {"sdt:", "sdt:a:b", false},
	    {"", "sdt:a:b", false},
	    {",,", "sdt:a:b", false},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		cr_expect_eq(fx_probe_is_asked(cases[i].words, cases[i].category),
			     cases[i].is_asked, "%s: %s", cases[i].words, cases[i].category);
}

Test(probe_find, word_by_word)
{
	const char *at = "syscall,sdt:a:*,-sdt:a:b,sdt:c:d";
	char word[32];

	cr_assert(fx_probe_word(&at, word, sizeof(word)));
	cr_expect_str_eq(word, "sdt:a:*");
	cr_assert(fx_probe_word(&at, word, sizeof(word)));
	cr_expect_str_eq(word, "sdt:c:d");
	cr_expect_not(fx_probe_word(&at, word, sizeof(word)));
}

Test(probe_find, of_a_program_that_is_not_there)
{
	struct fx_probe_list list;
	char none[] = "/nowhere/at/all";
	char *command[] = {none, NULL};

	cr_expect_eq(fx_probe_find("sdt:*", command, &list), -ENOENT);
	cr_expect_eq(list.probes.count, 0);
	fx_probe_list_clear(&list);
}
