/* SPDX-License-Identifier: MIT */
/* Arrows of locks of files: from who gave one back last, unless that is not known. */
#include <criterion/criterion.h>

#include "manager/archive/file-locks.h"
#include "manager/archive/stream.h"
#include "manager/archive/ties.h"
#include "tests/manager/records.h"
#include "tests/manager/shared.h"

#define PROCESSES 4u
#define KEY	  77u

static struct fx_stream_shared shared;
static struct fx_ties ties;
static struct fx_transfer_counts counts;
static struct fx_file_locks locks;
static struct fx_stream *streams[PROCESSES];

/* Processes 1 to PROCESSES, each of one thread of its number. */
static void begin(void)
{
	shared_begin(&shared, &ties);
	locks = (struct fx_file_locks){.arrows = &ties.arrows, .counts = &counts};
	for (uint32_t i = 0; i < PROCESSES; i++) {
		cr_assert_eq(fx_stream_create(&shared, i + 1, i + 1, "app", &streams[i]), 0);
		fx_archive_select(&shared.archive, i + 1);
		fx_stream_thread_index(streams[i], fx_stream_thread(streams[i], i + 1));
	}
}

static void told(enum fx_file_lock_kind kind, uint32_t by, int32_t owner, uint64_t from,
		 uint64_t end, uint64_t first, uint64_t last)
{
	const struct fx_file_told word = {.kind = kind,
					  .owner = owner,
					  .key = KEY,
					  .begin = from,
					  .end = end,
					  .first = first,
					  .last = last,
					  .provider = by,
					  .pid = by,
					  .shown = by};

	fx_file_locks_take(&locks, &word);
}

/* Asks at `from' for these bytes, and has them at `end'. */
static void gets(uint32_t by, uint64_t from, uint64_t end, uint64_t first, uint64_t last)
{
	told(FX_FILE_LOCK_WANTS, by, FX_FILE_LOCK_OF_PROCESS, from, from, first, last);
	told(FX_FILE_LOCK_HAS_WAITED, by, FX_FILE_LOCK_OF_PROCESS, from, end, first, last);
}

static void frees(uint32_t by, uint64_t from, uint64_t end, uint64_t first, uint64_t last)
{
	told(FX_FILE_LOCK_FREES, by, FX_FILE_LOCK_OF_PROCESS, from, end, first, last);
}

static void dies(uint32_t by, uint64_t alive, uint64_t heard)
{
	const struct fx_file_end end = {
	    .provider = by, .pid = by, .is_death = true, .alive = alive, .heard = heard};

	fx_file_locks_end(&locks, &end, false);
}

static void draw(void)
{
	fx_file_locks_finish(&locks, false);
	for (uint32_t i = 0; i < PROCESSES; i++)
		fx_stream_destroy(streams[i]);
	cr_assert_eq(fx_output_close(shared.archive.out, NULL), 0);
	fx_file_locks_destroy(&locks);
	fx_ties_destroy(&ties);
	fx_symbol_cache_destroy(shared.symbols);
	fx_known_destroy(&shared.known);
}

/* Draws: so many arrows, and waits that have none for that reason. */
static void expect(uint64_t arrows, enum fx_transfer_left why, uint64_t left)
{
	uint64_t sum = 0;

	draw();
	archive_expect_clean(archive_path());
	cr_assert_eq(archive_count_events(archive_path(), FXT_EVENT_FLOW_END, "gets"), arrows);
	cr_assert_eq(counts.arrows, arrows);
	for (int i = 0; i < FX_TRANSFER_LEFT_COUNT; i++)
		sum += counts.left[i];
	cr_assert_eq(counts.left[why], left);
	cr_assert_eq(sum, left);
}

static void expect_from(const char *name, uint32_t by, uint32_t to)
{
	expect(1, FX_TRANSFER_LEFT_ORDER, 0);
	cr_assert_eq(archive_find_event(archive_path(), FXT_EVENT_FLOW_BEGIN, name).pid, by);
	cr_assert_eq(archive_find_event(archive_path(), FXT_EVENT_FLOW_END, "gets").pid, to);
}

/* Of several bytes, who gave back last what was in the way. */
Test(file_locks, last_in_the_way)
{
	begin();
	gets(1, 10, 11, 0, 9);
	gets(2, 12, 13, 10, 19);
	gets(4, 14, 15, 20, 29);
	gets(3, 100, 300, 5, 15);
	frees(1, 200, 205, 0, 9);
	frees(2, 290, 305, 10, 19);
	frees(4, 295, 296, 20, 29);
	expect_from("fcntl", 2, 3);
}

/* Nobody waited: it was free as it was asked for. */
Test(file_locks, was_free)
{
	begin();
	gets(1, 10, 11, 0, 9);
	frees(1, 20, 21, 0, 9);
	gets(2, 100, 101, 0, 9);
	expect(0, FX_TRANSFER_LEFT_ORDER, 0);
}

