/* SPDX-License-Identifier: MIT */
/*
 * The rolling buffer, by the conformance list. Where Fuchsia's has one offset for all threads, ours has
 * a count of chunks claimed and a word for each chunk; where its handler is told that a half is full and
 * answers that it is saved, ours has a packet and wraps_saved.
 */
#include <pthread.h>

#include <criterion/criterion.h>

#include "engine/provider/chunk.h"
#include "engine/reader/drain.h"
#include "engine/provider/record.h"
#include "tests/engine/produce.h"

#define WRITERS 3u
#define RECORDS 60000u /* of each writer */
#define SMALL	(64u << 10)

static struct fm_manager m;

static uint32_t wrapped_count(void)
{
	return (uint32_t)(fx_load_acquire(&m.header->rolling_state) >> 32);
}

static uint32_t chunks_claimed(void)
{
	return (uint32_t)fx_load_acquire(&m.header->rolling_state);
}

static uint32_t chunk_total(void)
{
	return m.layout.halves * m.layout.chunks_per_half;
}

/* Fills chunks to their last word with one record each; returns how many found room. */
static uint32_t fill(uint32_t from, uint32_t chunks)
{
	uint32_t written = 0;

	for (uint32_t i = 0; i < chunks; i++)
		written += produce_sized(0, from + i, m.layout.chunk_size / 8 - 3);
	return written;
}

Test(rolling_buffer, initial_state)
{
	static const enum fx_buffering_mode modes[] = {FX_MODE_ONESHOT, FX_MODE_CIRCULAR,
						       FX_MODE_STREAMING};

	for (unsigned i = 0; i < 3; i++) {
		fm_start(&m, &(struct fm_config){.size = SMALL, .mode = modes[i], .stopped = 1});
		cr_assert_eq(m.header->magic, FX_BUFFER_MAGIC);
		cr_assert_eq(m.header->total_size, m.layout.total_size);
		cr_assert_eq(m.header->durable_size, m.layout.durable_size);
		cr_assert_eq(m.header->rolling_size,
			     (uint64_t)m.layout.chunks_per_half * m.layout.chunk_size);
		cr_assert_eq(m.layout.halves, modes[i] == FX_MODE_ONESHOT ? 1u : 2u);
		cr_assert_eq(wrapped_count(), 0);
		cr_assert_eq(chunks_claimed(), 0);
		cr_assert_eq(m.header->durable_hint, 0);
		cr_assert_eq(m.header->durable_full, 0);
		cr_assert_eq(fm_dropped(&m), 0);
		for (uint32_t c = 0; c < chunk_total(); c++)
			cr_assert_eq(fm_table(&m, c), 0, "chunk %u has an owner", c);
		fm_destroy(&m);
	}
}

Test(rolling_buffer, simple_allocation)
{
	struct fx_reservation r;
	struct fx_thread *t;
	uint64_t *first, *second;

	fm_start(&m, &(struct fm_config){.size = SMALL, .mode = FX_MODE_CIRCULAR});
	t = fx_thread_on(FX_CAT_USER);
	cr_assert_not_null(t);
	first = fx_record_reserve(t, 8, &r);
	cr_assert_not_null(first);
	for (unsigned i = 0; i < 8; i++)
		cr_assert_eq(first[i], 0, "what is given is not empty");
	fx_record_commit(t, first, FX_EVENT_HEADER(FX_EVENT_INSTANT, 8, 0, 1, 1), &r);
	second = fx_record_reserve(t, 4, &r);
	cr_assert_eq(second, first + 8, "the next stands right behind");
	fx_record_commit(t, second, FX_EVENT_HEADER(FX_EVENT_INSTANT, 4, 0, 1, 1), &r);
	cr_assert_eq(chunks_claimed(), 1);
	cr_assert_eq(fm_table(&m, 0), FX_CHUNK_WORD(0, FX_CHUNK_HELD, 0));
	fm_destroy(&m);
}

Test(rolling_buffer, allocation_that_fills)
{
	fm_start(&m, &(struct fm_config){.size = SMALL, .mode = FX_MODE_STREAMING});
	cr_assert_eq(fill(0, m.layout.chunks_per_half), m.layout.chunks_per_half);
	cr_assert_eq(wrapped_count(), 0, "a half that is full is left when the next record comes");
	cr_assert_eq(chunks_claimed(), m.layout.chunks_per_half);
	cr_assert_eq(fill(1000, 1), 1);
	cr_assert_eq(wrapped_count(), 1);
	cr_assert_eq(chunks_claimed(), 1);
	/* The end of its data is in each chunk's word. */
	for (uint32_t i = 0; i < m.layout.chunks_per_half; i++)
		cr_assert_eq(fm_table(&m, i),
			     FX_CHUNK_WORD(i, FX_CHUNK_RELEASED, m.layout.chunk_size));
	cr_assert_eq(fm_dropped(&m), 0);
	fm_destroy(&m);
}

