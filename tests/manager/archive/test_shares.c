/* SPDX-License-Identifier: MIT */
/* Arrows of locks that processes share: from who released last, unless somebody else has part. */
#include <criterion/criterion.h>

#include "manager/archive/shares.h"
#include "manager/archive/stream.h"
#include "manager/archive/ties.h"
#include "tests/manager/records.h"
#include "tests/manager/shared.h"

#define PROCESSES 4u
#define KEY	  77u

static struct fx_stream_shared shared;
static struct fx_ties ties;
static struct fx_shares shares;
static struct fx_stream *streams[PROCESSES];

/* Processes 1 to PROCESSES, each of one thread of its number. */
static void begin(void)
{
	shared_begin(&shared, &ties);
	shares = (struct fx_shares){.arrows = &ties.arrows};
	for (uint32_t i = 0; i < PROCESSES; i++) {
		cr_assert_eq(fx_stream_create(&shared, i + 1, i + 1, "app", &streams[i]), 0);
		fx_archive_select(&shared.archive, i + 1);
		fx_stream_thread_index(streams[i], fx_stream_thread(streams[i], i + 1));
	}
}

static void told(enum fx_share_kind kind, uint32_t by, int32_t value, uint64_t from,
		 uint64_t looked, uint64_t end, uint64_t after)
{
	const struct fx_share_told word = {.kind = kind,
					   .value = value,
					   .key = KEY,
					   .begin = from,
					   .looked = looked,
					   .end = end,
					   .after = after,
					   .provider = by,
					   .pid = by,
					   .shown = by,
					   .tid = by};

	fx_shares_take(&shares, &word);
}

static void releases(uint32_t by, uint64_t ns)
{
	told(FX_SHARE_RELEASES, by, 0, 0, 0, ns, 0);
}

static void waits(uint32_t by, uint32_t holder, uint64_t from, uint64_t until)
{
	told(FX_SHARE_HAS, by, (int32_t)holder, from, from + 2, until, 0);
}

static void posts(uint32_t by, int32_t units, uint64_t from, uint64_t end)
{
	told(FX_SHARE_POSTS, by, units, from, 0, end, 0);
}

static void takes(uint32_t by, int32_t units, uint64_t from, uint64_t end)
{
	told(FX_SHARE_TAKES, by, units, from, 0, end, 0);
}

static void takes_late(uint32_t by, uint64_t from, uint64_t end)
{
	told(FX_SHARE_TAKES, by, 0, from, from + 2, end, end + 2);
}

/* Draws: so many arrows from calls of this name, and waits that have none for that reason. */
static void expect(const char *name, uint64_t arrows, enum fx_transfer_left why, uint64_t left)
{
	uint64_t sum = 0;

	fx_shares_finish(&shares, false);
	for (uint32_t i = 0; i < PROCESSES; i++)
		fx_stream_destroy(streams[i]);
	cr_assert_eq(fx_output_close(shared.archive.out, NULL), 0);
	fx_shares_destroy(&shares);
	fx_ties_destroy(&ties);
	fx_symbol_cache_destroy(shared.symbols);
	fx_known_destroy(&shared.known);
	archive_expect_clean(archive_path());
	cr_assert_eq(archive_count_events(archive_path(), FXT_EVENT_FLOW_BEGIN, name), arrows);
	cr_assert_eq(shares.counts.arrows, arrows);
	for (int i = 0; i < FX_TRANSFER_LEFT_COUNT; i++)
		sum += shares.counts.left[i];
	cr_assert_eq(shares.counts.left[why], left);
	cr_assert_eq(sum, left);
}

static void expect_from(const char *name, uint32_t by, uint32_t to)
{
	expect(name, 1, FX_TRANSFER_LEFT_UNTRACED, 0);
	cr_assert_eq(archive_find_event(archive_path(), FXT_EVENT_FLOW_BEGIN, name).pid, by);
	cr_assert_eq(archive_find_event(archive_path(), FXT_EVENT_FLOW_END, "gets").pid, to);
}

