/* SPDX-License-Identifier: MIT */
/* Chunks: how rolling space is taken, filled, given back and lost. One thread, mostly. */
#include <unistd.h>

#include <criterion/criterion.h>

#include "engine/provider/chunk.h"
#include "engine/provider/record.h"
#include "tests/engine/produce.h"

/* Seconds, of tests that wait. The same for all: Criterion loses memory where they differ. */
#define LONG 20

static struct fm_manager m;
static struct produced_all got;

#define LIMIT 2000000u

static void start(struct fm_config config)
{
	fm_start(&m, &config);
	produced_init(&got, 4, LIMIT);
}

static struct fx_buffer_header *header(void)
{
	return m.header;
}

static uint32_t claimed(void)
{
	return (uint32_t)header()->rolling_state;
}

static uint32_t wrap(void)
{
	return (uint32_t)(header()->rolling_state >> 32);
}

static unsigned chunk_room(void)
{
	return m.layout.chunk_size / 8 - 3;
}

/* Fills what is left of the calling thread's chunk with records of 8 words and one last one. */
static uint32_t fill_chunk(uint32_t from)
{
	struct fx_cursor *c = &fx_self->cursor[0];

	while (c->end - c->pos >= 16)
		cr_assert(produce_sized(0, from++, 8));
	if (c->end > c->pos)
		cr_assert(produce_sized(0, from++, (unsigned)(c->end - c->pos)));
	return from;
}

/* Fills `n` whole chunks. */
static uint32_t fill_chunks(uint32_t from, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		cr_assert(produce_sized(0, from++, 8));
		from = fill_chunk(from);
	}
	return from;
}

static void check_all(uint64_t produced)
{
	produced_read(&got, &m);
	cr_assert_null(m.broken);
	cr_assert_eq(got.total + fm_dropped(&m), produced, "%llu recorded + %llu lost of %llu",
		     (unsigned long long)got.total, (unsigned long long)fm_dropped(&m),
		     (unsigned long long)produced);
}

Test(chunk, initial_state)
{
	start((struct fm_config){.mode = FX_MODE_STREAMING});
	cr_assert_eq(header()->magic, FX_BUFFER_MAGIC);
	cr_assert_eq(header()->pid, (uint32_t)getpid());
	cr_assert_eq(header()->total_size, m.layout.total_size);
	cr_assert_eq(header()->next_string, FM_FIRST_STRING);
	cr_assert_eq(header()->rolling_state, 0);
	cr_assert_eq(header()->packet_head, 0, "nothing is said before the first event");
	for (uint32_t i = 0; i < 2 * m.layout.chunks_per_half; i++)
		cr_assert_eq(fm_table(&m, i), 0);
	check_all(0);
}

Test(chunk, builtin_strings_are_copied_unless_the_manager_has_them)
{
	start((struct fm_config){.mode = FX_MODE_STREAMING});
	cr_assert_neq(*(const uint64_t *)(m.buffer + m.layout.builtin_offset), 0);
	cr_assert_eq(header()->builtin_id, 0);
	check_all(0);
	start((struct fm_config){.mode = FX_MODE_STREAMING, .builtin_id = FM_BUILTIN_ID + 1});
	cr_assert_neq(*(const uint64_t *)(m.buffer + m.layout.builtin_offset), 0);
	cr_assert_eq(header()->builtin_id, 0);
	check_all(0);
	start((struct fm_config){.mode = FX_MODE_STREAMING, .builtin_id = FM_BUILTIN_ID});
	cr_assert_eq(*(const uint64_t *)(m.buffer + m.layout.builtin_offset), 0);
	cr_assert_eq(header()->builtin_id, FM_BUILTIN_ID);
	check_all(0);
}