Test(rolling_buffer, marking_as_serviced)
{
	uint32_t n;

	fm_start(&m, &(struct fm_config){.size = SMALL, .mode = FX_MODE_STREAMING});
	n = m.layout.chunks_per_half;
	cr_assert_eq(fill(0, 2 * n), 2 * n, "the other half may be used at once");
	cr_assert_eq(fill(2 * n, 3), 0, "the first is not saved yet");
	cr_assert_eq(wrapped_count(), 1);
	cr_assert(fm_save(&m));
	cr_assert_eq(m.control->wraps_saved, 1);
	cr_assert_eq(m.control->saved[0], FX_CHUNK_WORD(0, FX_CHUNK_RELEASED, m.layout.chunk_size));
	cr_assert_eq(wrapped_count(), 1, "it is taken when the next record comes");
	cr_assert_eq(fill(3 * n, n), n);
	cr_assert_eq(wrapped_count(), 2);
	cr_assert_eq(fill(4 * n, 1), 0);
	cr_assert_eq(fm_dropped(&m), 4);
	fm_destroy(&m);
}

/* --- Three writers at once ------------------------------------------------------------------- */

static pthread_barrier_t go;
static uint32_t lost[WRITERS];

static void *writer_main(void *context)
{
	uint32_t id = (uint32_t)(uintptr_t)context;

	pthread_barrier_wait(&go);
	for (uint32_t i = 0; i < RECORDS; i++)
		lost[id] += !produce(id, i);
	fx_thread_exit();
	return NULL;
}

static void run_writers(void)
{
	pthread_t threads[WRITERS];

	pthread_barrier_init(&go, NULL, WRITERS);
	for (uintptr_t i = 0; i < WRITERS; i++)
		pthread_create(&threads[i], NULL, writer_main, (void *)i);
	for (unsigned i = 0; i < WRITERS; i++)
		pthread_join(threads[i], NULL);
}

/* Nothing is torn, twice or out of order; what is not there is counted. */
static void check_writers(struct produced_all *got)
{
	uint64_t all_lost = 0;

	for (unsigned i = 0; i < WRITERS; i++) {
		cr_assert(got->writers[i].ordered, "writer %u", i);
		cr_assert_eq(got->writers[i].count + lost[i], RECORDS, "writer %u", i);
		all_lost += lost[i];
	}
	cr_assert_eq(fm_dropped(&m), all_lost);
	cr_assert_null(m.broken);
}

Test(rolling_buffer, concurrent_oneshot, .timeout = 60)
{
	struct produced_all got;

	fm_start(&m, &(struct fm_config){.size = 4 << 20, .mode = FX_MODE_ONESHOT});
	run_writers();
	produced_init(&got, WRITERS, RECORDS);
	produced_read(&got, &m);
	check_writers(&got);
	cr_assert_gt(fm_dropped(&m), 0, "it was to fill");
	cr_assert_gt(got.total, 0);
	produced_destroy(&got);
	fm_destroy(&m);
}

static void take_history(struct produced_all *got)
{
	static uint8_t room[FX_DRAIN_BLOCK_MIN] __attribute__((aligned(8)));
	struct fx_drain d;
	int r = 1;

	cr_assert_eq(fx_drain_init(&d, &m.layout, m.buffer, m.control), 0);
	while (r == 1) {
		struct fx_drain_block block = {.data = room, .capacity = sizeof(room)};

		r = fx_drain_history(&d, &block);
		for (size_t at = 0; at < block.used;) {
			const struct fx_piece *piece = (const void *)(block.data + at);
			const uint64_t *words = (const uint64_t *)(piece + 1);
			uint32_t size;

			for (uint32_t i = 3; i < piece->bytes / 8; i += size) {
				size = (uint32_t)(words[i] >> 4 & 0xfff);
				produced_take(
				    got, &(struct fm_record){.words = words + i, .count = size});
			}
			at += sizeof(*piece) + piece->bytes;
		}
	}
	cr_assert_eq(r, 0);
	fx_drain_destroy(&d);
}

Test(rolling_buffer, concurrent_circular, .timeout = 60)
{
	struct produced_all got;

	fm_start(&m, &(struct fm_config){.size = 1 << 20, .mode = FX_MODE_CIRCULAR});
	run_writers();
	produced_init(&got, WRITERS, RECORDS);
	take_history(&got);
	cr_assert_gt(wrapped_count(), 2);
	for (unsigned i = 0; i < WRITERS; i++) {
		const struct produced *w = &got.writers[i];

		cr_assert_eq(lost[i], 0, "a circular buffer is never full");
		cr_assert(w->ordered, "writer %u", i);
		/* Without a gap up to its newest. */
		if (w->count)
			cr_assert_eq(w->last, RECORDS - 1, "writer %u", i);
		for (uint32_t n = 1; n <= w->count; n++)
			cr_assert(w->seen[(RECORDS - n) / 8] >> (RECORDS - n) % 8 & 1);
	}
	produced_destroy(&got);
	fm_destroy(&m);
}

Test(rolling_buffer, concurrent_streaming, .timeout = 60)
{
	struct produced_all got;

	fm_start(&m, &(struct fm_config){
			 .size = 1 << 20, .mode = FX_MODE_STREAMING, .on_full = FX_ON_FULL_BLOCK});
	fm_saver_start(&m, 100);
	run_writers();
	fm_saver_stop(&m);
	produced_init(&got, WRITERS, RECORDS);
	produced_read(&got, &m);
	check_writers(&got);
	cr_assert_gt(wrapped_count(), 2);
	produced_destroy(&got);
	fm_destroy(&m);
}