/* It is had by another one in between, who did not wait. */
Test(shares, newest_release)
{
	begin();
	releases(3, 250);
	waits(2, 1, 100, 300);
	releases(1, 200);
	releases(2, 400);
	expect_from("pthread_mutex_unlock", 3, 2);
}

Test(shares, release_was_under_way)
{
	begin();
	releases(1, 99);
	waits(2, 1, 100, 300);
	expect_from("pthread_mutex_unlock", 1, 2);
}

/* The holder was about to let it go, and did not say who he is. */
Test(shares, holder_is_not_known)
{
	begin();
	releases(3, 70);
	releases(1, 99);
	waits(2, 0, 100, 300);
	expect_from("pthread_mutex_unlock", 1, 2);
}

/* That of before the wait may not be what it waited for: somebody who is not traced may have had it since. */
Test(shares, release_before)
{
	begin();
	told(FX_SHARE_RELEASES, 1, 1, 0, 0, 99, 0);
	waits(2, 0, 100, 300);
	expect("pthread_mutex_unlock", 0, FX_TRANSFER_LEFT_UNTRACED, 1);
}

/* It was looked at by nobody, and was not waited for. */
Test(shares, found_free)
{
	begin();
	releases(1, 99);
	told(FX_SHARE_HAS, 2, 0, 100, 0, 110, 0);
	expect("pthread_mutex_unlock", 0, FX_TRANSFER_LEFT_UNTRACED, 0);
}

/* It was free only for a moment. */
Test(shares, found_free_and_waited)
{
	begin();
	told(FX_SHARE_HAS, 2, 0, 100, 0, 210, 0);
	releases(1, 200);
	expect_from("pthread_mutex_unlock", 1, 2);
}

/* Whom a wait has seen, and who then did not release it, is not traced: nothing of that lock is known. */
Test(shares, holder_is_not_seen)
{
	begin();
	waits(2, 9, 100, 300);
	releases(1, 200);
	releases(2, 310);
	waits(3, 2, 305, 330);
	expect("pthread_mutex_unlock", 0, FX_TRANSFER_LEFT_UNTRACED, 2);
}

Test(shares, own_release)
{
	begin();
	releases(2, 120);
	waits(2, 0, 100, 300);
	expect("pthread_mutex_unlock", 0, FX_TRANSFER_LEFT_UNTRACED, 1);
}

Test(shares, unit_is_passed_on)
{
	begin();
	takes_late(2, 100, 210);
	posts(1, 0, 200, 205);
	expect_from("sem_post", 1, 2);
}

/* One unit, which each takes and gives back. */
Test(shares, semaphore_as_lock)
{
	begin();
	takes(1, 1, 50, 60);
	takes_late(2, 100, 210);
	posts(1, 0, 200, 205);
	posts(2, 0, 300, 305);
	takes(3, 1, 400, 405);
	expect_from("sem_post", 1, 2);
}

/* Nobody has posted what was taken, or taken what is not there any more. */
Test(shares, units_do_not_fit)
{
	begin();
	takes_late(2, 100, 210);
	posts(1, 0, 200, 205);
	takes_late(3, 300, 410);
	expect("sem_post", 0, FX_TRANSFER_LEFT_UNTRACED, 2);
}

Test(shares, unit_is_gone)
{
	begin();
	takes(1, 1, 50, 60);
	posts(1, 0, 70, 80);
	takes_late(2, 100, 210);
	posts(1, 0, 200, 205);
	expect("sem_post", 0, FX_TRANSFER_LEFT_UNTRACED, 1);
}

Test(shares, order_is_not_known)
{
	begin();
	takes_late(2, 100, 250);
	takes_late(3, 150, 260);
	posts(1, 0, 200, 240);
	posts(4, 0, 200, 240);
	expect("sem_post", 0, FX_TRANSFER_LEFT_ORDER, 2);
}