Test(chunk, first_event_says_started_and_takes_a_chunk)
{
	start((struct fm_config){0});
	cr_assert(produce(0, 0));
	cr_assert_eq(claimed(), 1);
	cr_assert_eq(fm_table(&m, 0), FX_CHUNK_WORD(0, FX_CHUNK_HELD, 0));
	cr_assert_eq(header()->packet_head, 1);
	cr_assert_eq(header()->packets[0].packet.request, FX_PACKET_STARTED);
	cr_assert_eq(header()->packets[0].packet.data32, FX_FIFO_VERSION);
	cr_assert_eq(header()->packets[0].packet.data64, 1);
	cr_assert_eq(fm_slot(&m, 0)->tid, (uint32_t)gettid());
	check_all(1);
	cr_assert_eq(got.total, 1);
}

Test(chunk, record_that_fills_a_chunk_exactly)
{
	start((struct fm_config){0});
	cr_assert(produce_sized(0, 0, 8));
	cr_assert(produce_sized(0, 1, chunk_room() - 8));
	cr_assert_eq(claimed(), 1);
	cr_assert_eq(fx_self->cursor[0].pos, fx_self->cursor[0].end);
	cr_assert(produce_sized(0, 2, 4));
	cr_assert_eq(claimed(), 2);
	cr_assert_eq(fm_table(&m, 0), FX_CHUNK_WORD(0, FX_CHUNK_RELEASED, m.layout.chunk_size));
	check_all(3);
	cr_assert_eq(got.total, 3);
}

Test(chunk, record_that_does_not_fit_goes_to_the_next)
{
	start((struct fm_config){0});
	cr_assert(produce_sized(0, 0, chunk_room() - 5));
	cr_assert(produce_sized(0, 1, 6));
	cr_assert_eq(claimed(), 2);
	cr_assert_eq(fm_table(&m, 0),
		     FX_CHUNK_WORD(0, FX_CHUNK_RELEASED, m.layout.chunk_size - 5 * 8));
	check_all(2);
	cr_assert_eq(got.total, 2);
}

Test(chunk, record_larger_than_any_chunk_is_lost_and_counted)
{
	start((struct fm_config){0});
	cr_assert(produce_sized(0, 0, 8));
	cr_assert_not(produce_sized(0, 1, chunk_room() + 1));
	cr_assert(produce_sized(0, 2, 8));
	cr_assert_eq(claimed(), 1, "it costs no chunk");
	check_all(3);
	cr_assert_eq(got.total, 2);
	cr_assert_eq(fm_slot(&m, 0)->dropped_first, fm_slot(&m, 0)->dropped_last);
	cr_assert_neq(fm_slot(&m, 0)->dropped_first, 0);
}

/* When there is room again, what was lost until then is a gap; what is lost later is another. */
Test(chunk, a_gap_has_its_end)
{
	const struct fx_thread_slot *slot;
	uint64_t first, last;
	uint32_t i = 0;

	start((struct fm_config){.size = 64 << 10, .mode = FX_MODE_STREAMING});
	while (produce(0, i))
		i++;
	cr_assert_not(produce(0, i));
	slot = fm_slot(&m, 0);
	first = slot->dropped_first;
	last = slot->dropped_last;
	cr_assert_gt(last, first);
	cr_assert_eq(slot->gap_first, 0);
	fm_save(&m);
	cr_assert(produce(0, i++));
	cr_assert_eq(slot->gap_first, first);
	cr_assert_eq(slot->gap_last, last);
	cr_assert_eq(slot->gap_total, 2);
	cr_assert_eq(slot->dropped_first, 0);
	while (produce(0, i))
		i++;
	cr_assert_gt(slot->dropped_first, last);
	cr_assert_eq(slot->gap_last, last);
	cr_assert_eq(slot->gap_total, 2);
}

static void *produce_one(void *context)
{
	uint32_t writer = (uint32_t)(uintptr_t)context;

	cr_assert(produce(writer, 0));
	return (void *)(uintptr_t)fx_self->cursor[0].serial;
}

Test(chunk, serials_follow_the_order_of_claims)
{
	start((struct fm_config){0});
	for (uint32_t i = 0; i < 4; i++) {
		pthread_t thread;
		void *serial;

		pthread_create(&thread, NULL, produce_one, (void *)(uintptr_t)i);
		pthread_join(thread, &serial);
		cr_assert_eq((uintptr_t)serial, i);
	}
	check_all(4);
}