Test(file_locks, readers_free_together)
{
	begin();
	for (uint32_t by = 1; by <= 2; by++) {
		told(FX_FILE_LOCK_WANTS_SHARED, by, 0, 10 * by, 10 * by, 0, 9);
		told(FX_FILE_LOCK_HAS_WAITED, by, 0, 10 * by, 10 * by + 1, 0, 9);
	}
	gets(3, 100, 300, 0, 9);
	frees(1, 200, 220, 0, 9);
	frees(2, 210, 230, 0, 9);
	expect(0, FX_TRANSFER_LEFT_ORDER, 1);
}

/* Half of what one has is given back, and half by its end. */
Test(file_locks, ends_with_the_rest)
{
	begin();
	gets(1, 10, 11, 0, 9);
	frees(1, 20, 21, 0, 4);
	gets(2, 100, 300, 0, 9);
	dies(1, 150, 290);
	expect_from("ends with its locks", 1, 2);
}

/* It may have ended before it was asked for. */
Test(file_locks, ended_before_or_after)
{
	begin();
	gets(1, 10, 11, 0, 9);
	gets(2, 100, 300, 0, 9);
	dies(1, 50, 290);
	expect(0, FX_TRANSFER_LEFT_ORDER, 1);
}

/* Nobody says that the first one has given it back. */
Test(file_locks, goes_unseen)
{
	begin();
	gets(1, 10, 11, 0, 9);
	gets(2, 100, 300, 0, 9);
	expect(0, FX_TRANSFER_LEFT_UNTRACED, 1);
}

/* It was gone when the third one got a part of it, maybe later than what the second one is known to have waited for. */
Test(file_locks, went_unseen_before_another_part)
{
	begin();
	gets(4, 10, 11, 20, 29);
	gets(1, 12, 13, 0, 19);
	gets(3, 90, 280, 0, 4);
	gets(2, 100, 300, 5, 29);
	frees(4, 150, 151, 20, 29);
	expect(0, FX_TRANSFER_LEFT_UNTRACED, 2);
}

/* One that was asking, too, may have had it in between, and ended. */
Test(file_locks, another_may_have_had_it)
{
	begin();
	gets(1, 10, 11, 0, 9);
	told(FX_FILE_LOCK_WANTS, 4, FX_FILE_LOCK_OF_PROCESS, 90, 90, 0, 9);
	gets(2, 100, 300, 0, 9);
	frees(1, 200, 201, 0, 9);
	dies(4, 90, 280);
	expect(0, FX_TRANSFER_LEFT_LOST, 1);
}

/* flock() on descriptor 3, which is closed with it, and opened again: its second lock goes by close() as well, so nobody knows when. */
Test(file_locks, closed_and_had_again)
{
	const int32_t owner = FX_FILE_LOCK_OF_FLOCK | 4;

	begin();
	told(FX_FILE_LOCK_WANTS, 1, owner, 10, 10, 0, UINT64_MAX);
	told(FX_FILE_LOCK_HAS_WAITED, 1, owner, 10, 11, 0, UINT64_MAX);
	/* closed at 20; process 3 has it without having waited */
	told(FX_FILE_LOCK_WANTS, 3, owner, 30, 30, 0, UINT64_MAX);
	told(FX_FILE_LOCK_HAS_WAITED, 3, owner, 30, 31, 0, UINT64_MAX);
	told(FX_FILE_LOCK_WANTS, 1, owner, 40, 40, 0, UINT64_MAX);
	told(FX_FILE_LOCK_WANTS, 2, owner, 45, 45, 0, UINT64_MAX);
	told(FX_FILE_LOCK_FREES, 3, owner, 50, 51, 0, UINT64_MAX);
	told(FX_FILE_LOCK_HAS_WAITED, 1, owner, 40, 52, 0, UINT64_MAX);
	/* closed at 90 */
	told(FX_FILE_LOCK_HAS_WAITED, 2, owner, 45, 91, 0, UINT64_MAX);
	draw();
	/* From 3 to 1 there may be one; to 2 there is none. */
	cr_expect_leq(counts.arrows, 1);
	if (counts.arrows)
		cr_expect_eq(archive_find_event(archive_path(), FXT_EVENT_FLOW_END, "gets").pid, 1);
}

static void closes(uint32_t by, uint64_t from, uint64_t end)
{
	told(FX_FILE_LOCK_CLOSES, by, FX_FILE_LOCK_OF_PROCESS, from, end, 0, UINT64_MAX);
}

/* A close() gives back what the process has, and its end does no more. */
Test(file_locks, closed)
{
	begin();
	gets(1, 10, 20, 0, 9);
	gets(2, 100, 300, 0, 9);
	closes(1, 250, 260);
	dies(1, 280, 290);
	expect_from("close", 1, 2);
}

/* Whether an exec() has closed what had a lock is not known: the end later on says nothing. */
Test(file_locks, lost_by_exec)
{
	const struct fx_file_end exec = {.provider = 1, .pid = 1, .alive = 30, .heard = 40};

	begin();
	gets(1, 10, 20, 0, 9);
	fx_file_locks_end(&locks, &exec, false);
	gets(2, 100, 300, 0, 9);
	dies(1, 250, 260);
	expect(0, FX_TRANSFER_LEFT_UNTRACED, 1);
}

