/* SPDX-License-Identifier: MIT */
/* Samples out of the kernel's records, whole and cut; and real rings of this process. */
#include "kernel/rings.h"

#include <criterion/criterion.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "kernel/registers.h"
#include "kernel/wanted-points.h"

enum {
	CHAIN = 5,
	DEPTH = 3,
	BEGIN = CHAIN + 1 + DEPTH,
	STACK = 64
}; /* words in front of the registers; bytes */

/* As the kernel writes it, of so many bytes. */
static struct fx_ring_record *record_make(size_t size)
{
	const size_t whole = 8 * (BEGIN + 1 + FX_REGISTER_COUNT + 1) + STACK;
	struct fx_ring_record *record = calloc(1, sizeof(*record) + (size > whole ? size : whole));
	uint64_t *body = record->body;

	record->type = PERF_RECORD_SAMPLE;
	record->misc = PERF_RECORD_MISC_USER;
	record->size = size < whole ? size : whole;
	body[0] = 0x1234;
	body[CHAIN] = DEPTH;
	for (unsigned i = 0; i < DEPTH; i++)
		body[CHAIN + 1 + i] = 0xffffffff81000000 + i;
	body[BEGIN] = PERF_SAMPLE_REGS_ABI_64;
	for (unsigned i = 0; i < FX_REGISTER_COUNT; i++)
		body[BEGIN + 1 + i] = 100 + i;
	body[BEGIN + 1 + FX_REGISTER_COUNT] = STACK;
	memset(&body[BEGIN + 2 + FX_REGISTER_COUNT], 7, STACK);
	return record;
}

Test(rings, sample)
{
	struct fx_ring_record *record = record_make(4096);
	struct fx_caught sample;

	cr_assert(fx_ring_sample(record, &sample));
	cr_expect_eq(sample.ip, 0x1234);
	cr_expect_eq(sample.kernel_count, DEPTH);
	cr_expect_eq(sample.kernel[2], 0xffffffff81000002);
	cr_assert_not_null(sample.registers);
	cr_expect_eq(sample.registers[FX_REGISTER_COUNT - 1], 100 + FX_REGISTER_COUNT - 1);
	cr_expect_eq(sample.stack_size, STACK);
	cr_expect_eq(sample.stack[STACK - 1], 7);
	cr_expect_not(sample.in_kernel);
	record->misc = PERF_RECORD_MISC_KERNEL;
	cr_assert(fx_ring_sample(record, &sample));
	cr_expect(sample.in_kernel);
	free(record);
}

/* Never more than there is. */
Test(rings, cut_samples)
{
	for (size_t size = 0; size < 8 * (BEGIN + 2 + FX_REGISTER_COUNT) + STACK; size++) {
		struct fx_ring_record *record = record_make(size);
		struct fx_caught sample;
		bool is = fx_ring_sample(record, &sample);

		cr_expect_eq(is, size > 8 * CHAIN); /* with nothing behind, it is a fault */
		if (is && sample.kernel)
			cr_expect_leq((const uint8_t *)(sample.kernel + sample.kernel_count),
				      (const uint8_t *)record->body + size);
		if (is && sample.registers)
			cr_expect_leq((const uint8_t *)sample.stack + sample.stack_size,
				      (const uint8_t *)record->body + size);
		free(record);
	}
}

Test(rings, fault)
{
	struct fx_ring_record *record = record_make(8 * CHAIN);
	uint64_t ip, address;

	record->body[3] = 0xabc;
	cr_assert(fx_ring_fault(record, &ip, &address));
	cr_expect_eq(ip, 0x1234);
	cr_expect_eq(address, 0xabc);
	record->size += 8;
	cr_expect_not(fx_ring_fault(record, &ip, &address));
	record->size -= 8;
	record->type = PERF_RECORD_COMM;
	cr_expect_not(fx_ring_fault(record, &ip, &address));
	free(record);
}

/* A program of 32 bits has other registers. */
Test(rings, other_programs)
{
	struct fx_ring_record *record = record_make(4096);
	struct fx_caught sample;

	record->body[BEGIN] = PERF_SAMPLE_REGS_ABI_32;
	cr_assert(fx_ring_sample(record, &sample));
	cr_expect_null(sample.registers);
	record->type = PERF_RECORD_COMM;
	cr_expect_not(fx_ring_sample(record, &sample));
	free(record);
}

/* What this process computes, in order of time, and its name. */
Test(rings, of_this_process)
{
	const struct fx_kernel_wish wish = {.pid = getpid(), .hz = 1000, .switches = true};
	struct fx_rings *rings;
	struct fx_ring_record *record;
	unsigned samples = 0;
	uint64_t last = 0;
	bool kernel;
	int r = fx_rings_open(&wish, &rings, &kernel);

	if (r < 0)
		cr_skip_test("the kernel gives no performance events");
	cr_assert_eq(fx_rings_start(rings), 0);
	for (volatile unsigned i = 0; i < 400000000; i++)
		;
	fx_rings_finish(rings);
	while (!fx_rings_is_over(rings)) {
		record = fx_rings_next(rings, 10);
		if (!record)
			continue;
		cr_expect_geq(record->ns, last);
		last = record->ns;
		samples += record->type == PERF_RECORD_SAMPLE && record->tid == (uint32_t)gettid();
		free(record);
	}
	cr_expect_gt(samples, 50);
	cr_expect_eq(fx_rings_lost(rings), 0);
	fx_rings_close(rings);
}

