/* SPDX-License-Identifier: MIT */
/* One buffer through many sessions of every mode, with threads that live through all of them and hold
 * chunks from one to the next: each session reads its own records and no others. */
#include <pthread.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "engine/reader/drain.h"
#include "tests/engine/produce.h"

#define SESSIONS 30u
#define WRITERS	 4u
#define RECORDS	 3000u /* of one writer in one session */
#define BITS	 0x1ffu

static struct fm_manager m;
static struct fx_drain d;
static struct produced_all got;
static uint8_t room[FX_DRAIN_BLOCK_MIN] __attribute__((aligned(8)));
static pthread_barrier_t turn;
static uint32_t running;
static uint64_t lost;
static uint32_t share; /* chunks of each half in this session */

/* The last writer leaves out every second session, its chunk in its hands. */
static bool takes_part(uint32_t writer, uint32_t session)
{
	return writer < WRITERS - 1 || session % 2 == 0;
}

static uint32_t name_of(uint32_t writer, uint32_t session)
{
	return session * WRITERS + writer;
}

static void *writer_main(void *context)
{
	uint32_t writer = (uint32_t)(uintptr_t)context;

	for (uint32_t session = 0; session < SESSIONS; session++) {
		pthread_barrier_wait(&turn);
		for (uint32_t i = 0; i < RECORDS && takes_part(writer, session); i++) {
			if (!produce(name_of(writer, session), i))
				__atomic_fetch_add(&lost, 1, __ATOMIC_RELAXED);
		}
		__atomic_fetch_sub(&running, 1, __ATOMIC_RELEASE);
		pthread_barrier_wait(&turn);
	}
	return NULL;
}

static void take_piece(const struct fx_piece *piece, const uint64_t *words)
{
	const uint64_t *end = words + piece->bytes / 8;

	cr_assert_eq(piece->kind, FX_PIECE_CHUNK);
	cr_assert_lt(piece->index % m.layout.chunks_per_half, share, "beyond the session's share");
	if (piece->flags & FX_PIECE_FIRST)
		words += 3; /* its Thread Record */
	while (words < end) {
		uint32_t count = (uint32_t)(words[0] >> 4 & 0xfff);

		cr_assert(count > 0 && count <= end - words, "a piece ends within a record");
		produced_take(&got, &(struct fm_record){.words = words, .count = count});
		words += count;
	}
}

static void take(enum fx_buffering_mode mode)
{
	bool must = fx_drain_must_acknowledge(&d);
	int r = 1;

	while (r == 1) {
		struct fx_drain_block block = {.data = room, .capacity = sizeof(room)};
		size_t at = 0;

		r = mode == FX_MODE_CIRCULAR ? fx_drain_history(&d, &block)
					     : fx_drain_chunks(&d, true, &block);
		while (at < block.used) {
			const struct fx_piece *piece = (const void *)(room + at);

			take_piece(piece, (const uint64_t *)(piece + 1));
			at += sizeof(*piece) + piece->bytes;
		}
	}
	cr_assert_eq(r, 0, "%s", d.broken);
	if (must && mode != FX_MODE_CIRCULAR)
		fx_drain_acknowledge(&d);
}

static enum fx_buffering_mode mode_of(uint32_t session)
{
	static const enum fx_buffering_mode modes[] = {FX_MODE_STREAMING, FX_MODE_CIRCULAR,
						       FX_MODE_ONESHOT,	  FX_MODE_CIRCULAR,
						       FX_MODE_CIRCULAR,  FX_MODE_STREAMING};

	return modes[session % 6];
}

/* Small and whole buffers in turn. */
static uint32_t share_of(uint32_t session)
{
	return session % 4 < 2 ? m.layout.chunks_per_half : 2 + session % 3;
}

/* What the writers of one session left: all or the newest, and nothing of another's. */
static void check_session(uint32_t session, uint64_t before)
{
	uint64_t produced = 0;

	for (uint32_t w = 0; w < WRITERS; w++) {
		const struct produced *p = &got.writers[name_of(w, session)];

		produced += takes_part(w, session) ? RECORDS : 0;
		cr_assert(p->ordered, "session %u, writer %u", session, w);
		if (mode_of(session) == FX_MODE_CIRCULAR && p->count)
			cr_assert_eq(p->last, RECORDS - 1, "session %u, writer %u", session, w);
	}
	cr_assert_gt(got.total, before, "session %u is empty", session);
	if (mode_of(session) == FX_MODE_CIRCULAR)
		cr_assert_leq(got.total - before, produced);
	else
		cr_assert_eq(got.total - before + lost, produced, "session %u", session);
}

static void run_session(uint32_t session)
{
	enum fx_buffering_mode mode = mode_of(session);
	uint64_t before = got.total, of_others = 0;

	share = share_of(session);
	cr_assert_eq(fx_drain_restart(&d, share), 0);
	m.control->buffering_mode = mode;
	m.control->serial_limit =
	    mode == FX_MODE_ONESHOT ? fx_drain_next_serial(&d) + d.chunk_count : 0;
	lost = 0;
	running = WRITERS;
	fm_state(&m, session + 1, BITS);
	pthread_barrier_wait(&turn);
	while (mode != FX_MODE_CIRCULAR && __atomic_load_n(&running, __ATOMIC_ACQUIRE)) {
		take(mode);
		usleep(50);
	}
	pthread_barrier_wait(&turn);
	fm_state(&m, session + 1, 0);
	take(mode);
	if (mode != FX_MODE_CIRCULAR)
		take(mode); /* what stood behind a wrap that was not given back yet */
	for (uint32_t name = 0; name < SESSIONS * WRITERS; name++)
		of_others += name / WRITERS == session ? 0 : got.writers[name].count;
	cr_assert_eq(of_others, before, "session %u reads another's records", session);
	check_session(session, before);
}

Test(restart, every_session_reads_its_own_records, .timeout = 60)
{
	pthread_t threads[WRITERS];

	fm_start(&m, &(struct fm_config){.size = 256 << 10, .mode = FX_MODE_STREAMING});
	cr_assert_eq(fx_drain_init(&d, &m.layout, m.buffer, m.control), 0);
	produced_init(&got, SESSIONS * WRITERS, RECORDS);
	pthread_barrier_init(&turn, NULL, WRITERS + 1);
	fm_state(&m, 1, 0);
	for (uint32_t w = 0; w < WRITERS; w++)
		pthread_create(&threads[w], NULL, writer_main, (void *)(uintptr_t)w);
	for (uint32_t session = 0; session < SESSIONS; session++)
		run_session(session);
	for (uint32_t w = 0; w < WRITERS; w++)
		pthread_join(threads[w], NULL);
	/* No chunk got lost on the way: another turn of streaming uses them all. */
	cr_assert_leq(d.watch_count, WRITERS * 3);
	produced_destroy(&got);
	fx_drain_destroy(&d);
	fm_destroy(&m);
}
