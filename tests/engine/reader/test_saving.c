/* SPDX-License-Identifier: MIT */
/* The two halves of the engine together: what a late owner holds up must not be lost for ever, and
 * must not be given to two owners. */
#include <stdlib.h>

#include <criterion/criterion.h>

#include "engine/provider/record.h"
#include "engine/provider/chunk.h"
#include "engine/reader/drain.h"
#include "tests/engine/produce.h"

static struct fm_manager m;
static struct fx_drain drain;
static struct fx_drain_block block;
static uint32_t n;

static void start(void)
{
	fm_start(&m, &(struct fm_config){.size = 64 << 10, .mode = FX_MODE_STREAMING});
	cr_assert_eq(fx_drain_init(&drain, &m.layout, m.buffer, m.control), 0);
	block.capacity = 1u << 20;
	block.data = malloc(block.capacity);
}

/* What the manager does again and again. */
static void save(void)
{
	block.used = 0;
	cr_assert_eq(fx_drain_chunks(&drain, true, &block), 0, "%s", drain.broken);
	fx_drain_acknowledge(&drain);
}

static uint32_t wrap(void)
{
	return (uint32_t)(m.header->rolling_state >> 32);
}

/* Takes one chunk and gives it back; false: there is none. */
static bool use_one_chunk(void)
{
	bool ok = produce_sized(0, n++, 8);

	fx_chunks_release(fx_self);
	save();
	return ok;
}

/* How many chunks one turn through both halves gives to one thread that saves all the time. */
static uint32_t chunks_in_a_turn(void)
{
	uint32_t from = wrap() + 2, count = 0;

	while (wrap() < from)
		cr_assert(use_one_chunk(), "no chunk is left");
	while (wrap() < from + 2) {
		cr_assert(use_one_chunk());
		count++;
	}
	return count;
}

Test(saving, a_turn_gives_all_chunks)
{
	start();
	cr_assert_eq(chunks_in_a_turn(), 2 * m.layout.chunks_per_half);
}

static pthread_barrier_t step;

static void *hold_a_chunk(void *context)
{
	(void)context;
	cr_assert(produce(1, 0));
	pthread_barrier_wait(&step);
	pthread_barrier_wait(&step);
	fx_thread_exit();
	return NULL;
}

static void finish(void)
{
	fx_drain_destroy(&drain);
	free(block.data);
	fm_destroy(&m);
}

/* Released before its turn, after it, and in the middle of wraps. */
static void hold_over(uint32_t chunks_used)
{
	pthread_t holder;

	start();
	pthread_barrier_init(&step, NULL, 2);
	pthread_create(&holder, NULL, hold_a_chunk, NULL);
	pthread_barrier_wait(&step);
	for (uint32_t i = 0; i < chunks_used; i++)
		cr_assert(use_one_chunk());
	pthread_barrier_wait(&step);
	pthread_join(holder, NULL);
	cr_assert_eq(chunks_in_a_turn() + chunks_in_a_turn(), 4 * m.layout.chunks_per_half,
		     "held while %u chunks were used: lost for ever", chunks_used);
	finish();
}

Test(saving, a_held_chunk_comes_back_whenever_it_is_released)
{
	for (uint32_t used = 0; used < 100; used += 3) {
		hold_over(used);
		fx_thread_exit();
	}
}

/* A thread that was stopped between its claim and its word in the table. */
static uint64_t claim_silently(void)
{
	uint64_t state = m.header->rolling_state;

	cr_assert_lt((uint32_t)state, m.layout.chunks_per_half);
	m.header->rolling_state = state + 1;
	return (state >> 32) * m.layout.chunks_per_half + (uint32_t)state;
}

static void check_silent_claim(uint32_t chunks_before, uint32_t turns)
{
	uint32_t number, total;
	uint64_t serial, before;

	start();
	total = 2 * m.layout.chunks_per_half;
	for (uint32_t i = 0; i < chunks_before; i++)
		cr_assert(use_one_chunk());
	serial = claim_silently();
	number = (uint32_t)(serial % total);
	before = fm_table(&m, number);
	for (uint32_t i = 0; i < turns; i++)
		cr_assert_eq(chunks_in_a_turn(), total - 1);
	cr_assert_eq(fm_table(&m, number), before, "a chunk was given to a second owner");
	/* The owner wakes up, says so, and gives it back. */
	*((uint64_t *)((char *)m.header + m.layout.table_offset) + number) =
	    FX_CHUNK_WORD(serial, FX_CHUNK_RELEASED, 0);
	cr_assert_eq(chunks_in_a_turn() + chunks_in_a_turn(), 2 * total);
	fx_thread_exit();
	finish();
}

Test(saving, an_owner_that_has_not_said_so_keeps_its_chunk)
{
	check_silent_claim(3, 1);
	check_silent_claim(3, 4);
	check_silent_claim(100, 1);
	check_silent_claim(100, 4);
}
