/* SPDX-License-Identifier: MIT */
/* Names of functions: every record's name must be definable from what stands in the buffer. */
#include <stdlib.h>

#include <criterion/criterion.h>

#include "engine/provider/function.h"
#include "tests/engine/fake_manager.h"

#define ADDRESS_BIT (1ull << 48)
#define WRITERS	    8u
#define NO_CALL	    ((struct fx_open){0})

static struct fm_manager m;
static uint64_t names[FX_STRING_LOCAL]; /* address by global index */
static uint32_t definitions;

/* Functions lie this far apart; the records of this test carry the address as their start. */
static uint64_t function_at(uint32_t i)
{
	return 0x555500001000ull + 48ull * i;
}

static void record(struct fx_thread *t, uint64_t function)
{
	fx_function_record(t, NO_CALL, function, fx_function_header, function, function + 1);
}

static void take_name(const uint64_t *words, void *context)
{
	uint32_t index = words[0] >> 16 & 0x7fff;

	(void)context;
	if ((words[0] & 0xf) != 2)
		return;
	cr_assert(words[0] & ADDRESS_BIT);
	cr_assert_eq(words[0] >> 32 & 0x7fff, 8);
	cr_assert_lt(index, FX_STRING_LOCAL);
	cr_assert_geq(index, FM_FIRST_STRING);
	cr_assert_eq(names[index], 0, "index %u is defined twice", index);
	names[index] = words[1];
	definitions++;
}

struct seen {
	const struct fm_chunk *chunk;
	uint64_t local_address;
	uint32_t local_index;
	uint32_t records, locals;
};

static void take_record(const struct fm_record *r, void *context)
{
	struct seen *s = context;
	uint32_t index;

	if ((r->words[0] & 0xf) == 2) {
		cr_assert(r->words[0] & ADDRESS_BIT);
		s->chunk = r->chunk;
		s->local_index = r->words[0] >> 16 & 0x7fff;
		s->local_address = r->words[1];
		cr_assert_geq(s->local_index, FX_STRING_LOCAL);
		s->locals++;
		return;
	}
	cr_assert_eq(r->words[0] & 0xf, 4);
	cr_assert_eq(r->words[0] >> 32 & 0xffff, FM_STRING_FUNCTION);
	cr_assert_eq(r->words[2], r->words[1] + 1);
	index = (uint32_t)(r->words[0] >> 48);
	cr_assert_neq(index, 0, "a record without a name");
	if (index < FX_STRING_LOCAL) {
		cr_assert_eq(names[index], r->words[1], "a record has another function's name");
	} else {
		cr_assert_eq(s->chunk, r->chunk, "a local name is used in another chunk");
		cr_assert_eq(s->local_index, index);
		cr_assert_eq(s->local_address, r->words[1]);
	}
	s->records++;
}

static struct seen read_all(void)
{
	struct seen s = {0};

	fm_each_durable(&m, take_name, NULL);
	fm_each(&m, take_record, &s);
	return s;
}

static uint32_t seen_calls;

static void count_seen(uint64_t function)
{
	(void)function;
	seen_calls++;
}

Test(function, a_name_is_defined_once)
{
	struct fx_thread *t;
	struct seen s;

	fm_start(&m, &(struct fm_config){0});
	fx_function_seen = count_seen;
	t = fx_thread_on(FX_CAT_FUNCTION);
	for (int i = 0; i < 100; i++)
		record(t, function_at(0));
	s = read_all();
	cr_assert_eq(definitions, 1);
	cr_assert_eq(seen_calls, 1);
	cr_assert_eq(s.records, 100);
	cr_assert_eq(m.header->next_string, FM_FIRST_STRING + 1);
}

Test(function, functions_of_one_hash_are_told_apart)
{
	uint64_t same[8];
	uint32_t found = 0;
	struct fx_thread *t;
	struct seen s;

	for (uint64_t f = 0x400000; found < 8; f += 16) {
		if (fx_string_hash(f) == fx_string_hash(0x400000))
			same[found++] = f;
	}
	fm_start(&m, &(struct fm_config){0});
	t = fx_thread_on(FX_CAT_FUNCTION);
	for (int i = 0; i < 100; i++)
		record(t, same[i % 8]);
	s = read_all();
	cr_assert_eq(definitions, 8);
	cr_assert_eq(s.records, 100);
	cr_assert_eq(s.locals, 0);
}

/* The table's last slot is full: the probe goes on at the first. */
Test(function, the_probe_wraps_around)
{
	uint64_t last[3];
	uint32_t found = 0;
	struct fx_thread *t;

	for (uint64_t f = 0x400000; found < 3; f += 16) {
		if (fx_string_hash(f) == FX_FUNCTION_SLOTS - 1)
			last[found++] = f;
	}
	fm_start(&m, &(struct fm_config){0});
	t = fx_thread_on(FX_CAT_FUNCTION);
	for (int i = 0; i < 30; i++)
		record(t, last[i % 3]);
	cr_assert_eq(read_all().records, 30);
	cr_assert_eq(definitions, 3);
}