/* What the rings have of this thread: switches away, and what the tracepoint of the same says. */
static void switches_count(struct fx_rings *rings, const struct fx_wanted_points *points,
			   unsigned *ret_away, unsigned *ret_points)
{
	*ret_away = *ret_points = 0;
	while (!fx_rings_is_over(rings)) {
		struct fx_ring_record *record = fx_rings_next(rings, 10);
		struct fx_tracepoint_event event;
		const uint8_t *bytes;
		size_t size;

		if (record && record->tid == (uint32_t)gettid()) {
			*ret_away += record->type == PERF_RECORD_SWITCH &&
				     record->misc & PERF_RECORD_MISC_SWITCH_OUT;
			bytes = fx_ring_tracepoint(record, &size);
			*ret_points +=
			    bytes &&
			    fx_tracepoint_read(&points->tracepoints, bytes, size, &event) &&
			    event.tracepoint == FX_TRACEPOINT_SWITCH;
		}
		free(record);
	}
}

/* A switch away that says all by itself is one record, and not two. */
Test(rings, one_record_a_switch)
{
	struct fx_wanted_points points;
	struct fx_kernel_wish wish = {.pid = getpid(), .switches = true};
	struct fx_rings *rings;
	unsigned away, told;
	bool kernel;

	fx_wanted_points_find(FX_KERNEL_WAKEUPS, "", false, &points);
	wish.points = points.list;
	wish.point_count = points.count;
	if (fx_rings_open(&wish, &rings, &kernel) < 0 || !fx_rings_have_tracepoints(rings))
		cr_skip_test("the kernel gives no tracepoints");
	cr_assert_eq(fx_rings_start(rings), 0);
	for (unsigned i = 0; i < 200; i++)
		usleep(100);
	fx_rings_finish(rings);
	switches_count(rings, &points, &away, &told);
	cr_expect_eq(fx_rings_lost(rings), 0);
	cr_expect_geq(away, 200);
	cr_expect_leq(told, away / 10, "%u switches away have %u more records", away, told);
	printf("%u switches away, %u of them in two records\n", away, told);
	fx_rings_close(rings);
	fx_wanted_points_free(&points);
}

static volatile unsigned spun;

/* Until the priority is so, which the ring's thread decides; `takes': what comes is worked on meanwhile. */
static bool priority_becomes(struct fx_rings *rings, int nice, bool takes)
{
	time_t end = time(NULL) + 60;

	while (getpriority(PRIO_PROCESS, (id_t)gettid()) != nice && time(NULL) < end) {
		for (unsigned i = 0; i < 1000000; i++)
			spun += i;
		for (struct fx_ring_record *record = NULL; takes;) {
			record = fx_rings_next(rings, 1);
			if (!record)
				break;
			free(record);
		}
	}
	return getpriority(PRIO_PROCESS, (id_t)gettid()) == nice;
}

/* Who works on records leaves the processor to others, as long as he is not behind. */
Test(rings, gives_way, .timeout = 200)
{
	const struct fx_kernel_wish wish = {.pid = getpid(), .hz = 1000, .switches = true};
	struct fx_rings *rings;
	bool kernel;

	if (setpriority(PRIO_PROCESS, (id_t)gettid(), -1) < 0 ||
	    setpriority(PRIO_PROCESS, (id_t)gettid(), 0) < 0)
		cr_skip_test("priorities cannot be taken back");
	if (fx_rings_open(&wish, &rings, &kernel) < 0)
		cr_skip_test("the kernel gives no performance events");
	cr_assert_eq(fx_rings_start(rings), 0);
	cr_expect(priority_becomes(rings, 10, true));
	cr_expect(priority_becomes(rings, 0, false));
	cr_expect(priority_becomes(rings, 10, true));
	fx_rings_finish(rings);
	cr_expect(priority_becomes(rings, 0, false));
	fx_rings_close(rings);
}

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* When whom it watches has ended, or a processor is switched off, nothing comes any more: that is waited for as before, and not asked for again and
 * again by a thread that has its processor before all others. */
Test(rings, nobody_left, .timeout = 200)
{
	pid_t child = fork();
	const struct fx_kernel_wish wish = {.pid = child, .switches = true};
	struct fx_rings *rings;
	uint64_t spent, began;
	bool kernel;
	int r;

	if (child == 0) {
		pause();
		_exit(0);
	}
	r = fx_rings_open(&wish, &rings, &kernel);
	if (r == 0)
		cr_assert_eq(fx_rings_start(rings), 0);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	if (r < 0)
		cr_skip_test("the kernel gives no performance events");
	spent = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	began = clock_ns(CLOCK_MONOTONIC);
	usleep(1000000);
	spent = clock_ns(CLOCK_PROCESS_CPUTIME_ID) - spent;
	began = clock_ns(CLOCK_MONOTONIC) - began;
	cr_expect_lt(spent, began / 4);
	printf("%u ms of a processor in %u ms without anybody\n", (unsigned)(spent / 1000000),
	       (unsigned)(began / 1000000));
	fx_rings_finish(rings);
	fx_rings_close(rings);
}
