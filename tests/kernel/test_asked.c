/* SPDX-License-Identifier: MIT */
/* Words of a list of categories that are the kernel's. */
#include "kernel/asked.h"

#include <criterion/criterion.h>
#include <string.h>

#include "protocol/kernel-ready.h"

Test(asked, sets)
{
	const uint32_t all = FX_KERNEL_IRQ | FX_KERNEL_BLOCK | FX_KERNEL_FAULT | FX_KERNEL_NET;

	cr_expect_eq(fx_asked_sets(""), 0);
	cr_expect_eq(fx_asked_sets("function,syscall,sched,*"), 0);
	cr_expect_eq(fx_asked_sets("kernel:irq"), FX_KERNEL_IRQ);
	cr_expect_eq(fx_asked_sets("a,kernel:*,b"), all);
	cr_expect_eq(fx_asked_sets("kernel:*,-kernel:net"), all & ~(uint32_t)FX_KERNEL_NET);
	cr_expect_eq(fx_asked_sets("-kernel:net,kernel:net"), FX_KERNEL_NET);
	cr_expect_eq(fx_asked_sets("kernel:nothing"), 0);
	cr_expect_eq(fx_asked_sets("kernel:irq,tracepoint:a/b"), FX_KERNEL_IRQ | FX_KERNEL_POINTS);
	/* Of the tracepoints some may be left. */
	cr_expect_eq(fx_asked_sets("tracepoint:a/b,-tracepoint:a/c"), FX_KERNEL_POINTS);
	cr_expect_eq(fx_asked_sets("-tracepoint:a/c"), 0);
}

Test(asked, points)
{
	const char *list = "x,tracepoint:sched/sched_*,-tracepoint:sched/sched_w*,tracepoint:net";

	cr_expect(fx_asked_point(list, "sched", "sched_switch"));
	cr_expect_not(fx_asked_point(list, "sched", "sched_waking"));
	cr_expect_not(fx_asked_point(list, "sched", "other"));
	cr_expect_not(fx_asked_point(list, "schedule", "sched_switch"));
	cr_expect(fx_asked_point(list, "net", "anything"));
	cr_expect(fx_asked_point("tracepoint:*/sys_enter_?", "syscalls", "sys_enter_x"));
	cr_expect_not(fx_asked_point("tracepoint:*/sys_enter_?", "syscalls", "sys_enter_xy"));
	cr_expect_not(fx_asked_point("sched/sched_switch", "sched", "sched_switch"));
}

Test(asked, words)
{
	const char *at = "a,tracepoint:x/y,-tracepoint:z/z,tracepoint:q";
	char word[FX_KERNEL_WORD_MAX], longest[300];

	cr_assert(fx_asked_next(&at, word, sizeof(word)));
	cr_expect_str_eq(word, "tracepoint:x/y");
	cr_assert(fx_asked_next(&at, word, sizeof(word)));
	cr_expect_str_eq(word, "tracepoint:q");
	cr_expect(fx_asked_means(word, "q", "any"));
	cr_expect_not(fx_asked_next(&at, word, sizeof(word)));
	/* What is too long to be one means none. */
	memset(longest, 'a', sizeof(longest) - 1);
	longest[sizeof(longest) - 1] = 0;
	memcpy(longest, "tracepoint:", 11);
	cr_expect_eq(fx_asked_sets(longest), 0);
	at = longest;
	cr_expect_not(fx_asked_next(&at, word, sizeof(word)));
}