Test(chunk, oneshot_full_drops_and_counts)
{
	uint32_t n;

	start((struct fm_config){.size = 64 << 10});
	n = fill_chunks(0, m.layout.chunks_per_half);
	for (uint32_t i = 0; i < 1000; i++)
		cr_assert_not(produce(0, n + i));
	cr_assert_eq(fm_dropped(&m), 1000);
	cr_assert_eq(wrap(), 0);
	cr_assert_eq(header()->packet_head, 1, "nothing but STARTED");
	check_all(n + 1000);
	cr_assert_eq(got.total, n);
	cr_assert(got.writers[0].ordered);
}

Test(chunk, streaming_wraps_once_per_half_and_asks_for_one_save_each)
{
	uint32_t n;

	start((struct fm_config){.size = 64 << 10, .mode = FX_MODE_STREAMING});
	n = fill_chunks(0, m.layout.chunks_per_half);
	for (uint32_t i = 0; i < 300; i++) {
		struct fx_packet_slot *s = &header()->packets[(i + 1) % FX_PACKETS];

		cr_assert_eq(wrap(), i);
		cr_assert_eq(header()->packet_head, i + 1);
		n = fill_chunks(n, 1);
		cr_assert_eq(wrap(), i + 1);
		cr_assert_eq(claimed(), 1);
		cr_assert_eq(header()->packet_head, i + 2, "one packet per wrap");
		cr_assert_eq(s->seq, i + 2);
		cr_assert_eq(s->packet.request, FX_PACKET_SAVE_BUFFER);
		cr_assert_eq(s->packet.data32, i, "names the half that is full");
		cr_assert_eq(s->packet.data64, header()->durable_hint);
		cr_assert(fm_save(&m));
		cr_assert_not(fm_save(&m));
		n = fill_chunks(n, m.layout.chunks_per_half - 1);
	}
	check_all(n);
	cr_assert_eq(got.total, n);
	cr_assert(got.writers[0].ordered);
}

Test(chunk, streaming_drops_until_saved_then_goes_on)
{
	uint32_t n, lost = 0;

	start((struct fm_config){.size = 64 << 10, .mode = FX_MODE_STREAMING});
	n = fill_chunks(0, 2 * m.layout.chunks_per_half);
	for (; lost < 100; lost++)
		cr_assert_not(produce(0, n++));
	cr_assert_eq(wrap(), 1, "no wrap into a half that is not saved");
	cr_assert(fm_save(&m));
	for (uint32_t i = 0; i < 20; i++)
		cr_assert(produce(0, n++));
	check_all(n);
	cr_assert_eq(fm_dropped(&m), lost);
}

/* So little memory is touched as the manager allows: the chunks that it has saved are used again. */
Test(chunk, a_half_is_left_when_enough_is_in_it_and_the_other_is_saved)
{
	uint32_t n, half;

	start((struct fm_config){.size = 64 << 10, .mode = FX_MODE_STREAMING, .half_enough = 2});
	half = m.layout.chunks_per_half;
	cr_assert_gt(half, 8);
	n = fill_chunks(0, 3);
	cr_assert_eq(wrap(), 1, "nothing was in the other half");
	cr_assert_eq(claimed(), 1);
	cr_assert_eq(header()->half_ended[0], UINT64_C(1) << 32 | 2);
	n = fill_chunks(n, 4);
	cr_assert_eq(wrap(), 1, "the other half is not saved");
	cr_assert_eq(claimed(), 5);
	cr_assert(fm_save(&m));
	n = fill_chunks(n, 1);
	cr_assert_eq(wrap(), 2);
	cr_assert_eq(claimed(), 1);
	cr_assert_eq(header()->half_ended[1], UINT64_C(2) << 32 | 5);
	for (uint32_t i = 0; i < 8 * half; i++) {
		fm_save(&m);
		n = fill_chunks(n, 1);
	}
	cr_assert_gt(wrap(), 16);
	for (uint32_t i = 0; i < half; i++) {
		cr_assert(i < 3 || fm_table(&m, i) == 0, "chunk %u was not needed", i);
		cr_assert(i < 5 || fm_table(&m, half + i) == 0, "chunk %u was not needed",
			  half + i);
	}
	check_all(n);
	cr_assert_eq(got.total, n);
}

