/* SPDX-License-Identifier: MIT */
/*
 * The engine, by the conformance list. What Fuchsia's engine does with a thread of its own, ours leaves
 * to the manager or to whoever comes by; each test says the equivalent.
 */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "engine/provider/chunk.h"
#include "engine/provider/durable.h"
#include "engine/provider/engine.h"
#include "engine/provider/observer.h"
#include "engine/provider/fragments.h"
#include "engine/provider/record.h"
#include "engine/provider/site.h"
#include "engine/provider/string.h"
#include "format/encode.h"
#include "tests/engine/produce.h"

#define THREADS 4u
#define ALL	(~(FX_CAT_PAIRS | FX_LOOK_EXIT))

static struct fm_manager m;

static void start(struct fm_config config)
{
	fm_start(&m, &config);
}

static struct fx_thread *me(void)
{
	struct fx_thread *t = fx_thread_on(FX_CAT_USER);

	cr_assert_not_null(t);
	return t;
}

static uint32_t wrapped_count(void)
{
	return (uint32_t)(fx_load_acquire(&m.header->rolling_state) >> 32);
}

/* --- Strings --------------------------------------------------------------------------------- */

/* The texts of the durable area, by index. */
static char texts[FX_STRING_MAX + 1][64];
static unsigned definitions;

static void take_string(const uint64_t *words, void *context)
{
	size_t length = FXT_GET(words[0], STRING_LENGTH);

	(void)context;
	if (FXT_GET(words[0], RECORD_TYPE) != FXT_RECORD_STRING || length >= sizeof texts[0])
		return;
	memcpy(texts[FXT_GET(words[0], STRING_INDEX)], words + 1, length);
	definitions++;
}

static void read_strings(void)
{
	definitions = 0;
	memset(texts, 0, sizeof texts);
	fm_each_durable(&m, take_string, NULL);
}

Test(engine, register_strings_with_stable_ids)
{
	static const char *const names[] = {"alpha", "beta", "gamma", "a name of more than a word"};
	uint32_t ids[4];

	start((struct fm_config){0});
	for (unsigned i = 0; i < 4; i++) {
		ids[i] = fx_string_literal(me(), names[i]);
		cr_assert_neq(ids[i], 0);
		for (unsigned k = 0; k < i; k++)
			cr_assert_neq(ids[i], ids[k]);
	}
	for (unsigned i = 0; i < 4; i++)
		cr_assert_eq(fx_string_literal(me(), names[i]), ids[i]);
	/* Over a stop and another start as well: the durable area is never emptied. */
	fm_state(&m, 1, 0);
	fm_state(&m, 2, ALL);
	for (unsigned i = 0; i < 4; i++)
		cr_assert_eq(fx_string_literal(me(), names[i]), ids[i]);
	read_strings();
	cr_assert_eq(definitions, 4, "each text is written once");
	for (unsigned i = 0; i < 4; i++)
		cr_assert_str_eq(texts[ids[i]], names[i]);
}

#define LITERALS 64u
static char literals[LITERALS][16];
static uint32_t ids_of[THREADS][LITERALS];
static pthread_barrier_t go;

static void *register_literals(void *context)
{
	uintptr_t id = (uintptr_t)context;

	pthread_barrier_wait(&go);
	for (unsigned round = 0; round < 100; round++) {
		for (unsigned i = 0; i < LITERALS; i++)
			ids_of[id][i] = fx_string_literal(me(), literals[i]);
	}
	fx_thread_exit();
	return NULL;
}

static void run_threads(unsigned count, void *(*body)(void *context))
{
	pthread_t threads[64];

	pthread_barrier_init(&go, NULL, count);
	for (uintptr_t i = 0; i < count; i++)
		pthread_create(&threads[i], NULL, body, (void *)i);
	for (unsigned i = 0; i < count; i++)
		pthread_join(threads[i], NULL);
}

Test(engine, string_literal_in_several_threads)
{
	start((struct fm_config){0});
	for (unsigned i = 0; i < LITERALS; i++)
		snprintf(literals[i], sizeof literals[i], "literal %u", i);
	run_threads(THREADS, register_literals);
	read_strings();
	for (unsigned i = 0; i < LITERALS; i++) {
		for (unsigned k = 1; k < THREADS; k++)
			cr_assert_eq(ids_of[k][i], ids_of[0][i], "threads agree");
		cr_assert_str_eq(texts[ids_of[0][i]], literals[i]);
	}
	/* Two that race may define one twice; the loser's index is never used. */
	cr_assert_geq(definitions, LITERALS);
	cr_assert_leq(definitions, LITERALS * THREADS);
}

