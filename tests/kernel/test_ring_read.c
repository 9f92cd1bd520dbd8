/* SPDX-License-Identifier: MIT */
/* What is taken out of a ring: records that go round its end, samples without the room that their stack does not need, and what
 * none can be. The ring is memory of this test's, written as the kernel does. */
#include "kernel/ring-read.h"

#include <criterion/criterion.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "kernel/registers.h"

enum { SIZE = 8192 };

static struct perf_event_mmap_page page;
static uint8_t data[SIZE];
static struct fx_ring ring = {.fd = -1, .page = &page, .data = data, .size = SIZE};
static struct fx_ring_queue queue;

static void prepare(void)
{
	fx_clock_init(NULL);
	fx_ring_queue_init(&queue);
}

static void finish(void)
{
	fx_ring_queue_destroy(&queue);
}

TestSuite(ring_read, .init = prepare, .fini = finish);

static void write_bytes(const void *bytes, size_t size)
{
	for (size_t i = 0; i < size; i++)
		data[page.data_head++ % SIZE] = ((const uint8_t *)bytes)[i];
}

static void write_header(uint32_t type, size_t body)
{
	struct perf_event_header header = {.type = type, .misc = 7};

	header.size = (uint16_t)(sizeof(header) + body);
	write_bytes(&header, sizeof(header));
}

static const struct fx_ring_trailer trailer = {.pid = 1, .tid = 2, .ns = 1000, .cpu = 3};

static void write_other(uint32_t type, const void *body, size_t size)
{
	write_header(type, size + sizeof(trailer));
	write_bytes(body, size);
	write_bytes(&trailer, sizeof(trailer));
}

static struct fx_ring_record *read_all(void)
{
	uint64_t safe = 0;

	fx_ring_read(&ring, &queue);
	cr_expect_eq(page.data_tail, page.data_head);
	return fx_ring_queue_take(&queue, 0, &safe);
}

Test(ring_read, goes_round)
{
	char body[56];

	for (unsigned i = 0; i < 1000; i++) {
		struct fx_ring_record *record;

		memset(body, (int)i, sizeof(body));
		write_other(PERF_RECORD_COMM, body, sizeof(body));
		record = read_all();
		cr_assert_not_null(record);
		cr_expect_eq(record->type, PERF_RECORD_COMM);
		cr_expect_eq(record->misc, 7);
		cr_expect_eq(record->pid, 1);
		cr_expect_eq(record->tid, 2);
		cr_expect_eq(record->cpu, 3);
		cr_expect_eq(record->ns, 1000);
		cr_expect_eq(record->size, sizeof(body));
		cr_expect_eq(memcmp(record->body, body, sizeof(body)), 0);
		cr_expect_null(record->next);
		free(record);
	}
	cr_expect_eq(fx_ring_queue_lost(&queue), 0);
}

/* The stack has room for 1024 bytes, of which 64 are used. */
Test(ring_read, sample_without_room)
{
	const uint64_t chain[] = {2, 10, 11}, abi = PERF_SAMPLE_REGS_ABI_64, room = 1024, used = 64;
	const uint64_t registers[FX_REGISTER_COUNT] = {5};
	const struct fx_ring_place_begin begin = {
	    99, trailer.pid, trailer.tid, trailer.ns, 0, trailer.cpu, 0};
	struct fx_ring_record *record;
	struct fx_caught sample;
	uint8_t stack[1024];

	memset(stack, 7, sizeof(stack));
	write_header(PERF_RECORD_SAMPLE, sizeof(begin) + sizeof(chain) + sizeof(abi) +
					     sizeof(registers) + sizeof(room) + sizeof(stack) +
					     sizeof(used));
	write_bytes(&begin, sizeof(begin));
	write_bytes(chain, sizeof(chain));
	write_bytes(&abi, sizeof(abi));
	write_bytes(registers, sizeof(registers));
	write_bytes(&room, sizeof(room));
	write_bytes(stack, sizeof(stack));
	write_bytes(&used, sizeof(used));
	record = read_all();
	cr_assert_not_null(record);
	cr_expect_eq(record->ns, 1000);
	cr_assert(fx_ring_sample(record, &sample));
	cr_expect_eq(sample.ip, 99);
	cr_expect_eq(sample.kernel_count, 2);
	cr_expect_eq(sample.registers[0], 5);
	cr_expect_eq(sample.stack_size, used);
	free(record);
}

/* Of a ring of tracepoints the times are of another clock. */
Test(ring_read, tracepoint)
{
	const uint8_t raw[] = {4, 0, 0, 0, 1, 2, 3, 4};
	struct fx_ring_sample_begin begin = {.trailer = trailer};
	struct fx_ring_record *record;
	const uint8_t *bytes;
	size_t size;

	ring.is_tracepoints = true;
	write_header(PERF_RECORD_SAMPLE, sizeof(begin) + sizeof(raw));
	write_bytes(&begin, sizeof(begin));
	write_bytes(raw, sizeof(raw));
	record = read_all();
	cr_assert_not_null(record);
	cr_expect(record->is_tracepoint);
	cr_expect_geq(record->ns, 1000);
	bytes = fx_ring_tracepoint(record, &size);
	cr_assert_not_null(bytes);
	cr_expect_eq(size, 4);
	cr_expect_eq(bytes[3], 4);
	record->size--; /* one byte less than it says */
	cr_expect_null(fx_ring_tracepoint(record, &size));
	free(record);
}

Test(ring_read, lost_and_cut)
{
	const uint64_t lost[2] = {1, 17};
	const struct perf_event_header none = {.size = 4};

	write_other(PERF_RECORD_LOST, lost, sizeof(lost));
	write_header(PERF_RECORD_EXIT, 8); /* less than what stands in every one */
	write_bytes(lost, 8);
	cr_expect_null(read_all());
	cr_expect_eq(fx_ring_queue_lost(&queue), 17);
	cr_expect_eq(fx_ring_queue_lost(&queue), 0);
	write_bytes(&none, sizeof(none));
	fx_ring_read(&ring, &queue);
	cr_expect_eq(page.data_tail, page.data_head - sizeof(none),
		     "a record shorter than its "
		     "header is passed over");
}

Test(ring_read, over)
{
	struct fx_ring_record *record;
	uint64_t safe = 0;

	write_other(PERF_RECORD_EXIT, NULL, 0);
	fx_ring_read(&ring, &queue);
	fx_ring_queue_advance(&queue, UINT64_MAX);
	cr_expect_not(fx_ring_queue_is_over(&queue));
	record = fx_ring_queue_take(&queue, 0, &safe);
	cr_assert_not_null(record);
	cr_expect_eq(safe, UINT64_MAX);
	cr_expect(fx_ring_queue_is_over(&queue));
	fx_ring_queue_work(&queue, record);
	cr_expect_eq(queue.waiting, 0);
	free(record);
}