Test(chunk, a_half_that_is_not_saved_in_time_is_filled)
{
	uint32_t n, half;

	start((struct fm_config){.size = 64 << 10, .mode = FX_MODE_STREAMING, .half_enough = 2});
	half = m.layout.chunks_per_half;
	n = fill_chunks(0, 2 + half);
	cr_assert_eq(wrap(), 1);
	cr_assert_eq(claimed(), half);
	cr_assert_not(produce(0, n++));
	cr_assert(fm_save(&m));
	n = fill_chunks(n, half);
	cr_assert_eq(wrap(), 2);
	check_all(n);
	cr_assert_eq(fm_dropped(&m), 1);
}

/* Chunks are numbered through for as long as there are numbers. */
static void expect_worn(uint32_t last_wrap)
{
	uint64_t state = (uint64_t)last_wrap << 32 | m.layout.chunks_per_half;

	m.control->wraps_saved = last_wrap;
	header()->rolling_state = state;
	cr_assert_not(produce(0, 0));
	cr_assert_eq(header()->rolling_state, state);
	cr_assert_eq(fm_lost(&m, FX_LOSS_WORN), 1);
}

Test(chunk, the_last_wrap_is_the_last)
{
	start((struct fm_config){.size = 64 << 10, .mode = FX_MODE_STREAMING});
	expect_worn(UINT32_MAX);
}

Test(chunk, the_last_wrap_of_a_circle_is_the_last)
{
	start((struct fm_config){.size = 64 << 10, .mode = FX_MODE_CIRCULAR});
	expect_worn(UINT32_MAX);
}

Test(chunk, the_last_serial_is_the_last)
{
	start((struct fm_config){.size = 8 << 20, .mode = FX_MODE_STREAMING});
	expect_worn((uint32_t)(FX_CHUNK_SERIAL_MAX / m.layout.chunks_per_half) - 1);
}

/* Two threads with a chunk each: one fills, the other sits on its own. */
static pthread_barrier_t step;

static void *sit(void *context)
{
	(void)context;
	cr_assert(produce(1, 0));
	pthread_barrier_wait(&step);
	pthread_barrier_wait(&step);
	cr_assert(produce(1, 1));
	fx_thread_exit();
	return NULL;
}

Test(chunk, held_chunk_is_skipped_and_comes_back_when_it_is_released)
{
	uint32_t n = 0, chunks = 0, half;
	uint64_t skips;
	pthread_t sitter;

	start((struct fm_config){.size = 64 << 10, .mode = FX_MODE_STREAMING});
	half = m.layout.chunks_per_half;
	pthread_barrier_init(&step, NULL, 2);
	pthread_create(&sitter, NULL, sit, NULL);
	pthread_barrier_wait(&step);
	while (wrap() < 10) {
		n = fill_chunks(n, 1);
		chunks++;
		fm_save(&m);
		cr_assert_eq(fm_table(&m, 0), FX_CHUNK_WORD(0, FX_CHUNK_HELD, 0));
	}
	/* The first wrap gave it away, every second one after that skipped it. */
	skips = (uint64_t)wrap() * half + claimed() - chunks;
	cr_assert_eq(skips, 1 + wrap() / 2);
	pthread_barrier_wait(&step);
	pthread_join(sitter, NULL);
	for (uint32_t i = 0; i < 4 * half; i++) {
		n = fill_chunks(n, 1);
		fm_save(&m);
	}
	cr_assert_gt(FX_CHUNK_SERIAL(fm_table(&m, 0)), 0, "the chunk is lost for ever");
	check_all(n + 2);
	cr_assert_eq(got.total, n + 2);
}

/* Who only passes over the chunks of others has not had enough: else writing would go to and fro between the
 * beginnings of two halves, for ever. */