Test(function, more_functions_than_indices)
{
	uint32_t count = 40000, rounds = 3, global = FX_STRING_LOCAL - FM_FIRST_STRING;
	struct fx_thread *t;
	struct seen s;

	fm_start(&m, &(struct fm_config){.size = 64 << 20});
	fx_function_seen = count_seen;
	t = fx_thread_on(FX_CAT_FUNCTION);
	for (uint32_t round = 0; round < rounds; round++) {
		for (uint32_t i = 0; i < count; i++)
			record(t, function_at(i));
	}
	s = read_all();
	cr_assert_eq(fm_dropped(&m), 0);
	cr_assert_eq(s.records, rounds * count);
	cr_assert_eq(definitions, global);
	cr_assert_eq(s.locals, rounds * (count - global));
	cr_assert_eq(seen_calls, count, "a function is new once");
}

/* The highest bit that an address of the machine's user space has. */
#if defined(__aarch64__)
#define HIGHEST_BIT (1ull << 47)
#else
#define HIGHEST_BIT (1ull << 46)
#endif

/* With an index and without. */
Test(function, addresses_have_all_their_bits)
{
	uint32_t count = 20000, rounds = 2;
	struct fx_thread *t;
	struct seen s;

	fm_start(&m, &(struct fm_config){.size = 64 << 20});
	fx_function_seen = count_seen;
	t = fx_thread_on(FX_CAT_FUNCTION);
	for (uint32_t round = 0; round < rounds; round++) {
		for (uint32_t i = 0; i < count; i++) {
			record(t, function_at(i) & ~HIGHEST_BIT);
			record(t, function_at(i) | HIGHEST_BIT);
		}
	}
	s = read_all();
	cr_assert_eq(fm_dropped(&m), 0);
	cr_assert_eq(s.records, rounds * 2 * count);
	cr_assert_eq(seen_calls, 2 * count, "a function is new once");
}

Test(function, more_functions_than_the_table_has_slots)
{
	uint32_t count = FX_FUNCTION_SLOTS + 1000;
	struct fx_thread *t;
	struct seen s;

	fm_start(&m, &(struct fm_config){.size = 64 << 20});
	t = fx_thread_on(FX_CAT_FUNCTION);
	for (uint32_t i = 0; i < count; i++)
		record(t, function_at(i));
	s = read_all();
	cr_assert_eq(s.records, count);
	cr_assert_eq(fm_dropped(&m), 0);
}

Test(function, a_full_durable_area_costs_no_record)
{
	struct fx_thread *t;
	struct seen s;

	fm_start(&m, &(struct fm_config){.size = 1 << 20});
	t = fx_thread_on(FX_CAT_FUNCTION);
	for (uint32_t i = 0; i < 6000; i++)
		record(t, function_at(i));
	s = read_all();
	cr_assert_eq(m.header->durable_full, 1);
	cr_assert_eq(definitions, m.layout.durable_size / 16);
	cr_assert_eq(s.records, 6000);
}

/* Lost or not: a record that stands has its name. */
Test(function, a_buffer_that_runs_full_leaves_no_record_without_name)
{
	struct fx_thread *t;
	struct seen s;

	fm_start(&m, &(struct fm_config){.size = 64 << 10});
	t = fx_thread_on(FX_CAT_FUNCTION);
	for (uint32_t i = 0; i < 6000; i++)
		record(t, function_at(i));
	s = read_all();
	cr_assert_eq(s.records + fm_dropped(&m), 6000);
	cr_assert_gt(fm_dropped(&m), 0);
}

static pthread_barrier_t go;

static void *racer(void *context)
{
	uint32_t step = 1 + 2 * (uint32_t)(uintptr_t)context;
	struct fx_thread *t = fx_thread_on(FX_CAT_FUNCTION);

	pthread_barrier_wait(&go);
	for (uint32_t i = 0; i < 4096; i++) {
		record(t, function_at(i));
		record(t, function_at(i * step % 4096));
	}
	return NULL;
}

Test(function, threads_race_for_names)
{
	pthread_t threads[WRITERS];
	struct seen s;

	fm_start(&m, &(struct fm_config){.size = 64 << 20});
	pthread_barrier_init(&go, NULL, WRITERS);
	for (uint32_t i = 0; i < WRITERS; i++)
		pthread_create(&threads[i], NULL, racer, (void *)(uintptr_t)i);
	for (uint32_t i = 0; i < WRITERS; i++)
		pthread_join(threads[i], NULL);
	s = read_all();
	cr_assert_eq(s.records, WRITERS * 2 * 4096);
	cr_assert_geq(definitions, 4096);
	cr_assert_leq(definitions, 4096 * WRITERS);
	cr_assert_eq(fx_engine.wiped->function_count, 4096, "a function is in the table twice");
}

