/* SPDX-License-Identifier: MIT */
/* The durable area: a row of whole records at every moment. */
#include <unistd.h>

#include <criterion/criterion.h>

#include "engine/provider/durable.h"
#include "tests/engine/fake_manager.h"

#define WRITERS 8u

static struct fm_manager m;

static uint64_t header_of(unsigned words)
{
	return 2ull | (uint64_t)words << 4;
}

static void write_one(uint32_t writer, uint32_t number, unsigned words, bool *ret_written)
{
	uint64_t *p = fx_durable_reserve(words);

	*ret_written = p != NULL;
	if (!p)
		return;
	for (unsigned i = 1; i < words; i++)
		p[i] = ((uint64_t)writer << 32 | number) * i;
	fx_durable_commit(p, header_of(words));
}

struct read {
	uint32_t records;
	uint32_t last[WRITERS];
};

static void check_one(const uint64_t *words, void *context)
{
	struct read *r = context;
	uint32_t writer = (uint32_t)(words[1] >> 32), number = (uint32_t)words[1];

	cr_assert_lt(writer, WRITERS);
	for (unsigned i = 1; i < (words[0] >> 4 & 0xfff); i++)
		cr_assert_eq(words[i], words[1] * i, "a durable record is torn");
	cr_assert_lt(r->last[writer], number);
	r->last[writer] = number;
	r->records++;
}

Test(durable, records_stand_in_order)
{
	struct read r = {0};
	bool ok;

	fm_start(&m, &(struct fm_config){0});
	for (uint32_t i = 1; i <= 100; i++) {
		write_one(0, i, 2 + i % 7, &ok);
		cr_assert(ok);
	}
	cr_assert_eq(fm_each_durable(&m, check_one, &r), 0);
	cr_assert_eq(r.records, 100);
}

Test(durable, fills_to_the_last_word)
{
	uint32_t n = 0, words;
	struct read r = {0};
	bool ok = true;

	fm_start(&m, &(struct fm_config){.size = 64 << 10});
	words = (uint32_t)(m.layout.durable_size / 8);
	while ((n + 1) * 3 <= words) {
		write_one(0, ++n, 3, &ok);
		cr_assert(ok);
	}
	cr_assert_eq(m.header->durable_full, 0);
	write_one(0, ++n, words % 3 + 1, &ok);
	cr_assert_not(ok);
	cr_assert_eq(m.header->durable_full, 1);
	if (words % 3 == 2) { /* what is smaller may still fit */
		write_one(0, n, 2, &ok);
		cr_assert(ok);
	}
	fm_each_durable(&m, check_one, &r);
}

Test(durable, a_claim_that_is_never_filled_is_stepped_over)
{
	struct read r = {0};
	uint64_t *claim;
	bool ok;

	fm_start(&m, &(struct fm_config){0});
	write_one(0, 1, 3, &ok);
	claim = fx_durable_reserve(5);
	cr_assert_not_null(claim);
	write_one(0, 2, 4, &ok);
	cr_assert_eq(fm_each_durable(&m, check_one, &r), 1);
	cr_assert_eq(r.records, 2);
	/* Filled late, it counts. */
	r = (struct read){0};
	for (unsigned i = 1; i < 5; i++)
		claim[i] = (1ull << 32 | 9) * i;
	fx_durable_commit(claim, header_of(5));
	cr_assert_eq(fm_each_durable(&m, check_one, &r), 0);
	cr_assert_eq(r.records, 3);
}

/* The hint is no more than one: whatever it says, nothing is overwritten. */
Test(durable, a_hint_that_lags_behind_does_no_harm)
{
	struct read r = {0};
	bool ok;

	fm_start(&m, &(struct fm_config){0});
	for (uint32_t i = 1; i <= 50; i++) {
		m.header->durable_hint = 0;
		write_one(0, i, 2 + i % 5, &ok);
		cr_assert(ok);
	}
	cr_assert_eq(fm_each_durable(&m, check_one, &r), 0);
	cr_assert_eq(r.records, 50);
}

static pthread_barrier_t go;
static uint32_t written, done;

static void *writer_main(void *context)
{
	uint32_t writer = (uint32_t)(uintptr_t)context, n = 0;
	bool ok;

	pthread_barrier_wait(&go);
	do {
		n++;
		write_one(writer, n, 2 + (writer + n) % 6, &ok);
		__atomic_fetch_add(&written, ok, __ATOMIC_RELAXED);
	} while (ok);
	__atomic_fetch_add(&done, 1, __ATOMIC_RELEASE);
	return NULL;
}

Test(durable, threads_fill_it_and_it_can_be_walked_all_the_while)
{
	pthread_t threads[WRITERS];
	struct read r = {0};

	fm_start(&m, &(struct fm_config){.size = 16 << 20});
	pthread_barrier_init(&go, NULL, WRITERS + 1);
	for (uint32_t i = 0; i < WRITERS; i++)
		pthread_create(&threads[i], NULL, writer_main, (void *)(uintptr_t)i);
	pthread_barrier_wait(&go);
	while (fx_load_acquire(&done) < WRITERS) {
		const uint64_t *p = (const uint64_t *)(m.buffer + m.layout.durable_offset);
		uint64_t at = 0, room = m.layout.durable_size / 8, header;

		while (at < room && (header = fx_load_acquire(&p[at]))) {
			uint64_t size = header >> 4 & 0xfff;

			cr_assert(size >= 2 && at + size <= room, "no walk through the area");
			at += size;
		}
		usleep(200);
	}
	for (uint32_t i = 0; i < WRITERS; i++)
		pthread_join(threads[i], NULL);
	cr_assert_eq(fm_each_durable(&m, check_one, &r), 0);
	cr_assert_eq(r.records, written);
}