Test(chunk, chunks_of_others_are_not_enough)
{
	uint32_t n = 0, half;
	pthread_t sitter;

	start((struct fm_config){.size = 64 << 10, .mode = FX_MODE_STREAMING, .half_enough = 1});
	half = m.layout.chunks_per_half;
	pthread_barrier_init(&step, NULL, 2);
	pthread_create(&sitter, NULL, sit, NULL);
	pthread_barrier_wait(&step);
	while (wrap() < 10) {
		uint32_t before = wrap();

		n = fill_chunks(n, 1);
		cr_assert_leq(wrap(), before + 1, "a switch for each chunk at the most");
		fm_save(&m);
	}
	for (uint32_t i = 3; i < half; i++)
		cr_assert_eq(fm_table(&m, i), 0, "chunk %u was not needed", i);
	pthread_barrier_wait(&step);
	pthread_join(sitter, NULL);
	check_all(n + 2);
	cr_assert_eq(got.total, n + 2);
}

Test(chunk, a_chunk_may_be_reused_only_when_saved_says_its_very_word)
{
	uint32_t n, half;

	start((struct fm_config){.size = 64 << 10, .mode = FX_MODE_STREAMING});
	half = m.layout.chunks_per_half;
	n = fill_chunks(0, half + 1);
	fm_read(&m);
	/* All but chunk 2 of half 0. */
	for (uint32_t i = 0; i < half; i++)
		m.control->saved[i] = i == 2 ? fm_table(&m, i) - 8 : fm_table(&m, i);
	m.control->wraps_saved = 1;
	n = fill_chunks(n, half - 1);
	n = fill_chunks(n, half - 1);
	cr_assert_eq(wrap(), 2);
	cr_assert_eq(claimed(), half);
	cr_assert_eq(FX_CHUNK_SERIAL(fm_table(&m, 2)), 2, "reused though it is not saved");
	cr_assert_eq(FX_CHUNK_SERIAL(fm_table(&m, 3)), 2 * half + 3);
	check_all(n);
}

Test(chunk, block_waits_and_loses_nothing)
{
	uint32_t n;

	start((struct fm_config){
	    .size = 64 << 10, .mode = FX_MODE_STREAMING, .on_full = FX_ON_FULL_BLOCK});
	fm_saver_start(&m, 300);
	for (n = 0; n < 60000; n++)
		cr_assert(produce(0, n));
	fm_saver_stop(&m);
	check_all(n);
	cr_assert_eq(got.total, n);
	cr_assert(got.writers[0].ordered);
}

static bool in_a_record; /* what the threads do that hold every chunk */

static void *sit_till_the_end(void *context)
{
	struct fx_reservation r;
	struct fx_thread *t;
	uint64_t *p = NULL;

	cr_assert(produce(1, (uint32_t)(uintptr_t)context));
	t = fx_thread_on(FX_CAT_USER);
	if (in_a_record)
		p = fx_record_reserve(t, 2, &r);
	pthread_barrier_wait(&step);
	pthread_barrier_wait(&step);
	if (p)
		fx_record_commit(t, p, FX_EVENT_HEADER(FX_EVENT_INSTANT, 2, 0, 0, 0), &r);
	fx_thread_exit();
	return NULL;
}

/* As many threads as chunks, each with one in its hands. */
static uint32_t sit_on_every_chunk(pthread_t threads[64])
{
	uint32_t count;

	start((struct fm_config){
	    .size = 32 << 10, .mode = FX_MODE_STREAMING, .on_full = FX_ON_FULL_BLOCK});
	count = 2 * m.layout.chunks_per_half;
	cr_assert_leq(count, 64);
	pthread_barrier_init(&step, NULL, count + 1);
	for (uint32_t i = 0; i < count; i++)
		pthread_create(&threads[i], NULL, sit_till_the_end, (void *)(uintptr_t)i);
	pthread_barrier_wait(&step);
	fm_saver_start(&m, 1000);
	return count;
}

static void stand_up(pthread_t threads[64], uint32_t count)
{
	pthread_barrier_wait(&step);
	for (uint32_t i = 0; i < count; i++)
		pthread_join(threads[i], NULL);
}