/* Writes an instant whose category and name are these strings, inline if they have no index. */
static bool write_instant(const char *category, const char *name)
{
	struct fx_thread *t = me();
	uint32_t c = fx_string_literal(t, category), n = fx_string_literal(t, name);
	size_t c_words = c ? 0 : fx_bytes_words(strlen(category));
	size_t n_words = n ? 0 : fx_bytes_words(strlen(name)), size = 2 + c_words + n_words;
	struct fx_reservation r;
	uint64_t *p = fx_record_reserve(t, (unsigned)size, &r), *at;

	if (!p)
		return false;
	p[1] = fx_thread_now(t);
	at = p + 2;
	if (!c)
		at = fx_bytes_write(at, category, strlen(category));
	if (!n)
		fx_bytes_write(at, name, strlen(name));
	c = c ? c : fx_ref_inline(strlen(category));
	n = n ? n : fx_ref_inline(strlen(name));
	fx_record_commit(t, p, FX_EVENT_HEADER(FX_EVENT_INSTANT, size, 0, c, n), &r);
	return true;
}

struct inline_count {
	unsigned with_index, inline_names;
};

static void count_inline(const struct fm_record *r, void *context)
{
	struct inline_count *c = context;

	if (FXT_GET(r->words[0], EVENT_NAME) & FXT_STRING_INLINE)
		c->inline_names++;
	else
		c->with_index++;
}

Test(engine, string_table_overflow)
{
	static char names[FX_STRING_LOCAL + 500][8];
	struct inline_count count = {0};

	start((struct fm_config){.size = 64 << 20});
	cr_assert(write_instant("category", "first"));
	for (unsigned i = 0; i < FX_ARRAY_LEN(names); i++) {
		snprintf(names[i], sizeof names[i], "%u", i);
		cr_assert(write_instant("category", names[i]), "name %u", i);
	}
	cr_assert_eq(fm_dropped(&m), 0, "tracing goes on");
	fm_each(&m, count_inline, &count);
	cr_assert_eq(count.with_index + count.inline_names, FX_ARRAY_LEN(names) + 1);
	cr_assert_eq(count.with_index, FX_STRING_LOCAL - FM_FIRST_STRING - 1);
	cr_assert_gt(count.inline_names, 0);
	/* Those that have an index keep it. */
	cr_assert_neq(fx_string_literal(me(), names[0]), 0);
	cr_assert_eq(fx_string_literal(me(), names[FX_STRING_LOCAL + 499]), 0);
}

Test(engine, durable_overflow)
{
	static char names[4000][24];
	struct inline_count count = {0};

	start((struct fm_config){.size = 1 << 20, .mode = FX_MODE_STREAMING});
	fm_saver_start(&m, 50);
	for (unsigned i = 0; i < FX_ARRAY_LEN(names); i++) {
		snprintf(names[i], sizeof names[i], "a rather long name %u", i);
		while (!write_instant("category", names[i]))
			usleep(50);
	}
	fm_saver_stop(&m);
	cr_assert_eq(m.header->durable_full, 1);
	fm_each(&m, count_inline, &count);
	cr_assert_eq(count.with_index + count.inline_names, FX_ARRAY_LEN(names),
		     "tracing goes on, and no record refers to what is not there");
	cr_assert_gt(count.inline_names, 0);
	read_strings();
	cr_assert_geq(definitions, count.with_index);
	cr_assert_leq(m.header->durable_hint, m.layout.durable_size);
}

/* --- Categories ------------------------------------------------------------------------------ */

Test(engine, enabled_categories)
{
	start((struct fm_config){.stopped = 1});
	cr_assert_not(fx_category_is_enabled("function"));
	cr_assert_not(fx_category_is_enabled("the program's own"));
	fm_state(&m, 1, FX_CAT_FUNCTION | FX_CAT_SYSCALL);
	cr_assert(fx_category_is_enabled("function"));
	cr_assert(fx_category_is_enabled("syscall"));
	cr_assert_not(fx_category_is_enabled("pthread"));
	cr_assert_not(fx_category_is_enabled("the program's own"));
	fm_state(&m, 1, FX_CAT_USER | FX_CAT_PAIRS);
	cr_assert(fx_category_is_enabled("the program's own"));
	cr_assert(fx_category_is_enabled("function"), "as begin and end records");
	cr_assert_not(fx_category_is_enabled("syscall"));
	fm_state(&m, 1, 0);
	cr_assert_not(fx_category_is_enabled("function"));
}