Test(shares, not_said)
{
	begin();
	waits(2, 1, 100, 300);
	releases(1, 200);
	told(FX_SHARE_NOT_SAID, 3, 0, 0, 0, 0, 0);
	expect("pthread_mutex_unlock", 0, FX_TRANSFER_LEFT_UNTRACED, 1);
}

Test(shares, records_are_lost)
{
	begin();
	waits(2, 1, 100, 300);
	releases(1, 200);
	fx_shares_end(&shares, streams[0], &(struct fx_stream_end){.wrapped = true});
	expect("pthread_mutex_unlock", 0, FX_TRANSFER_LEFT_LOST, 1);
}

/* --- Barriers --------------------------------------------------------------------------------- */

static void meets(uint32_t by, bool is_last, int32_t round, uint64_t from, uint64_t end)
{
	told(is_last ? FX_SHARE_MEETS_LAST : FX_SHARE_MEETS, by, round, from, 2, end, 0);
}

Test(shares, barrier)
{
	begin();
	meets(1, false, 0, 100, 210);
	meets(2, true, 0, 200, 205);
	expect_from("pthread_barrier_wait", 2, 1);
}

/* The round of one is not over. */
Test(shares, barrier_is_waited_at)
{
	begin();
	meets(1, false, 0, 100, 210);
	meets(2, true, 0, 200, 205);
	meets(1, false, 1, 300, 410);
	expect("pthread_barrier_wait", 1, FX_TRANSFER_LEFT_UNTRACED, 1);
}

/* Three come, and two go on: which is not known, nor of any later round. */
Test(shares, barrier_of_more)
{
	begin();
	meets(1, false, 0, 100, 210);
	meets(2, true, 0, 200, 205);
	meets(3, false, 0, 199, 405);
	meets(1, true, 1, 400, 405);
	meets(2, false, 2, 500, 610);
	meets(3, true, 2, 600, 605);
	expect("pthread_barrier_wait", 0, FX_TRANSFER_LEFT_ORDER, 3);
}

/* --- Read-write locks ------------------------------------------------------------------------- */

static void leaves(enum fx_share_kind kind, uint32_t by, uint64_t ns)
{
	told(kind, by, 0, 0, 0, ns, 0);
}

static void waits_to(enum fx_share_kind kind, uint32_t by, uint64_t from, uint64_t until)
{
	told(kind, by, 0, from, from + 2, until, 0);
}

/* The newest writer before it, whoever has read since. */
Test(shares, reader_waits)
{
	begin();
	waits_to(FX_SHARE_READS, 2, 100, 300);
	leaves(FX_SHARE_WRITER_LEAVES, 1, 200);
	leaves(FX_SHARE_READER_LEAVES, 3, 250);
	expect_from("pthread_rwlock_unlock", 1, 2);
}

Test(shares, writer_waits_for_readers)
{
	begin();
	leaves(FX_SHARE_READER_LEAVES, 1, 200);
	leaves(FX_SHARE_READER_LEFT, 1, 210);
	leaves(FX_SHARE_READER_LEAVES, 3, 220);
	waits_to(FX_SHARE_WRITES, 2, 100, 300);
	expect_from("pthread_rwlock_unlock", 3, 2);
}

Test(shares, readers_leave_together)
{
	begin();
	leaves(FX_SHARE_READER_LEAVES, 1, 200);
	leaves(FX_SHARE_READER_LEFT, 1, 221);
	leaves(FX_SHARE_READER_LEAVES, 3, 220);
	leaves(FX_SHARE_READER_LEFT, 3, 225);
	waits_to(FX_SHARE_WRITES, 2, 100, 300);
	expect("pthread_rwlock_unlock", 0, FX_TRANSFER_LEFT_ORDER, 1);
}

/* A reader may be killed within its release: but a writer had the lock alone afterwards. */
Test(shares, reader_was_not_heard_of)
{
	begin();
	leaves(FX_SHARE_READER_LEAVES, 1, 50);
	leaves(FX_SHARE_WRITER_LEAVES, 3, 200);
	waits_to(FX_SHARE_WRITES, 2, 100, 300);
	expect_from("pthread_rwlock_unlock", 3, 2);
}