/* Ends of processes that have locked nothing are not kept. */
Test(file_locks, ends_that_do_not_matter)
{
	begin();
	gets(1, 10, 20, 0, 9);
	for (uint32_t pid = 2; pid < 100000; pid++)
		dies(pid, 21, 22);
	cr_assert_lt(locks.bytes, 4096u);
	cr_assert_eq(HASH_COUNT(locks.parties), 1u);
	gets(2, 100, 300, 0, 9);
	dies(1, 250, 260);
	expect_from("ends with its locks", 1, 2);
}

/* flock() of one process, by a descriptor that no other process has. */
static void gets_alone(uint32_t by, uint64_t from, uint64_t end)
{
	const int32_t owner = FX_FILE_LOCK_OF_FLOCK | 4;
	const struct fx_file_told has = {.kind = FX_FILE_LOCK_HAS_WAITED,
					 .owner = owner,
					 .is_alone = true,
					 .key = KEY,
					 .begin = from,
					 .end = end,
					 .last = UINT64_MAX,
					 .provider = by,
					 .pid = by,
					 .shown = by};

	told(FX_FILE_LOCK_WANTS, by, owner, from, from, 0, UINT64_MAX);
	fx_file_locks_take(&locks, &has);
}

Test(file_locks, alone_and_dead)
{
	begin();
	gets_alone(1, 10, 20);
	gets_alone(2, 100, 300);
	dies(1, 250, 260);
	expect_from("ends with its locks", 1, 2);
}

/* A child may have it still; whether it was made before the lock was had, or after that. */
Test(file_locks, spread_and_dead)
{
	begin();
	gets_alone(1, 10, 20);
	told(FX_FILE_LOCK_SPREADS, 1, FX_FILE_LOCK_OF_PROCESS, 30, 30, 0, 0);
	gets_alone(2, 100, 300);
	dies(1, 250, 260);
	expect(0, FX_TRANSFER_LEFT_UNTRACED, 1);
}

/* Nor does it matter that a later process of the same number does that, too. */
Test(file_locks, number_spreads_again)
{
	const struct fx_file_told again = {.kind = FX_FILE_LOCK_SPREADS,
					   .begin = 60,
					   .end = 60,
					   .provider = 3,
					   .pid = 1,
					   .shown = 1};

	begin();
	gets_alone(1, 10, 20);
	told(FX_FILE_LOCK_SPREADS, 1, FX_FILE_LOCK_OF_PROCESS, 30, 30, 0, 0);
	fx_file_locks_take(&locks, &again);
	gets_alone(2, 100, 300);
	dies(1, 250, 260);
	expect(0, FX_TRANSFER_LEFT_UNTRACED, 1);
}

/* Another process's descriptors say nothing of it. */
Test(file_locks, another_spreads)
{
	begin();
	gets_alone(1, 10, 20);
	gets_alone(2, 100, 300);
	told(FX_FILE_LOCK_SPREADS, 2, FX_FILE_LOCK_OF_PROCESS, 310, 310, 0, 0);
	dies(1, 250, 260);
	expect_from("ends with its locks", 1, 2);
}

/* Another thread's call may keep open what is closed: neither the unlocking of what has its number then tells when it went, nor the end. */
Test(file_locks, may_go)
{
	const int32_t owner = FX_FILE_LOCK_OF_FLOCK | 4;

	begin();
	gets_alone(1, 10, 20);
	told(FX_FILE_LOCK_MAY_GO, 1, owner, 200, 200, 0, UINT64_MAX);
	told(FX_FILE_LOCK_FREES, 1, owner, 210, 220, 0, UINT64_MAX);
	gets_alone(2, 100, 300);
	dies(1, 250, 260);
	expect(0, FX_TRANSFER_LEFT_UNTRACED, 1);
}

/* What the number has then is had once the other is gone. */
Test(file_locks, may_go_and_had_again)
{
	const int32_t owner = FX_FILE_LOCK_OF_FLOCK | 4;

	begin();
	gets_alone(1, 10, 20);
	told(FX_FILE_LOCK_MAY_GO, 1, owner, 30, 30, 0, UINT64_MAX);
	gets_alone(1, 40, 50);
	gets_alone(2, 100, 300);
	told(FX_FILE_LOCK_FREES, 1, owner, 210, 220, 0, UINT64_MAX);
	expect_from("flock", 1, 2);
}

/* A descriptor may be closed that has given back its lock before: that is nobody else's. */
Test(file_locks, closed_without_one)
{
	const int32_t owner = FX_FILE_LOCK_OF_FLOCK | 4;

	begin();
	gets_alone(1, 10, 20);
	told(FX_FILE_LOCK_CLOSES, 3, owner, 240, 260, 0, UINT64_MAX);
	gets_alone(2, 100, 300);
	told(FX_FILE_LOCK_CLOSES, 1, owner, 250, 251, 0, UINT64_MAX);
	expect_from("close", 1, 2);
}
