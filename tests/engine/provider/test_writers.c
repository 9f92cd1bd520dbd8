/* SPDX-License-Identifier: MIT */
/* Many threads in one buffer: nothing torn, nothing twice, order kept, every loss counted. */
#include <unistd.h>

#include <criterion/criterion.h>
#include <criterion/parameterized.h>

#include "tests/engine/produce.h"

#define WRITERS_MAX 64u
#define RECORDS	    240000u /* of all writers together */

static struct fm_manager m;
static pthread_barrier_t go;
static uint32_t writers;

struct writer {
	pthread_t thread;
	uint32_t id;
	uint32_t lost;
};

static void *writer_main(void *context)
{
	struct writer *w = context;

	pthread_barrier_wait(&go);
	for (uint32_t i = 0; i < RECORDS / writers; i++)
		w->lost += !produce(w->id, i);
	if (w->id & 1) /* the others end unseen, with a chunk in their hands */
		fx_thread_exit();
	fx_happens_before(fx_self); /* its end, for who learns of it from the kernel */
	return NULL;
}

static void run(struct fm_config config, uint32_t count)
{
	static struct writer all[WRITERS_MAX];
	uint64_t lost = 0, total = (uint64_t)RECORDS / count * count;
	struct produced_all got;

	writers = count;
	fm_start(&m, &config);
	pthread_barrier_init(&go, NULL, count);
	if (config.mode == FX_MODE_STREAMING)
		fm_saver_start(&m, 100);
	for (uint32_t i = 0; i < count; i++) {
		all[i].id = i;
		pthread_create(&all[i].thread, NULL, writer_main, &all[i]);
	}
	for (uint32_t i = 0; i < count; i++) {
		pthread_join(all[i].thread, NULL);
		lost += all[i].lost;
	}
	if (config.mode == FX_MODE_STREAMING)
		fm_saver_stop(&m);
	produced_init(&got, count, RECORDS);
	produced_read(&got, &m);
	/* Each thread that ended properly also wrote its name, if there was room; it is not counted. */
	cr_assert_leq(got.names, count / 2);
	cr_assert_eq(fm_dropped(&m), lost);
	cr_assert_eq(got.total + lost, total, "%llu recorded + %llu lost of %llu",
		     (unsigned long long)got.total, (unsigned long long)lost,
		     (unsigned long long)total);
	for (uint32_t i = 0; i < count; i++) {
		cr_assert(got.writers[i].ordered, "writer %u", i);
		cr_assert_eq(got.writers[i].count + all[i].lost, RECORDS / count, "writer %u", i);
	}
	if (config.on_full == FX_ON_FULL_BLOCK)
		cr_assert_eq(lost, 0);
	produced_destroy(&got);
	fm_destroy(&m);
}

struct case_ {
	uint32_t writers;
	uint64_t size;
	enum fx_buffering_mode mode;
	enum fx_on_full on_full;
};

static struct case_ cases[] = {
    {1, 64 << 20, FX_MODE_ONESHOT, 0},
    {2, 64 << 20, FX_MODE_ONESHOT, 0},
    {8, 64 << 20, FX_MODE_ONESHOT, 0},
    {64, 64 << 20, FX_MODE_ONESHOT, 0},
    {8, 1 << 20, FX_MODE_ONESHOT, 0},
    {64, 1 << 20, FX_MODE_ONESHOT, 0},
    {1, 256 << 10, FX_MODE_STREAMING, 0},
    {2, 256 << 10, FX_MODE_STREAMING, 0},
    {8, 256 << 10, FX_MODE_STREAMING, 0},
    {64, 256 << 10, FX_MODE_STREAMING, 0},
    {64, 4 << 20, FX_MODE_STREAMING, 0},
    {1, 256 << 10, FX_MODE_STREAMING, FX_ON_FULL_BLOCK},
    {2, 256 << 10, FX_MODE_STREAMING, FX_ON_FULL_BLOCK},
    {8, 256 << 10, FX_MODE_STREAMING, FX_ON_FULL_BLOCK},
    {64, 4 << 20, FX_MODE_STREAMING, FX_ON_FULL_BLOCK},
#ifndef FX_TSAN
    /* Half as many chunks as threads; fewer still. */
    {64, 64 << 10, FX_MODE_STREAMING, FX_ON_FULL_BLOCK},
    {64, 16 << 10, FX_MODE_STREAMING, FX_ON_FULL_BLOCK},
#endif
};

ParameterizedTestParameters(writers, all)
{
	return cr_make_param_array(struct case_, cases, sizeof cases / sizeof cases[0]);
}

ParameterizedTest(struct case_ *c, writers, all, .timeout = 60)
{
	run((struct fm_config){.size = c->size, .mode = c->mode, .on_full = c->on_full},
	    c->writers);
}