/* Whoever waits for space may be the one that the idle threads wait for: it takes theirs. */
Test(chunk, block_takes_the_chunks_of_idle_threads, .timeout = LONG)
{
	pthread_t threads[64];
	uint32_t count, n;

#ifdef FX_TSAN
	cr_skip_test("ThreadSanitizer knows of no membarrier()");
#endif
	count = sit_on_every_chunk(threads);
	for (n = 0; n < 5000; n++)
		cr_assert(produce(0, n));
	stand_up(threads, count);
	fm_saver_stop(&m);
	check_all(n + count);
	cr_assert_eq(got.total, n + count);
	cr_assert_eq(fm_dropped(&m), 0);
}

/* Those who are in the middle of a record keep theirs. */
Test(chunk, block_ends_when_records_under_way_hold_every_chunk, .timeout = LONG)
{
	pthread_t threads[64];
	uint32_t count, n = 0;

	in_a_record = true;
	count = sit_on_every_chunk(threads);
	cr_assert_not(produce(0, n++));
	while (n < 1000) /* known by now: at once */
		cr_assert_not(produce(0, n++));
	stand_up(threads, count);
	while (!produce(0, n++))
		usleep(100);
	for (uint32_t more = n + 5000; n < more; n++)
		cr_assert(produce(0, n));
	fm_saver_stop(&m);
}

static uint32_t blocked_result;

static void *block(void *context)
{
	uint32_t n = *(uint32_t *)context;

	fx_store_release(&blocked_result, 1);
	/* ends when the writer is let go and finds that nothing is recorded any more */
	while (fx_thread_on(FX_CAT_USER))
		produce(1, n++);
	*(uint32_t *)context = n;
	fx_store_release(&blocked_result, 2);
	return NULL;
}

static void check_that_a_blocked_writer_is_freed(void (*by)(void))
{
	uint32_t n, other = 0;
	pthread_t thread;

	start((struct fm_config){
	    .size = 64 << 10, .mode = FX_MODE_STREAMING, .on_full = FX_ON_FULL_BLOCK});
	n = fill_chunks(0, 2 * m.layout.chunks_per_half);
	pthread_create(&thread, NULL, block, &other);
	while (fx_load_acquire(&blocked_result) != 1)
		usleep(100);
	usleep(50000);
	cr_assert_eq(fx_load_acquire(&blocked_result), 1, "nothing was saved, yet it went on");
	by();
	pthread_join(thread, NULL);
	cr_assert_eq(blocked_result, 2);
	check_all(n + other);
}

static void by_death(void)
{
	fm_die(&m);
}

static void by_stop(void)
{
	fm_state(&m, 1, 0);
}

Test(chunk, the_managers_death_frees_a_blocked_writer, .timeout = LONG)
{
	check_that_a_blocked_writer_is_freed(by_death);
}

/* Where nothing marks its death, it is waited for some seconds; and not again before it has freed space. */
Test(chunk, a_manager_that_may_be_dead_is_waited_for_once, .timeout = LONG)
{
	uint32_t n;

	start((struct fm_config){
	    .size = 64 << 10, .mode = FX_MODE_STREAMING, .on_full = FX_ON_FULL_BLOCK});
	m.common->unguarded = 1;
	n = fill_chunks(0, 2 * m.layout.chunks_per_half);
	for (uint32_t i = 0; i < 20; i++)
		cr_assert_not(produce(0, n++));
	fm_saver_start(&m, 300);
	while (!produce(0, n++))
		usleep(1000);
	for (uint32_t i = 0; i < 5000; i++)
		cr_assert(produce(0, n++));
	fm_saver_stop(&m);
	check_all(n);
}

Test(chunk, a_stop_frees_a_blocked_writer, .timeout = LONG)
{
	check_that_a_blocked_writer_is_freed(by_stop);
}

Test(chunk, the_managers_death_ends_recording_at_the_next_event)
{
	start((struct fm_config){0});
	cr_assert(produce(0, 0));
	fm_die(&m);
	cr_assert_not(produce(0, 1));
	cr_assert_neq(fx_engine.control, m.shared, "detached");
	cr_assert_not(produce(0, 2));
	check_all(1);
}

