/* SPDX-License-Identifier: MIT */
/*
 * A process computes until it has had a processor for the last time, as the kernel says, and not until its end is told, which may be a
 * second later.
 */
#include <criterion/criterion.h>

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "convert/indexer.h"
#include "tests/format/memory_archive.h"
#include "why/why-internal.h"

enum { PARENT = 100, CHILD = 200 };

enum {
	BEGINS = 1000,
	SLEPT = 2000,
	OVER = 5000,
	HEARD = 9000,
	TOLD = 9500,
	GOES_ON = 9600,
	ENDS = 10000
};

static void put(struct fxt_writer *writer, uint32_t pid, enum fxt_event_type type, const char *name,
		uint64_t begin, uint64_t end)
{
	struct fxt_record record = memory_archive_event(pid, pid, name, begin);

	record.event.type = (uint8_t)type;
	record.event.category = fxt_text("process");
	record.event.extra = type == FXT_EVENT_INSTANT ? 0 : end;
	cr_assert_eq(fxt_writer_write(writer, &record), 0);
}

/* A thread has the processor from then on, or is in that state. */
static void put_switch(struct fxt_writer *writer, uint32_t pid, enum fxt_thread_state state,
		       uint64_t ts)
{
	struct fxt_record record = {.kind = FXT_KIND_CONTEXT_SWITCH};
	struct fxt_thread thread = {.tid = pid};

	record.scheduling.timestamp = ts;
	record.scheduling.outgoing_state = (uint8_t)state;
	*(state == FXT_THREAD_STATE_RUNNING ? &record.scheduling.incoming
					    : &record.scheduling.outgoing) = thread;
	cr_assert_eq(fxt_writer_write(writer, &record), 0);
}

/* A process that sleeps and is over; with a parent that waits for it. `again`: another thread gets its number later. */
static int make_archive(bool has_kernel, bool again)
{
	int fd = memfd_create("archive", MFD_CLOEXEC);
	struct fxt_writer *writer;

	cr_assert_eq(fxt_writer_open_fd(dup(fd), &writer), 0);
	cr_assert_eq(fxt_writer_provider(writer, 1, "programs", 1000000000), 0);
	put(writer, CHILD, FXT_EVENT_DURATION_COMPLETE, "nanosleep", BEGINS, SLEPT);
	put(writer, CHILD, FXT_EVENT_INSTANT, "process exits", HEARD, 0);
	put(writer, CHILD, FXT_EVENT_FLOW_BEGIN, "process exits", HEARD, 7);
	put(writer, PARENT, FXT_EVENT_DURATION_COMPLETE, "waitpid", SLEPT, GOES_ON);
	put(writer, PARENT, FXT_EVENT_INSTANT, "told of its end", TOLD, 0);
	put(writer, PARENT, FXT_EVENT_FLOW_END, "told of its end", TOLD, 7);
	put(writer, PARENT, FXT_EVENT_DURATION_COMPLETE, "getppid", GOES_ON, ENDS);
	if (has_kernel) {
		put_switch(writer, CHILD, FXT_THREAD_STATE_RUNNING, BEGINS);
		put_switch(writer, CHILD, FXT_THREAD_STATE_DEAD, OVER);
	}
	if (again)
		put_switch(writer, CHILD, FXT_THREAD_STATE_RUNNING, OVER + 100);
	cr_assert_eq(fxt_writer_close(writer), 0);
	cr_assert_eq(lseek(fd, 0, SEEK_SET), 0);
	return fd;
}

struct answer {
	uint64_t whole, computing, going_on, ending;
};

static struct answer ask(bool has_kernel, bool again, const char *process)
{
	struct fx_why_order order = {.to = UINT64_MAX,
				     .processes = {.items = &process, .count = 1}};
	int fd = make_archive(has_kernel, again);
	struct fx_timeline timeline;
	struct answer answer = {0};
	const char *wrong;
	struct fx_why *why;

	cr_assert_eq(fx_timeline_open(&timeline, fd, NULL, NULL), 0);
	cr_assert_eq(fx_why_make(&timeline, &order, &why, &wrong), 0, "%s", wrong);
	answer.whole = fx_why_whole(why);
	for (size_t i = 0; i < why->path.tree.nodes.count; i++) {
		const struct fx_why_node *node = &why->path.tree.nodes.items[i];

		if (node->what.kind == FX_WHY_COMPUTING)
			answer.computing += node->self;
		if (node->what.kind == FX_WHY_GOING_ON)
			answer.going_on += node->self;
		if (node->what.kind == FX_WHY_ENDING)
			answer.ending += node->self;
	}
	fx_why_free(why);
	fx_timeline_close(&timeline);
	return answer;
}

static void expect(struct answer answer, struct answer want)
{
	cr_expect_eq(answer.whole, want.whole, "%llu", (unsigned long long)answer.whole);
	cr_expect_eq(answer.computing, want.computing, "%llu",
		     (unsigned long long)answer.computing);
	cr_expect_eq(answer.going_on, want.going_on, "%llu", (unsigned long long)answer.going_on);
	cr_expect_eq(answer.ending, want.ending, "%llu", (unsigned long long)answer.ending);
}

Test(ended, a_process_computes_until_it_is_over)
{
	expect(ask(true, false, "200"), (struct answer){.whole = HEARD - BEGINS,
							.computing = OVER - SLEPT,
							.ending = HEARD - OVER});
}

Test(ended, who_waits_for_it)
{
	expect(ask(true, false, "100"), (struct answer){.whole = ENDS - SLEPT,
							.computing = ENDS - GOES_ON + OVER - SLEPT,
							.going_on = GOES_ON - HEARD,
							.ending = HEARD - OVER});
}

Test(ended, without_the_kernel_nobody_knows)
{
	const struct answer want = {.whole = HEARD - BEGINS, .computing = HEARD - SLEPT};

	expect(ask(false, false, "200"), want);
	expect(ask(true, true, "200"), want);
}