/* --- Pairs ----------------------------------------------------------------------------------- */

#define PAIR_FUNCTION 0x555500001000ull

static void count_pair(const struct fm_record *r, void *context)
{
	uint32_t *counts = context;

	if ((r->words[0] & 0xf) == 4)
		counts[r->words[0] >> 16 & 0xf]++;
}

static uint64_t pairs_owed(void)
{
	return fm_slot(&m, 0)->owed;
}

/* Nobody saves for long: begins are lost, ends are owed, and some of them find room at the next save. What
 * is recorded, lost and still owed is what was written, at every moment. */
Test(function, ends_that_find_room_later_are_not_lost)
{
	uint32_t written = 0, settled = 0;
	struct fx_thread *t;

	fm_start(&m, &(struct fm_config){.size = 16 << 10, .mode = FX_MODE_STREAMING});
	t = fx_thread_on(FX_CAT_FUNCTION);
	for (uint32_t round = 0; round < 50; round++) {
		uint64_t owed;
		uint32_t counts[16] = {0};

		/* Three deep, so that a full buffer cuts off the ends of calls whose begins stand. */
		for (uint32_t i = 0; i < 400; i++) {
			bool began[3];

			for (uint32_t depth = 0; depth < 3; depth++) {
				began[depth] =
				    fx_pairs_begin(t, NO_CALL, PAIR_FUNCTION, fx_thread_now(t));
				written++;
			}
			for (uint32_t depth = 3; depth-- > 0;) {
				if (!began[depth])
					continue;
				fx_pairs_end(t, NO_CALL, PAIR_FUNCTION, fx_thread_now(t));
				written++;
			}
		}
		owed = pairs_owed();
		fm_save(&m);
		fm_each(&m, count_pair, counts);
		cr_assert_eq(counts[FX_EVENT_BEGIN] + counts[FX_EVENT_END] + fm_dropped(&m) +
				 pairs_owed(),
			     written);
		cr_assert_eq(counts[FX_EVENT_BEGIN], counts[FX_EVENT_END] + pairs_owed());
		written++;
		if (fx_pairs_begin(t, NO_CALL, PAIR_FUNCTION, fx_thread_now(t))) {
			settled += owed > 0;
			fx_pairs_end(t, NO_CALL, PAIR_FUNCTION, fx_thread_now(t));
			written++;
		}
	}
	cr_assert_gt(settled, 0, "no end was ever owed and written: the test shows nothing");
	cr_assert_gt(fm_dropped(&m), 0);
}

static void count_ends(const struct fm_record *r, void *context)
{
	uint32_t *counts = context;

	if ((r->words[0] & 0xf) == 4 && (r->words[0] >> 16 & 0xf) == FX_EVENT_END)
		counts[r->words[0] >> 48 != 0]++;
}

/* Whose it was is not known any more, and the call that is recorded next is another. */
Test(function, an_end_that_was_owed_has_no_name)
{
	uint32_t counts[2] = {0};
	struct fx_thread *t;

	fm_start(&m, &(struct fm_config){.size = 16 << 10, .mode = FX_MODE_STREAMING});
	t = fx_thread_on(FX_CAT_FUNCTION);
	while (fx_pairs_begin(t, NO_CALL, PAIR_FUNCTION, fx_thread_now(t)))
		;
	fx_pairs_end(t, NO_CALL, PAIR_FUNCTION, fx_thread_now(t));
	fm_save(&m);
	cr_assert(fx_pairs_begin(t, NO_CALL, PAIR_FUNCTION + 16, fx_thread_now(t)));
	fx_pairs_end(t, NO_CALL, PAIR_FUNCTION + 16, fx_thread_now(t));
	fm_save(&m);
	fm_each(&m, count_ends, counts);
	cr_assert_eq(counts[false], 1);
	cr_assert_eq(counts[true], 1);
}

Test(function, what_is_owed_at_a_new_start_is_lost)
{
	struct fx_thread *t;
	uint64_t lost;

	fm_start(&m, &(struct fm_config){.size = 16 << 10, .mode = FX_MODE_STREAMING});
	t = fx_thread_on(FX_CAT_FUNCTION);
	while (fx_pairs_begin(t, NO_CALL, PAIR_FUNCTION, fx_thread_now(t)))
		;
	fx_pairs_end(t, NO_CALL, PAIR_FUNCTION, fx_thread_now(t));
	fx_pairs_end(t, NO_CALL, PAIR_FUNCTION, fx_thread_now(t));
	lost = fm_dropped(&m);
	cr_assert_eq(pairs_owed(), 2);
	fm_state(&m, 2, FX_CAT_FUNCTION);
	fx_thread_on(FX_CAT_FUNCTION);
	cr_assert_eq(pairs_owed(), 0);
	cr_assert_eq(fm_dropped(&m), lost + 2);
}
