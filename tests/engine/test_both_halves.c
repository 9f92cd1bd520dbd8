/* SPDX-License-Identifier: MIT */
/* The writer half and the reader half of the engine on one buffer, in many threads: nothing is torn,
 * twice, out of a thread's order or unaccounted for. */
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <unistd.h>

#include <criterion/criterion.h>
#include <criterion/parameterized.h>

#include "base/syscall.h"
#include "engine/reader/drain.h"
#include "tests/engine/produce.h"

#define WRITERS_MAX 32u
#define RECORDS	    240000u /* of all writers together */

static struct fm_manager m;
static struct fx_drain d;
static struct produced_all got;
static uint8_t room[FX_DRAIN_BLOCK_MIN] __attribute__((aligned(8)));
static uint32_t writers, running;

struct writer {
	pthread_t thread;
	uint32_t id;
	uint32_t lost;
};

static void *writer_main(void *context)
{
	struct writer *w = context;

	for (uint32_t i = 0; i < RECORDS / writers; i++)
		w->lost += !produce(w->id, i);
	if (w->id & 1) /* the others end unseen, with a chunk in their hands */
		fx_thread_exit();
	fx_happens_before(fx_self); /* its end, for who learns of it from the kernel */
	__atomic_fetch_sub(&running, 1, __ATOMIC_RELEASE);
	return NULL;
}

static void check_piece(const struct fx_piece *piece, const uint64_t *words)
{
	const uint64_t *end = words + piece->bytes / 8;

	cr_assert_eq(piece->kind, FX_PIECE_CHUNK);
	if (piece->flags & FX_PIECE_FIRST) {
		cr_assert_eq(words[0] & 0xffffff, 0x10033u, "begins with its Thread Record");
		words += 3;
	}
	while (words < end) {
		uint32_t count = (uint32_t)(words[0] >> 4 & 0xfff);

		cr_assert(count > 0 && count <= end - words, "a piece ends within a record");
		produced_take(&got, &(struct fm_record){.words = words, .count = count});
		words += count;
	}
}

static void check_block(const struct fx_drain_block *block)
{
	size_t at = 0;

	while (at < block->used) {
		const struct fx_piece *piece = (const void *)(block->data + at);

		check_piece(piece, (const uint64_t *)(piece + 1));
		at += sizeof(*piece) + piece->bytes;
	}
}

/* Takes everything; gives back what may be. */
static void pass(void)
{
	bool must = fx_drain_must_acknowledge(&d);
	int r = 1;

	while (r == 1) {
		struct fx_drain_block block = {.data = room, .capacity = sizeof(room)};

		r = fx_drain_chunks(&d, true, &block);
		check_block(&block);
	}
	cr_assert_eq(r, 0, "%s", d.broken);
	if (!must || !fx_drain_acknowledge(&d))
		return;
	/* News of the manager's come while threads wait, and cost no record. */
	__atomic_fetch_xor(&m.control->state, FX_STATE_NEWS_ONE, __ATOMIC_RELEASE);
	__atomic_fetch_add(&m.control->space_word, 1, __ATOMIC_RELEASE);
	fx_syscall3(SYS_futex, &m.control->space_word, FUTEX_WAKE, INT_MAX);
}

static void run(struct fm_config config, uint32_t count, uint32_t pause_us)
{
	static struct writer all[WRITERS_MAX];
	uint64_t lost = 0;

	writers = running = count;
	fm_start(&m, &config);
	cr_assert_eq(fx_drain_init(&d, &m.layout, m.buffer, m.control), 0);
	produced_init(&got, count, RECORDS);
	for (uint32_t i = 0; i < count; i++) {
		all[i].id = i;
		pthread_create(&all[i].thread, NULL, writer_main, &all[i]);
	}
	while (__atomic_load_n(&running, __ATOMIC_ACQUIRE)) {
		pass();
		usleep(pause_us);
	}
	for (uint32_t i = 0; i < count; i++) {
		pthread_join(all[i].thread, NULL);
		lost += all[i].lost;
	}
	pass();
	pass(); /* what stood behind a wrap that was not given back yet */
	cr_assert_leq(got.names, count / 2);
	cr_assert_eq(fm_dropped(&m), lost);
	cr_assert_eq(got.total + lost, (uint64_t)RECORDS / count * count);
	for (uint32_t i = 0; i < count; i++)
		cr_assert(got.writers[i].ordered, "writer %u", i);
	if (config.on_full == FX_ON_FULL_BLOCK)
		cr_assert_eq(lost, 0);
	produced_destroy(&got);
	fx_drain_destroy(&d);
	fm_destroy(&m);
}

struct case_ {
	uint32_t writers;
	uint64_t size;
	enum fx_on_full on_full;
	uint32_t pause_us;
	uint32_t enough;
};

static struct case_ cases[] = {
    {1, 64 << 10, FX_ON_FULL_DROP, 50, 0},   {4, 64 << 10, FX_ON_FULL_DROP, 50, 0},
    {32, 64 << 10, FX_ON_FULL_DROP, 0, 0},   {8, 1 << 20, FX_ON_FULL_DROP, 200, 0},
    {1, 64 << 10, FX_ON_FULL_BLOCK, 0, 0},   {4, 64 << 10, FX_ON_FULL_BLOCK, 0, 0},
    {32, 128 << 10, FX_ON_FULL_BLOCK, 0, 0}, {8, 1 << 20, FX_ON_FULL_BLOCK, 200, 0},
    {1, 64 << 10, FX_ON_FULL_DROP, 50, 2},   {32, 64 << 10, FX_ON_FULL_DROP, 0, 1},
    {4, 64 << 10, FX_ON_FULL_BLOCK, 0, 3},   {32, 128 << 10, FX_ON_FULL_BLOCK, 0, 1},
    {8, 1 << 20, FX_ON_FULL_BLOCK, 200, 4},
};

ParameterizedTestParameters(both_halves, agree)
{
	return cr_make_param_array(struct case_, cases, sizeof(cases) / sizeof(cases[0]));
}

ParameterizedTest(struct case_ *c, both_halves, agree, .timeout = 60)
{
	run((struct fm_config){.size = c->size,
			       .mode = FX_MODE_STREAMING,
			       .on_full = c->on_full,
			       .half_enough = c->enough},
	    c->writers, c->pause_us);
}