/* It was past its look at the state when another thread detached the process. */
Test(chunk, an_event_that_is_under_way_outlives_a_detachment)
{
	struct fx_thread *t;
	struct fx_reservation r;

	start((struct fm_config){.size = 1u << 30});
	cr_assert(produce(0, 0));
	t = fx_self;
	/* far up in the table of saved words, where no other memory lies behind */
	header()->rolling_state = m.layout.chunks_per_half - 2;
	fx_engine_detach();
	for (int i = 0; i < 2; i++) {
		uint64_t *p = fx_record_reserve(t, chunk_room(), &r);

		cr_assert_not_null(p);
		fx_record_commit(t, p, FX_EVENT_HEADER(FX_EVENT_INSTANT, chunk_room(), 0, 0, 0),
				 &r);
	}
	cr_assert_null(fx_record_reserve(t, chunk_room(), &r));
	cr_assert_not(produce(0, 1));
}

Test(chunk, no_categories_stop_and_another_epoch_starts_again)
{
	start((struct fm_config){.stopped = 1});
	cr_assert_not(produce(0, 0));
	cr_assert_eq(header()->rolling_state, 0);
	fm_state(&m, 1, FX_CAT_USER);
	cr_assert(produce(0, 1));
	fm_state(&m, 1, FX_CAT_MALLOC);
	cr_assert_not(produce(0, 2), "another category");
	fm_state(&m, 1, 0);
	cr_assert_not(produce(0, 3));
	fm_state(&m, 2, FX_CAT_USER);
	cr_assert(produce(0, 4));
	cr_assert_eq(header()->packet_head, 2, "STARTED once an epoch");
	cr_assert_eq(header()->packets[1].packet.data64, 2);
	check_all(2);
	cr_assert_eq(got.total, 2);
}

/* The thread is left where chunk_open() may be interrupted: the chunk is claimed and its own, and the
 * table says nothing of it yet, or still what its owner before said. */
static void leave_in_the_middle_of_opening(uint64_t serial)
{
	struct fx_cursor *c = &fx_self->cursor[0];
	uint32_t n = m.layout.chunks_per_half;
	uint32_t number = (uint32_t)(serial / n % 2 * n + serial % n);

	c->serial = serial;
	c->chunk = (uint64_t *)((char *)m.header + m.layout.rolling_offset[number / n] +
				(uint64_t)(number % n) * m.layout.chunk_size);
	c->pos = c->chunk;
	c->end = NULL;
	fx_chunks_release(fx_self);
	cr_assert_eq(fm_table(&m, number), FX_CHUNK_WORD(serial, FX_CHUNK_RELEASED, 0));
	cr_assert_null(c->chunk);
}

Test(chunk, one_that_was_left_while_it_was_opened_is_given_back)
{
	start((struct fm_config){.mode = FX_MODE_STREAMING});
	cr_assert(produce(0, 0));
	fx_chunks_release(fx_self);
	/* Never claimed before, and claimed by somebody in the wrap before. */
	leave_in_the_middle_of_opening(1);
	leave_in_the_middle_of_opening(2 * m.layout.chunks_per_half + 1);
}

Test(chunk, the_very_first_that_was_left_while_it_was_opened_is_given_back)
{
	start((struct fm_config){.mode = FX_MODE_STREAMING});
	fx_thread_on(FX_CAT_FUNCTION); /* adopted, without a chunk */
	leave_in_the_middle_of_opening(0);
}

Test(chunk, one_that_is_anothers_by_now_is_not_given_back)
{
	uint64_t word;

	start((struct fm_config){.mode = FX_MODE_STREAMING});
	cr_assert(produce(0, 0));
	word = FX_CHUNK_WORD(2 * m.layout.chunks_per_half, FX_CHUNK_HELD, 0);
	*(uint64_t *)((char *)m.header + m.layout.table_offset) = word;
	fx_chunks_release(fx_self);
	cr_assert_eq(fm_table(&m, 0), word);
}
