/* SPDX-License-Identifier: MIT */
/*
 * Circular mode: two threads claim, open and give back chunks, in a buffer of few. Orders of their steps are tried one
 * after another, each going on alone from one of its points to another; those are the points of base/fault.def in
 * engine/provider/chunk.c. After each claim, and as long as a chunk is held, nobody else has it, and what its owner
 * wrote stands.
 */
#include <semaphore.h>
#include <string.h>

#include <criterion/criterion.h>

#include "base/fault.h"
#include "engine/provider/chunk.h"
#include "tests/engine/fake_manager.h"

#define THREADS 2u
#define CHUNKS	4u

/* More than chunks: the buffer turns. */
#define CLAIMS (CHUNKS + 2)

#define TO_ITS_END 0u

/* Seconds, of tests that wait. */
#define LONG 120

#define NOBODY UINT32_MAX

static struct fm_manager m;

static struct actor {
	pthread_t thread;
	sem_t go;
	struct fx_thread *t;
	uint32_t number;
	uint32_t points; /* that it has passed in this order */
	uint32_t until;	 /* it waits at this one */
	bool is_over, ends;
} actors[THREADS];

static __thread struct actor *self;
static sem_t changed;
static uint32_t owner[CHUNKS];

/* --- A thread ---------------------------------------------------------------------------------- */

int fx_fault_pass(enum fx_fault_point point)
{
	(void)point;
	if (self && ++self->points == self->until) {
		sem_post(&changed);
		sem_wait(&self->go);
	}
	return 0;
}

static uint32_t chunk_total(void)
{
	return m.layout.halves * m.layout.chunks_per_half;
}

static uint32_t chunk_of(uint64_t serial)
{
	uint32_t n = m.layout.chunks_per_half;

	return (uint32_t)(serial / n % m.layout.halves * n + serial % n);
}

static void take_one(struct actor *a)
{
	struct fx_cursor *c = &a->t->cursor[0];
	uint64_t serial, mark;
	uint32_t chunk;
	int r = fx_chunk_claim(a->t, &serial);

	/* The other has one at most. */
	cr_assert_geq(r, 0, "no chunk is free");
	chunk = chunk_of(serial);
	cr_assert_eq(owner[chunk], NOBODY, "chunk %u is another's", chunk);
	cr_assert_eq(fm_table(&m, chunk), FX_CHUNK_WORD(serial, FX_CHUNK_OPENING, 0));
	owner[chunk] = a->number;
	fx_chunk_open(a->t, c, serial, false, 0);
	cr_assert_eq(fm_table(&m, chunk), FX_CHUNK_WORD(serial, FX_CHUNK_HELD, 0));
	mark = serial << 8 | a->number | 1u << 7;
	*c->pos++ = mark;
	FX_FAULT(record_half);
	cr_assert_eq(c->pos[-1], mark, "chunk %u has been written by another", chunk);
	cr_assert_eq(c->chunk[2], a->t->tid);
	cr_assert_eq(owner[chunk], a->number);
	fx_chunk_release(a->t, c);
	cr_assert_eq(fm_table(&m, chunk),
		     FX_CHUNK_WORD(serial, FX_CHUNK_RELEASED, (FX_CHUNK_HEAD_WORDS + 1) * 8));
	owner[chunk] = NOBODY;
}

static void *actor_main(void *context)
{
	struct actor *a = context;

	a->t = fx_thread_on(FX_CAT_USER);
	cr_assert_not_null(a->t);
	fx_chunk_release(a->t, &a->t->cursor[0]);
	for (;;) {
		sem_post(&changed);
		sem_wait(&a->go);
		if (a->ends)
			return NULL;
		self = a;
		for (uint32_t i = 0; i < CLAIMS; i++)
			take_one(a);
		self = NULL;
		a->is_over = true;
		sem_post(&changed);
		sem_wait(&a->go);
	}
}

/* --- Orders ------------------------------------------------------------------------------------ */

/* Lets it go on until it has passed so many points more, or to its end. */
static void go_on(struct actor *a, uint32_t points)
{
	if (a->is_over)
		return;
	a->until = points ? a->points + points : 0;
	sem_post(&a->go);
	sem_wait(&changed);
}

/* An empty buffer. */
static void begin_order(void)
{
	uint64_t *table = (uint64_t *)((char *)m.header + m.layout.table_offset);

	m.header->rolling_state = 0;
	for (uint32_t i = 0; i < chunk_total(); i++) {
		table[i] = 0;
		owner[i] = NOBODY;
	}
	for (uint32_t i = 0; i < THREADS; i++) {
		actors[i].points = 0;
		actors[i].is_over = false;
	}
}

/* The first goes to a point, the second to one, the first on to another; then each to its end. */
static void go_through(uint32_t first, uint32_t second, uint32_t again)
{
	begin_order();
	go_on(&actors[0], first);
	go_on(&actors[1], second);
	go_on(&actors[0], again);
	go_on(&actors[1], TO_ITS_END);
	go_on(&actors[0], TO_ITS_END);
	for (uint32_t i = 0; i < THREADS; i++) {
		cr_assert(actors[i].is_over);
		sem_post(&actors[i].go);
		sem_wait(&changed);
	}
}

Test(claim, a_chunk_has_one_owner_in_every_order, .timeout = LONG)
{
	uint32_t a_claim;

	fm_start(&m, &(struct fm_config){.size = 4096, .mode = FX_MODE_CIRCULAR});
	cr_assert_leq(chunk_total(), CHUNKS);
	sem_init(&changed, 0, 0);
	for (uint32_t i = 0; i < THREADS; i++) {
		actors[i].number = i;
		sem_init(&actors[i].go, 0, 0);
		pthread_create(&actors[i].thread, NULL, actor_main, &actors[i]);
		sem_wait(&changed);
	}
	go_through(TO_ITS_END, TO_ITS_END, TO_ITS_END);
	a_claim = actors[0].points / CLAIMS;
	cr_assert_geq(a_claim, 7, "points are missing");
	for (uint32_t first = 1; first <= 2 * a_claim; first++) {
		for (uint32_t second = 1; second <= CLAIMS * a_claim; second++) {
			for (uint32_t again = 1; again <= 2 * a_claim; again++)
				go_through(first, second, again);
		}
	}
	for (uint32_t i = 0; i < THREADS; i++) {
		actors[i].ends = true;
		sem_post(&actors[i].go);
		pthread_join(actors[i].thread, NULL);
	}
	fm_destroy(&m);
}