Test(engine, acquire_for_category)
{
	/* A site that was never asked. */
	struct fx_site on = {0}, off = {0};

	start((struct fm_config){.stopped = 1});
	cr_assert_null(fx_site_on(&on, "pthread"));
	fm_state(&m, 1, FX_CAT_PTHREAD);
	cr_assert_eq(fx_site_on(&on, "pthread"), fx_self);
	cr_assert_not_null(fx_self->slot);
	cr_assert_null(fx_site_on(&off, "syscall"));
	fm_die(&m);
	cr_assert_null(fx_site_on(&on, "pthread"), "nobody is there to read it");
}

Test(engine, acquire_for_category_cached)
{
	struct fx_site on = {0}, off = {0};
	char category[] = "pthread";

	start((struct fm_config){.stopped = 1});
	fm_state(&m, 1, FX_CAT_PTHREAD);
	cr_assert_not_null(fx_site_on(&on, category));
	cr_assert_null(fx_site_on(&off, "syscall"));
	/* The answers stand in the sites: the names are not looked at again. */
	memset(category, 0, sizeof category);
	cr_assert_not_null(fx_site_on(&on, NULL));
	cr_assert_null(fx_site_on(&off, NULL));
	cr_assert_eq(on.state, m.control->state | FX_SITE_ENABLED);
	cr_assert_eq(off.state, m.control->state);
}

Test(engine, cached_flags_are_reset_on_stop)
{
	struct fx_site site = {0}, other = {0};

	start((struct fm_config){.stopped = 1});
	fm_state(&m, 1, FX_CAT_PTHREAD);
	cr_assert_not_null(fx_site_on(&site, "pthread"));
	cr_assert_null(fx_site_on(&other, "syscall"));
	fm_state(&m, 1, 0);
	cr_assert_null(fx_site_on(&site, "pthread"));
	cr_assert_null(fx_site_on(&other, "syscall"));
	/* Other categories: each site asks anew. */
	fm_state(&m, 2, FX_CAT_SYSCALL);
	cr_assert_null(fx_site_on(&site, "pthread"));
	cr_assert_not_null(fx_site_on(&other, "syscall"));
	fm_state(&m, 2, FX_CAT_SYSCALL | FX_CAT_PTHREAD);
	cr_assert_not_null(fx_site_on(&site, "pthread"));
	cr_assert_not_null(fx_site_on(&other, "syscall"));
}

/* --- Alerts ---------------------------------------------------------------------------------- */

static struct fx_packet newest_packet(void)
{
	uint64_t head = m.header->packet_head;

	cr_assert_gt(head, 0);
	cr_assert_eq(m.header->packets[(head - 1) % FX_PACKETS].seq, head);
	return m.header->packets[(head - 1) % FX_PACKETS].packet;
}

static int alert(const char *name)
{
	return fx_engine_alert(name, strlen(name));
}

Test(engine, alerts)
{
	static const char *const names[] = {"a", "ten bytes.", "fourteen bytes"};

	start((struct fm_config){.stopped = 1});
	cr_assert_eq(alert("nobody hears"), -ESHUTDOWN);
	fm_state(&m, 1, FX_CAT_USER);
	for (unsigned i = 0; i < 3; i++) {
		struct fx_packet p;
		char name[FX_ALERT_BYTES + 1] = {0};

		cr_assert_eq(alert(names[i]), 0);
		p = newest_packet();
		cr_assert_eq(p.request, FX_PACKET_ALERT);
		memcpy(name, (const char *)&p + offsetof(struct fx_packet, data16), FX_ALERT_BYTES);
		cr_assert_str_eq(name, names[i]);
	}
	cr_assert_eq(alert(""), -EINVAL);
	cr_assert_eq(alert("fifteen bytes!!"), -EINVAL);
	cr_assert_eq(m.header->packet_head, 4, "STARTED, and the three that have a name");
	fm_state(&m, 1, 0);
	cr_assert_eq(alert("too late"), -ESHUTDOWN);
}