/* It was free, as far as is known. */
Test(shares, lock_was_free)
{
	begin();
	leaves(FX_SHARE_WRITER_LEAVES, 3, 50);
	told(FX_SHARE_WRITES, 2, 0, 100, 0, 110, 0);
	expect("pthread_rwlock_unlock", 0, FX_TRANSFER_LEFT_UNTRACED, 0);
}

/* --- Conditions ------------------------------------------------------------------------------- */

static void signals(enum fx_share_kind kind, uint32_t by, uint64_t row, uint64_t from, uint64_t end)
{
	told(kind, by, 0, from, row, from, 0);
	if (end)
		told(FX_SHARE_SIGNALLED, by, 0, from, row, end, 0);
}

static void woken(uint32_t by, uint64_t place, uint64_t from, uint64_t end)
{
	told(FX_SHARE_WAKES, by, 0, from, place, end, 0);
}

/* The second signal began when the first wait was over. */
Test(shares, signals_wake)
{
	begin();
	woken(1, 0, 100, 300);
	woken(2, 1, 110, 500);
	signals(FX_SHARE_SIGNALS, 3, 2, 200, 210);
	signals(FX_SHARE_SIGNALS, 4, 2, 400, 410);
	expect("pthread_cond_signal", 2, FX_TRANSFER_LEFT_ORDER, 0);
}

Test(shares, either_signal_may_have_woken)
{
	begin();
	woken(1, 0, 100, 450);
	woken(2, 1, 110, 500);
	signals(FX_SHARE_SIGNALS, 3, 2, 200, 210);
	signals(FX_SHARE_SIGNALS, 4, 2, 400, 410);
	expect("pthread_cond_signal", 0, FX_TRANSFER_LEFT_ORDER, 2);
}

Test(shares, broadcast_wakes_all_that_wait)
{
	begin();
	woken(2, 0, 100, 500);
	signals(FX_SHARE_BROADCASTS, 3, 1, 200, 210);
	signals(FX_SHARE_SIGNALS, 4, 1, 400, 410);
	expect_from("pthread_cond_broadcast", 3, 2);
}

/* A condition was destroyed, and another one made in its place, whose row begins anew: no signal to the first has woken who waits at it. */
Test(shares, condition_is_made_anew)
{
	begin();
	signals(FX_SHARE_BROADCASTS, 2, 1, 50, 51);
	woken(3, 0, 100, 120);
	signals(FX_SHARE_SIGNALS, 4, 1, 110, 111);
	expect_from("pthread_cond_signal", 4, 3);
}

/* Nobody says when it was over, and it may not have been made. */
Test(shares, broadcast_is_not_over)
{
	begin();
	woken(2, 0, 100, 500);
	signals(FX_SHARE_BROADCASTS, 3, 1, 200, 0);
	signals(FX_SHARE_SIGNALS, 4, 1, 400, 410);
	expect("pthread_cond_broadcast", 0, FX_TRANSFER_LEFT_ORDER, 1);
}

/* It found nobody else; who stands behind came later, and was not woken. */
Test(shares, signal_finds_one)
{
	begin();
	woken(2, 0, 100, 300);
	told(FX_SHARE_WAKES, 1, 1, 400, 1, 450, 0);
	signals(FX_SHARE_SIGNALS, 3, 1, 200, 210);
	signals(FX_SHARE_SIGNALS, 4, 1, 250, 260);
	expect_from("pthread_cond_signal", 3, 2);
}

/* Who stands behind may have been there before the signal was over. */
Test(shares, signal_may_have_found_another)
{
	begin();
	woken(2, 0, 100, 300);
	told(FX_SHARE_WAKES, 1, 1, 205, 1, 450, 0);
	signals(FX_SHARE_SIGNALS, 3, 1, 200, 210);
	signals(FX_SHARE_SIGNALS, 4, 1, 250, 260);
	expect("pthread_cond_signal", 0, FX_TRANSFER_LEFT_ORDER, 1);
}
