/* SPDX-License-Identifier: MIT */
/* Who took a mutex last. */
#include <criterion/criterion.h>
#include <string.h>

#include "why/takes.h"

static struct fx_process processes[2] = {{.pid = 1, .number = 0}, {.pid = 2, .number = 1}};
static struct fx_thread threads[] = {
    {.number = 0, .process = &processes[0]},
    {.number = 1, .process = &processes[0]},
    {.number = 2, .process = &processes[0]},
    {.number = 3, .process = &processes[1]},
};

static struct fx_event about(const struct fxt_arg *arg, unsigned thread)
{
	return (struct fx_event){.thread = &threads[thread], .args = arg, .nargs = 1};
}

static struct fxt_arg mutex_at(uint64_t address)
{
	return (struct fxt_arg){
	    .type = FXT_ARG_POINTER, .name = {.data = "mutex", .length = 5}, .uint64 = address};
}

static void take(struct fx_why_takes *takes, unsigned thread, uint64_t mutex, uint64_t end)
{
	struct fxt_arg arg = mutex_at(mutex);
	struct fx_event event = about(&arg, thread);

	cr_assert_eq(fx_why_takes_see(takes, &event, end), 0);
}

/* 1 + the thread that took it last; 0: none. */
static unsigned last(const struct fx_why_takes *takes, unsigned thread, uint64_t mutex,
		     uint64_t from, uint64_t to)
{
	struct fxt_arg arg = mutex_at(mutex);
	struct fx_event event = about(&arg, thread);
	const struct fx_why_take *found =
	    fx_why_takes_last(takes, &event, &threads[thread], from, to);

	return found ? 1 + found->thread : 0;
}

Test(takes, the_last_of_another_thread)
{
	struct fx_why_takes takes = {0};

	/* In the order of threads, as they are seen. */
	take(&takes, 0, 0x10, 100);
	take(&takes, 0, 0x20, 350);
	take(&takes, 1, 0x10, 200);
	take(&takes, 2, 0x10, 300);
	take(&takes, 3, 0x10, 290);
	fx_why_takes_arrange(&takes);
	cr_assert_eq(last(&takes, 2, 0x10, 0, 300), 2);
	cr_assert_eq(last(&takes, 2, 0x10, 0, 200), 1);
	cr_assert_eq(last(&takes, 2, 0x10, 200, 300), 0, "at the begin of the range is before it");
	cr_assert_eq(last(&takes, 1, 0x10, 0, 1000), 3);
	/* Its own does not count; another mutex and another process's do not. */
	cr_assert_eq(last(&takes, 2, 0x10, 0, 1000), 2);
	cr_assert_eq(last(&takes, 0, 0x20, 0, 1000), 0);
	cr_assert_eq(last(&takes, 3, 0x10, 0, 1000), 0);
	cr_assert_eq(last(&takes, 0, 0x30, 0, 1000), 0);
	fx_why_takes_free(&takes);
}

Test(takes, what_is_about_no_mutex)
{
	struct fx_why_takes takes = {0};
	struct fxt_arg arg = mutex_at(0x10);
	struct fx_event event = about(&arg, 0);

	event.nargs = 0;
	cr_assert_eq(fx_why_takes_see(&takes, &event, 100), 0);
	fx_why_takes_arrange(&takes);
	cr_assert_eq(takes.items.count, 0);
	cr_assert_null(fx_why_takes_last(&takes, &event, &threads[1], 0, 1000));
	fx_why_takes_free(&takes);
}