/* --- Flush, fill, shut down ------------------------------------------------------------------ */

/* A flush asks nothing of the provider: what is committed can be read at any time, from chunks that
 * their threads go on writing in. */
Test(engine, flush)
{
	struct produced_all got;

	start((struct fm_config){.size = 1 << 20, .mode = FX_MODE_STREAMING});
	for (uint32_t i = 0; i < 100; i++) {
		cr_assert(produce(0, i));
		fm_read(&m);
	}
	cr_assert_eq(fm_table(&m, 0) & FX_CHUNK_OPENING, FX_CHUNK_HELD);
	cr_assert_eq(m.control->wraps_saved, 0, "nothing had to be full");
	produced_init(&got, 1, 100);
	produced_read(&got, &m);
	cr_assert_eq(got.total, 100);
	produced_destroy(&got);
}

static uint32_t produced_in[64], lost_in[64];
static uint32_t stop_writers;

static void *fill_main(void *context)
{
	uintptr_t id = (uintptr_t)context;

	pthread_barrier_wait(&go);
	for (uint32_t i = 0; i < 20000; i++) {
		lost_in[id] += !produce((uint32_t)id, i);
		produced_in[id]++;
	}
	fx_thread_exit();
	return NULL;
}

/* Four threads write more than the buffer holds. */
static void fill(enum fx_buffering_mode mode, struct produced_all *got, uint64_t *ret_lost)
{
	start((struct fm_config){.size = 256 << 10, .mode = mode});
	run_threads(THREADS, fill_main);
	produced_init(got, THREADS, 20000);
	if (mode != FX_MODE_CIRCULAR)
		produced_read(got, &m);
	*ret_lost = 0;
	for (unsigned i = 0; i < THREADS; i++)
		*ret_lost += lost_in[i];
	cr_assert_eq(fm_dropped(&m), *ret_lost);
	cr_assert_eq(m.header->total_size, m.layout.total_size);
	cr_assert_eq(m.header->durable_size, m.layout.durable_size);
	cr_assert_eq(m.header->rolling_size,
		     (uint64_t)m.layout.chunks_per_half * m.layout.chunk_size);
	cr_assert_eq(m.header->epoch_started, 1);
}

/* Every chunk of a half was claimed, and its data end is within it. */
static void check_half(uint32_t half)
{
	uint32_t n = m.layout.chunks_per_half;

	for (uint32_t i = half * n; i < half * n + n; i++) {
		uint64_t word = fm_table(&m, i);

		cr_assert_eq(word & FX_CHUNK_OPENING, FX_CHUNK_RELEASED, "chunk %u", i);
		cr_assert_leq(FX_CHUNK_END(word), m.layout.chunk_size);
		cr_assert_gt(FX_CHUNK_END(word), m.layout.chunk_size - 8 * PRODUCE_WORDS_MAX);
	}
}

Test(engine, fill_oneshot)
{
	struct produced_all got;
	uint64_t lost;

	fill(FX_MODE_ONESHOT, &got, &lost);
	cr_assert_eq(wrapped_count(), 0);
	cr_assert_eq((uint32_t)m.header->rolling_state, m.layout.chunks_per_half);
	check_half(0);
	cr_assert_gt(lost, 0);
	cr_assert_eq(got.total + lost, THREADS * 20000u);
	produced_destroy(&got);
}

Test(engine, fill_circular)
{
	struct produced_all got;
	uint64_t lost;

	fill(FX_MODE_CIRCULAR, &got, &lost);
	cr_assert_gt(wrapped_count(), 2);
	cr_assert_eq(lost, 0, "what is overwritten is not lost for want of room");
	produced_destroy(&got);
}

Test(engine, fill_streaming)
{
	struct produced_all got;
	uint64_t lost;

	/* Nobody saves: both halves fill, and the second is asked to be saved once. */
	fill(FX_MODE_STREAMING, &got, &lost);
	cr_assert_eq(wrapped_count(), 1);
	check_half(0);
	check_half(1);
	cr_assert_eq(m.header->packet_head, 2, "STARTED, and SAVE_BUFFER for the first half");
	cr_assert_eq(m.header->packets[1].packet.request, FX_PACKET_SAVE_BUFFER);
	cr_assert_eq(m.header->packets[1].packet.data32, 0);
	cr_assert_gt(lost, 0);
	cr_assert_eq(got.total + lost, THREADS * 20000u);
	produced_destroy(&got);
}

