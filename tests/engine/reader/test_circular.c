/* SPDX-License-Identifier: MIT */
/* Circular mode: the buffer keeps the newest records of all threads, in the whole of the rolling space,
 * and can be read while they go on. */
#include <pthread.h>

#include <criterion/criterion.h>
#include <criterion/parameterized.h>

#include "engine/reader/drain.h"
#include "engine/provider/record.h"
#include "tests/engine/produce.h"

#define WRITERS_MAX 64u
#ifdef FX_TSAN
#define RECORDS 40000u /* it makes each many times slower */
#else
#define RECORDS 400000u /* of all writers together */
#endif

static struct fm_manager m;
static struct fx_drain d;
static uint8_t room[FX_DRAIN_BLOCK_MIN] __attribute__((aligned(8)));
static uint32_t writers, running;
static uint64_t bytes_read;

static void *writer_main(void *id)
{
	for (uint32_t i = 0; i < RECORDS / writers; i++)
		cr_assert(produce((uint32_t)(uintptr_t)id, i), "a circular buffer is never full");
	fx_thread_exit();
	__atomic_fetch_sub(&running, 1, __ATOMIC_RELEASE);
	return NULL;
}

/* Every whole snapshot must be sound: no record torn, twice, or out of its thread's order. */
static void snapshot(struct produced_all *got)
{
	int r = 1;

	bytes_read = 0;
	while (r == 1) {
		struct fx_drain_block block = {.data = room, .capacity = sizeof(room)};

		r = fx_drain_history(&d, &block);
		for (size_t at = 0; at < block.used;) {
			const struct fx_piece *piece = (const void *)(block.data + at);
			const uint64_t *words = (const uint64_t *)(piece + 1) + 3;
			const uint64_t *end = (const uint64_t *)(piece + 1) + piece->bytes / 8;

			cr_assert_eq(piece->flags, FX_PIECE_FIRST | FX_PIECE_LAST);
			bytes_read += piece->bytes;
			while (words < end) {
				uint32_t count = (uint32_t)(words[0] >> 4 & 0xfff);

				cr_assert(count > 0 && count <= end - words);
				produced_take(got,
					      &(struct fm_record){.words = words, .count = count});
				words += count;
			}
			at += sizeof(*piece) + piece->bytes;
		}
	}
	cr_assert_eq(r, 0);
	for (uint32_t i = 0; i < writers; i++)
		cr_assert(got->writers[i].ordered, "writer %u", i);
}

static void start(uint64_t size, uint32_t count)
{
	struct fm_config config = {.size = size, .mode = FX_MODE_CIRCULAR};

	writers = running = count;
	fm_start(&m, &config);
	cr_assert_eq(fx_drain_init(&d, &m.layout, m.buffer, m.control), 0);
}

struct case_ {
	uint32_t writers;
	uint64_t size;
};

static struct case_ cases[] = {{1, 64 << 10},	{2, 64 << 10}, {4, 64 << 10},
			       {32, 128 << 10}, {8, 1 << 20},  {64, 2 << 20}};

ParameterizedTestParameters(circular, keeps_the_newest)
{
	return cr_make_param_array(struct case_, cases, sizeof(cases) / sizeof(cases[0]));
}

ParameterizedTest(struct case_ *c, circular, keeps_the_newest, .timeout = 60)
{
	pthread_t threads[WRITERS_MAX];
	struct produced_all got;
	unsigned snapshots = 0;

	start(c->size, c->writers);
	for (uintptr_t i = 0; i < c->writers; i++)
		pthread_create(&threads[i], NULL, writer_main, (void *)i);
	while (__atomic_load_n(&running, __ATOMIC_ACQUIRE) || !snapshots) {
		produced_init(&got, writers, RECORDS);
		snapshot(&got);
		produced_destroy(&got);
		snapshots++;
	}
	for (uint32_t i = 0; i < c->writers; i++)
		pthread_join(threads[i], NULL);
	produced_init(&got, writers, RECORDS);
	snapshot(&got);
	cr_assert_eq(fm_dropped(&m), 0);
	/* One thread: what is kept is the very last records, without a gap, and nearly fills the space. */
	if (c->writers == 1) {
		uint64_t space = 2ull * m.layout.chunks_per_half * m.layout.chunk_size;

		cr_assert_eq(got.writers[0].last, RECORDS - 1);
		for (uint32_t i = 0; i < got.writers[0].count; i++) {
			uint32_t number = RECORDS - 1 - i;

			cr_assert(got.writers[0].seen[number / 8] >> number % 8 & 1, "%u", number);
		}
		cr_assert_gt(bytes_read, space - 2 * m.layout.chunk_size);
	}
	produced_destroy(&got);
	fx_drain_destroy(&d);
	fm_destroy(&m);
}

Test(circular, a_held_chunk_is_passed_over)
{
	struct produced_all got;
	const uint64_t *held;
	uint64_t before;

	start(64 << 10, 1);
	/* A record under way: its chunk must stand, however often the buffer turns. */
	struct fx_thread *t = fx_thread_on(UINT32_MAX);
	struct fx_reservation r;
	uint64_t *p = fx_record_reserve(t, 4, &r);

	cr_assert_not_null(p);
	held = t->cursor[0].chunk;
	before = held[0];
	/* Records of a handler that interrupts it. */
	for (uint32_t i = 0; i < 20000; i++)
		cr_assert(produce(0, i));
	cr_assert_eq(held[0], before);
	cr_assert_eq(p[0], 0);
	produced_init(&got, 1, 20000);
	snapshot(&got);
	cr_assert_eq(got.writers[0].last, 19999);
	produced_destroy(&got);
	fx_drain_destroy(&d);
	fm_destroy(&m);
}