static void *write_until_told(void *context)
{
	uintptr_t id = (uintptr_t)context;

	pthread_barrier_wait(&go);
	while (!fx_load_acquire(&stop_writers)) {
		if (produce((uint32_t)id, produced_in[id]))
			produced_in[id]++;
	}
	return NULL;
}

/* Threads that write while something happens to their session; then all of them end. */
static void shutdown_amid(void (*happen)(void))
{
	pthread_t threads[THREADS];

	pthread_barrier_init(&go, NULL, THREADS + 1);
	for (uintptr_t i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, write_until_told, (void *)i);
	pthread_barrier_wait(&go);
	usleep(5000);
	happen();
	usleep(5000);
	fx_store_release(&stop_writers, 1);
	for (unsigned i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
}

static void check_shutdown(void)
{
	struct produced_all got;

	produced_init(&got, THREADS, 1u << 24);
	produced_read(&got, &m);
	for (unsigned i = 0; i < THREADS; i++) {
		cr_assert(got.writers[i].ordered);
		cr_assert_eq(got.writers[i].count, produced_in[i],
			     "all that was written is there, writer %u", i);
	}
	produced_destroy(&got);
}

static uint64_t claimed_at_stop;

static void stop_normally(void)
{
	fm_state(&m, 1, 0);
	claimed_at_stop = fx_load_acquire(&m.header->rolling_state);
}

Test(engine, normal_shutdown)
{
	start((struct fm_config){.size = 64 << 20});
	shutdown_amid(stop_normally);
	/* Each thread had one record under way at most, and may have needed a chunk for it. */
	cr_assert_leq(m.header->rolling_state - claimed_at_stop, THREADS,
		      "nobody begins a record after a stop");
	check_shutdown();
	cr_assert_eq(fm_dropped(&m), 0, "a stop loses nothing");
}

static void manager_dies(void)
{
	fm_die(&m);
}

/* The manager dies, or closes the session without a word. */
Test(engine, hard_shutdown)
{
	start((struct fm_config){.size = 64 << 20});
	shutdown_amid(manager_dies);
	check_shutdown();
	cr_assert_null(fx_thread_on(FX_CAT_USER));
	cr_assert_not(produce(0, 0));
}

/* Children on storage of their own: nothing is recorded until the last is gone. */
Test(engine, guests_are_counted)
{
	fx_engine_guest_comes();
	fx_engine_guest_gone();
	start((struct fm_config){0});
	cr_assert(produce(0, 0));
	for (unsigned i = 0; i < FX_GUESTS_MAX; i++)
		fx_engine_guest_comes();
	for (unsigned i = 0; i < FX_GUESTS_MAX; i++) {
		cr_assert_not(produce(0, 1));
		cr_assert_not(fx_engine_is_guest(), "their maker");
		fx_engine_guest_gone();
	}
	cr_assert(produce(0, 1));
	fx_engine_guest_gone();
	cr_assert(produce(0, 2), "one too many gone");
}

Test(engine, a_detachment_amid_guests_stays)
{
	start((struct fm_config){0});
	fx_engine_guest_comes();
	fx_engine_guest_comes();
	fx_engine_guest_gone();
	fx_engine_detach();
	fx_engine_confine(FX_ASK_ALL);
	cr_assert(fx_engine_is_guest(), "who may not ask");
	fx_engine_guest_gone();
	cr_assert_not(fx_engine_is_guest());
	cr_assert_not(produce(0, 0));
}

Test(engine, more_guests_than_are_counted)
{
	start((struct fm_config){0});
	for (unsigned i = 0; i < FX_GUESTS_MAX + 2; i++)
		fx_engine_guest_comes();
	for (unsigned i = 0; i < FX_GUESTS_MAX + 2; i++)
		fx_engine_guest_gone();
	cr_assert_not(produce(0, 0));
}

static void stop_when_full(void)
{
	while (!fm_dropped(&m))
		usleep(100);
	fm_state(&m, 1, 0);
}

Test(engine, shutdown_when_full)
{
	start((struct fm_config){.size = 128 << 10});
	shutdown_amid(stop_when_full);
	check_shutdown();
	/* And again from the beginning: a full buffer is no obstacle to the next start. */
	fm_state(&m, 2, FX_CAT_USER);
	cr_assert_not_null(fx_thread_on(FX_CAT_USER));
	cr_assert_not(produce(0, 0), "it is full still");
}

Test(engine, streaming_full_drop_save_resume)
{
	uint32_t n = 0, lost = 0;
	struct produced_all got;

	start((struct fm_config){.size = 64 << 10, .mode = FX_MODE_STREAMING});
	for (unsigned turn = 0; turn < 5; turn++) {
		while (produce(0, n))
			n++;
		n++;
		lost++;
		cr_assert_eq(fm_dropped(&m), lost);
		cr_assert_not(produce(0, n++), "dropped as long as nothing is saved");
		lost++;
		cr_assert(fm_save(&m));
		cr_assert(produce(0, n++), "and gone on with when it is");
	}
	produced_init(&got, 1, n);
	produced_read(&got, &m);
	cr_assert_eq(got.total + lost, n);
	cr_assert(got.writers[0].ordered);
	cr_assert_eq(fm_slot(&m, 0)->dropped_first, 0, "nothing is lost now");
	cr_assert_neq(fm_slot(&m, 0)->gap_first, 0, "when it began and ended is known");
	cr_assert_geq(fm_slot(&m, 0)->gap_last, fm_slot(&m, 0)->gap_first);
	produced_destroy(&got);
}

Test(engine, circular_keeps_the_newest)
{
	uint32_t chunks, oldest = UINT32_MAX, newest = 0;

	start((struct fm_config){.size = 64 << 10, .mode = FX_MODE_CIRCULAR});
	chunks = 2 * m.layout.chunks_per_half;
	/* One record a chunk, ten turns. */
	for (uint32_t i = 0; i < 10 * chunks; i++)
		cr_assert(produce_sized(0, i, m.layout.chunk_size / 8 - 3));
	for (uint32_t i = 0; i < chunks; i++) {
		const uint64_t *words =
		    (const uint64_t *)(m.buffer +
				       m.layout.rolling_offset[i / m.layout.chunks_per_half]) +
		    (uint64_t)(i % m.layout.chunks_per_half) * m.layout.chunk_size / 8;
		uint32_t number = (uint32_t)words[4];

		oldest = number < oldest ? number : oldest;
		newest = number > newest ? number : newest;
	}
	cr_assert_eq(newest, 10 * chunks - 1);
	cr_assert_eq(oldest, 9 * chunks, "the whole rolling space, not the half in use");
	cr_assert_eq(fm_dropped(&m), 0);
}

/* --- Observers ------------------------------------------------------------------------------- */

static enum fx_phase heard[16];
static unsigned heard_count;

static void hear(struct fx_observer *o, enum fx_phase phase)
{
	(void)o;
	cr_assert_lt(heard_count, FX_ARRAY_LEN(heard));
	heard[heard_count++] = phase;
}

Test(engine, observers_hear_three_signals)
{
	struct fx_observer o = {.changed = hear};
	struct fx_site site = {0};

	start((struct fm_config){.stopped = 1});
	cr_assert_eq(fx_observer_add(&o), 0);
	fx_site_on(&site, "function");
	cr_assert_eq(heard_count, 0);
	/* The first site that comes by after a change tells it. */
	fm_state(&m, 1, FX_CAT_USER);
	cr_assert_eq(heard_count, 0, "nobody has noticed");
	fx_site_on(&site, "function");
	cr_assert_eq(heard_count, 1);
	cr_assert_eq(heard[0], FX_PHASE_STARTED);
	fx_site_on(&site, "function");
	cr_assert_eq(heard_count, 1, "once");
	fm_state(&m, 1, 0);
	fx_site_on(&site, "function");
	cr_assert_eq(heard_count, 2);
	cr_assert_eq(heard[1], FX_PHASE_STOPPING);
	fm_phase(&m, FX_PHASE_STOPPED);
	fm_state(&m, 2, FX_CAT_USER);
	fx_site_on(&site, "function");
	cr_assert_eq(heard_count, 4, "what nobody saw is told in its turn");
	cr_assert_eq(heard[2], FX_PHASE_STOPPED);
	cr_assert_eq(heard[3], FX_PHASE_STARTED);
	cr_assert_eq(fx_observer_remove(&o), 0);
	fm_state(&m, 2, 0);
	fx_site_on(&site, "function");
	cr_assert_eq(heard_count, 4);
}

static void *signal_later(void *context)
{
	(void)context;
	for (unsigned i = 0; i < 2; i++) {
		usleep(2000);
		fm_state(&m, i + 1, FX_CAT_USER);
		usleep(2000);
		fm_state(&m, i + 1, 0);
		usleep(2000);
		fm_phase(&m, FX_PHASE_STOPPED);
	}
	return NULL;
}

#define WAIT_NS UINT64_C(20000000000)

Test(engine, observers_wait_for_three_signals, .timeout = 60)
{
	static const enum fx_phase order[] = {FX_PHASE_STARTED, FX_PHASE_STOPPING,
					      FX_PHASE_STOPPED};
	struct fx_observer o = {0};
	enum fx_phase phase;
	pthread_t thread;

	start((struct fm_config){.stopped = 1});
	pthread_create(&thread, NULL, signal_later, NULL);
	/* A session that was missed as a whole looks like none: at least one is seen to its end. */
	for (unsigned i = 0; i < 3; i++) {
		cr_assert_eq(fx_observer_wait(&o, WAIT_NS, &phase), 0);
		cr_assert_eq(phase, order[i]);
	}
	pthread_join(thread, NULL);
}

Test(engine, observers_errors, .timeout = 60)
{
	struct fx_observer o = {.changed = hear}, never = {.changed = hear}, waits = {0};
	enum fx_phase phase;

	cr_assert_eq(fx_observer_wait(&waits, 0, &phase), -ENOTCONN, "nobody traces this process");
	start((struct fm_config){.stopped = 1});
	cr_assert_eq(fx_observer_add(&o), 0);
	cr_assert_eq(fx_observer_add(&o), -EEXIST);
	cr_assert_eq(fx_observer_remove(&never), -ENOENT);
	cr_assert_eq(fx_observer_wait(&waits, 1000000, &phase), -ETIMEDOUT);
	fm_state(&m, 1, FX_CAT_USER);
	cr_assert_eq(fx_observer_wait(&waits, WAIT_NS, &phase), 0);
	cr_assert_eq(phase, FX_PHASE_STARTED);
	/* A manager that dies has stopped tracing; then there is nothing to wait for. */
	fm_die(&m);
	cr_assert_eq(fx_observer_wait(&waits, WAIT_NS, &phase), 0);
	cr_assert_eq(phase, FX_PHASE_STOPPING);
	cr_assert_eq(fx_observer_wait(&waits, WAIT_NS, &phase), 0);
	cr_assert_eq(phase, FX_PHASE_STOPPED);
	cr_assert_eq(fx_observer_wait(&waits, WAIT_NS, &phase), -EOWNERDEAD);
	cr_assert_eq(fx_observer_remove(&o), 0);
	cr_assert_eq(fx_observer_remove(&o), -ENOENT);
}

static int reply;

static void add_another(struct fx_observer *o, enum fx_phase phase)
{
	static struct fx_observer another;

	(void)o;
	(void)phase;
	reply = fx_observer_add(&another);
}

Test(engine, observers_may_not_change_the_list_that_calls_them)
{
	struct fx_observer o = {.changed = add_another};
	struct fx_site site = {0};

	start((struct fm_config){0});
	cr_assert_eq(fx_observer_add(&o), 0);
	fx_site_on(&site, "function");
	cr_assert_eq(reply, -EDEADLK);
	cr_assert_eq(fx_observer_remove(&o), 0);
}

/* --- Threads and records --------------------------------------------------------------------- */

static uint32_t tids[64];

static void *register_main(void *context)
{
	uintptr_t id = (uintptr_t)context;

	pthread_barrier_wait(&go);
	cr_assert(produce((uint32_t)id, 0));
	tids[id] = fx_self->tid;
	/* Together: none takes another's slot. */
	pthread_barrier_wait(&go);
	fx_thread_exit();
	return NULL;
}

static void check_thread(const struct fm_record *r, void *context)
{
	uint32_t *seen = context;

	if (FXT_GET(r->words[0], RECORD_TYPE) != FXT_RECORD_EVENT)
		return;
	/* By the Thread Record that its chunk begins with, which fm_each() has checked. */
	cr_assert_eq(FXT_GET(r->words[0], EVENT_THREAD), FX_CHUNK_THREAD_INDEX);
	cr_assert_eq(r->tid, tids[r->words[1] >> 32]);
	++*seen;
}

Test(engine, register_thread)
{
	uint32_t seen = 0;

	start((struct fm_config){0});
	cr_assert(produce(0, 0));
	tids[0] = (uint32_t)gettid();
	cr_assert_eq(fm_slot(&m, 0)->tid, (uint32_t)gettid());
	fm_each(&m, check_thread, &seen);
	cr_assert_eq(seen, 1);
}

Test(engine, register_several_threads)
{
	uint32_t seen = 0;

	start((struct fm_config){.size = 4 << 20});
	run_threads(64, register_main);
	for (unsigned i = 0; i < 64; i++) {
		for (unsigned k = 0; k < i; k++)
			cr_assert_neq(tids[i], tids[k]);
	}
	fm_each(&m, check_thread, &seen);
	cr_assert_eq(seen, 64);
	cr_assert_eq(m.header->threads_used, 64);
}

/* What a record needs of a chunk is at most all of it; what needs more goes in fragments. */
Test(engine, maximum_record_length)
{
	static uint64_t payload[FX_LARGEST_RECORD / 8];
	uint64_t head[3] = {fx_header_large_blob(0, FXT_LARGE_BLOB_ATTACHMENT), 0, 0};
	uint64_t state = 0;

	start((struct fm_config){.size = 4 << 20});
	cr_assert(produce_sized(0, 0, m.layout.chunk_size / 8 - 3));
	head[2] = FX_LARGEST_RECORD - sizeof head;
	cr_assert_eq(fx_record_write(me(), head, 3, payload, FX_LARGEST_RECORD - sizeof head), 0);
	state = m.header->rolling_state;
	cr_assert_geq(state, FX_LARGEST_RECORD / m.layout.chunk_size);
	head[2]++;
	cr_assert_eq(fx_record_write(me(), head, 3, payload, FX_LARGEST_RECORD - sizeof head + 1),
		     -E2BIG);
	cr_assert_eq(fm_dropped(&m), 1, "what is refused is counted");
	cr_assert_eq(fm_lost(&m, FX_LOSS_LARGE), 1);
	cr_assert_eq(m.header->rolling_state, state, "and takes no room");
	cr_assert(produce(0, 1));
}

static void check_inline(const struct fm_record *r, void *context)
{
	struct fxt_record record;
	unsigned *seen = context;

	cr_assert_eq(fxt_record_decode(r->words, r->count, &record, NULL), (int64_t)r->count);
	cr_assert_eq(record.kind, FXT_KIND_EVENT);
	cr_assert_eq(record.event.thread.pid, (uint64_t)getpid());
	cr_assert_eq(record.event.thread.tid, (uint64_t)gettid());
	cr_assert_eq(record.event.category.length, 15);
	cr_assert_arr_eq(record.event.category.data, "inline category", 15);
	cr_assert_arr_eq(record.event.name.data, "inline name", 11);
	cr_assert_eq(record.nargs, 1);
	cr_assert_arr_eq(record.args[0].name.data, "inline argument", 15);
	cr_assert_arr_eq(record.args[0].string.data, "inline value", 12);
	++*seen;
}

Test(engine, event_with_everything_inline)
{
	uint64_t words[64];
	struct fx_encoder e;
	struct fxt_record record = {
	    .kind = FXT_KIND_EVENT,
	    .nargs = 1,
	    .event = {.type = FXT_EVENT_INSTANT,
		      .thread = {.pid = (uint64_t)getpid(), .tid = (uint64_t)gettid()},
		      .timestamp = 5,
		      .category = fx_string_inline("inline category", 15),
		      .name = fx_string_inline("inline name", 11)},
	    .args[0] = {.type = FXT_ARG_STRING,
			.name = fx_string_inline("inline argument", 15),
			.string = fx_string_inline("inline value", 12)},
	};
	unsigned seen = 0;

	start((struct fm_config){0});
	fx_encoder_init(&e, words, FX_ARRAY_LEN(words));
	cr_assert_eq(fx_record_encode(&e, &record), 0);
	words[0] &= ~FXT_PUT(RECORD_SIZE, ~UINT64_C(0));
	cr_assert_eq(fx_record_write(me(), words, (unsigned)e.used, NULL, 0), 0);
	fm_each(&m, check_inline, &seen);
	cr_assert_eq(seen, 1);
	read_strings();
	cr_assert_eq(definitions, 0);
}
