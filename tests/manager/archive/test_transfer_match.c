/* SPDX-License-Identifier: MIT */
/* Who wrote the last byte of each read: where only one can have, and where several can; what cannot be. */
#include <stdlib.h>

#include <criterion/criterion.h>

#include "manager/archive/transfer-match.h"

#define NOBODY -1 /* several may have */
#define NONE   -2 /* it read nothing, or is of no one write */

#define CALL(begin_, end_, bytes_)                                                                 \
	{                                                                                          \
		.begin = (begin_), .end = (end_), .bytes = (bytes_)                                \
	}
#define CALL_EMPTY(begin_, end_, bytes_)                                                           \
	{                                                                                          \
		.begin = (begin_), .end = (end_), .bytes = (bytes_), .marks = FX_TRANSFER_EMPTY    \
	}
#define POLL(begin_, end_)                                                                         \
	{                                                                                          \
		.begin = (begin_), .end = (end_), .marks = FX_TRANSFER_POLLS                       \
	}

static struct fx_match_result result;

static void match(const struct fx_transfer *writes, size_t write_count,
		  const struct fx_transfer *reads, size_t read_count, const int *from)
{
	cr_assert_eq(fx_transfer_match(writes, write_count, reads, read_count, 0, &result), 0);
	for (size_t i = 0; from && i < read_count; i++) {
		const struct fx_match *m = &result.matches[i];
		int found = m->verdict == FX_MATCH_FOUND   ? (int)m->from
			    : m->verdict == FX_MATCH_ORDER ? NOBODY
							   : NONE;

		cr_expect_eq(found, from[i], "read %zu is from %d and not %d", i, found, from[i]);
	}
	free(result.matches);
	free(result.makers);
}

#define MATCH(...)                                                                                 \
	do {                                                                                       \
		const int from[] = {__VA_ARGS__};                                                  \
                                                                                                   \
		cr_assert_eq(sizeof(from) / sizeof(*from), sizeof(reads) / sizeof(*reads));        \
		match(writes, sizeof(writes) / sizeof(*writes), reads,                             \
		      sizeof(reads) / sizeof(*reads), from);                                       \
		cr_expect(!result.contradicts);                                                    \
	} while (0)

#define CONTRADICTS()                                                                              \
	do {                                                                                       \
		match(writes, sizeof(writes) / sizeof(*writes), reads,                             \
		      sizeof(reads) / sizeof(*reads), NULL);                                       \
		cr_expect(result.contradicts);                                                     \
	} while (0)

Test(match, one_after_another)
{
	const struct fx_transfer writes[] = {CALL(10, 20, 100), CALL(30, 40, 50), CALL(50, 60, 10)};
	const struct fx_transfer reads[] = {CALL(21, 25, 60), CALL(26, 29, 40), CALL(41, 45, 50),
					    CALL(61, 65, 3), CALL(66, 67, 7)};

	MATCH(0, 0, 1, 2, 2);
	cr_expect(!result.is_sure);
}

Test(match, several_writes_in_one_read)
{
	const struct fx_transfer writes[] = {CALL(10, 20, 1), CALL(30, 40, 1), CALL(50, 60, 1)};
	const struct fx_transfer reads[] = {CALL(1, 70, 2), CALL(71, 72, 1)};

	MATCH(1, 2);
}

/* Two that wait for the same: what one got must have been there when it had it. */
Test(match, readers_that_wait_together)
{
	const struct fx_transfer writes[] = {CALL(30, 31, 4), CALL(60, 61, 4)};
	const struct fx_transfer reads[] = {CALL(10, 35, 4), CALL(11, 65, 4)};

	MATCH(0, 1);
}

Test(match, readers_whose_order_is_open)
{
	const struct fx_transfer writes[] = {CALL(30, 31, 4), CALL(32, 33, 4), CALL(50, 51, 4)};
	const struct fx_transfer reads[] = {CALL(10, 35, 4), CALL(11, 36, 4), CALL(52, 53, 4)};

	MATCH(NOBODY, NOBODY, 2);
}

Test(match, readers_of_one_write)
{
	const struct fx_transfer writes[] = {CALL(30, 31, 8)};
	const struct fx_transfer reads[] = {CALL(10, 35, 4), CALL(11, 36, 4)};

	MATCH(0, 0);
}

Test(match, writers_whose_order_is_open)
{
	const struct fx_transfer writes[] = {CALL(10, 20, 5), CALL(15, 25, 5), CALL(30, 31, 5)};
	const struct fx_transfer reads[] = {CALL(26, 27, 5), CALL(28, 29, 5), CALL(32, 33, 5)};

	MATCH(NOBODY, NOBODY, 2);
}

/* What was read before the second began is the first one's. */
Test(match, writers_that_a_read_tells_apart)
{
	const struct fx_transfer writes[] = {CALL(10, 40, 5), CALL(30, 45, 5)};
	const struct fx_transfer reads[] = {CALL(15, 20, 5), CALL(50, 60, 5)};

	MATCH(0, 1);
}

/* Times that are equal are in no order. */
Test(match, at_one_time)
{
	const struct fx_transfer writes[] = {CALL(10, 20, 5), CALL(20, 25, 5)};
	const struct fx_transfer reads[] = {CALL(26, 27, 5), CALL(28, 29, 5)};

	MATCH(NOBODY, NOBODY);
}

Test(match, one_that_did_not_return)
{
	const struct fx_transfer writes[] = {CALL(10, 20, 5), CALL(30, 100, FX_TRANSFER_UNKNOWN),
					     CALL(40, 50, 5)};
	const struct fx_transfer reads[] = {CALL(21, 25, 5), CALL(51, 55, 5)};

	MATCH(0, NOBODY);
}

Test(match, a_read_that_did_not_return)
{
	const struct fx_transfer writes[] = {CALL(10, 20, 5), CALL(40, 50, 5)};
	const struct fx_transfer reads[] = {CALL(21, 25, 5), CALL(30, 100, FX_TRANSFER_UNKNOWN),
					    CALL(51, 55, 2)};

	MATCH(0, NONE, 1);
}

Test(match, found_empty)
{
	const struct fx_transfer writes[] = {CALL(10, 20, 5), CALL(30, 40, 5)};
	const struct fx_transfer reads[] = {CALL(21, 22, 5), CALL_EMPTY(23, 24, 0),
					    CALL(41, 42, 5)};

	MATCH(0, NONE, 1);
	cr_expect(result.is_sure);
	cr_expect_eq(result.sure, 5);
}

Test(match, found_empty_though_there_was_something)
{
	const struct fx_transfer writes[] = {CALL(10, 20, 5), CALL(30, 40, 5)};
	const struct fx_transfer reads[] = {CALL(21, 22, 5), CALL_EMPTY(41, 42, 0)};

	CONTRADICTS();
}

/* It may have looked before the write was done. */
Test(match, found_empty_beside_a_write)
{
	const struct fx_transfer writes[] = {CALL(10, 20, 5), CALL(30, 40, 5)};
	const struct fx_transfer reads[] = {CALL(21, 22, 5), CALL_EMPTY(35, 36, 0),
					    CALL(41, 42, 5)};

	MATCH(0, NONE, 1);
	cr_expect(!result.is_sure);
}

Test(match, more_than_was_written)
{
	const struct fx_transfer writes[] = {CALL(10, 20, 5)};
	const struct fx_transfer reads[] = {CALL(21, 22, 6)};

	CONTRADICTS();
}

Test(match, read_before_it_was_written)
{
	const struct fx_transfer writes[] = {CALL(10, 20, 5), CALL(40, 50, 5)};
	const struct fx_transfer reads[] = {CALL(21, 22, 5), CALL(30, 35, 5)};

	CONTRADICTS();
}

Test(match, polls)
{
	const struct fx_transfer writes[] = {CALL(10, 20, 5), CALL(30, 40, 5), CALL(60, 61, 5)};
	const struct fx_transfer reads[] = {POLL(5, 21),     CALL(22, 23, 5), POLL(35, 41),
					    CALL(42, 43, 3), POLL(50, 51),    CALL(52, 53, 2),
					    POLL(54, 62)};

	/* One began when the bytes were being written; one found what was left. */
	MATCH(0, 0, NONE, 1, NONE, 1, 2);
}

/* Whatever the order was, what is found is right. */
Test(match, random)
{
	enum { CALLS = 60, TRIES = 3000 };
	unsigned found = 0;

	srand(17);
	for (int try = 0; try < TRIES; try++) {
		struct fx_transfer writes[CALLS], reads[CALLS];
		uint64_t until[CALLS], at = 0, ns = 100;
		int owner[CALLS * 8], wrong = 0;

		/* Each moves its bytes at one moment, inside a call that may be long. */
		for (int i = 0; i < CALLS; i++) {
			int late = rand() % 4 ? 5 : 60;

			ns += 10 + (uint64_t)rand() % 30;
			writes[i] = (struct fx_transfer)CALL(ns - (uint64_t)(rand() % late) - 1,
							     ns + (uint64_t)(rand() % late) + 1,
							     1 + (uint64_t)rand() % 8);
			for (uint64_t b = 0; b < writes[i].bytes; b++)
				owner[at + b] = i;
			at += writes[i].bytes;
			late = rand() % 4 ? 4 : 60;
			reads[i] = (struct fx_transfer)CALL(ns + 2 - (uint64_t)(rand() % late),
							    ns + 3 + (uint64_t)(rand() % late), 0);
			until[i] = at;
			reads[i].bytes = writes[i].bytes;
		}
		/* Told by begin. */
		for (int i = 0; i < CALLS; i++) {
			for (int j = i; j > 0 && writes[j].begin < writes[j - 1].begin; j--) {
				struct fx_transfer swap = writes[j];

				writes[j] = writes[j - 1];
				writes[j - 1] = swap;
				for (uint64_t b = 0; b < at; b++)
					owner[b] = owner[b] == j       ? j - 1
						   : owner[b] == j - 1 ? j
								       : owner[b];
			}
			for (int j = i; j > 0 && reads[j].begin < reads[j - 1].begin; j--) {
				struct fx_transfer swap = reads[j];
				uint64_t swapped = until[j];

				reads[j] = reads[j - 1];
				reads[j - 1] = swap;
				until[j] = until[j - 1];
				until[j - 1] = swapped;
			}
		}
		cr_assert_eq(fx_transfer_match(writes, CALLS, reads, CALLS, 0, &result), 0);
		cr_assert(!result.contradicts, "try %d", try);
		for (int i = 0; i < CALLS; i++) {
			if (result.matches[i].verdict != FX_MATCH_FOUND)
				continue;
			found++;
			wrong += (int)result.matches[i].from != owner[until[i] - 1];
		}
		free(result.matches);
		free(result.makers);
		cr_assert_eq(wrong, 0, "try %d", try);
	}
	cr_expect_gt(found, TRIES * CALLS / 3);
}

/* --- Room ------------------------------------------------------------------------------------- */

#define PAGE 4096

/* Of one write, the read that made room for it. */
static uint32_t maker(const struct fx_transfer *writes, size_t write_count,
		      const struct fx_transfer *reads, size_t read_count, size_t at)
{
	uint32_t ret;

	cr_assert_eq(fx_transfer_match(writes, write_count, reads, read_count, PAGE, &result), 0);
	cr_expect(!result.contradicts);
	ret = result.makers[at];
	free(result.matches);
	free(result.makers);
	return ret;
}

Test(match, a_write_that_waits_for_room)
{
	const struct fx_transfer writes[] = {CALL(10, 50, 24 * PAGE), CALL(51, 60, 8 * PAGE)};
	const struct fx_transfer reads[] = {CALL(20, 21, 4 * PAGE), CALL(30, 31, 4 * PAGE),
					    CALL(55, 56, 4 * PAGE), CALL(57, 58, 12 * PAGE),
					    CALL(61, 62, 8 * PAGE)};

	cr_expect_eq(maker(writes, 2, reads, 5, 0), 1);
	cr_expect_eq(maker(writes, 2, reads, 5, 1), 3);
	cr_expect(!result.is_larger);
}

/* It was there when the write began, or may have been. */
Test(match, a_write_that_need_not_wait_for_room)
{
	const struct fx_transfer writes[] = {CALL(10, 11, 16 * PAGE), CALL(30, 40, 4 * PAGE)};
	const struct fx_transfer reads[] = {CALL(20, 31, 4 * PAGE), CALL(45, 46, 16 * PAGE)};

	cr_expect_eq(maker(writes, 2, reads, 2, 0), FX_MATCH_NOBODY);
	cr_expect_eq(maker(writes, 2, reads, 2, 1), FX_MATCH_NOBODY);
}

Test(match, parts_of_pages_say_nothing_of_room)
{
	const struct fx_transfer writes[] = {CALL(10, 50, 24 * PAGE + 1)};
	const struct fx_transfer reads[] = {CALL(20, 21, 4 * PAGE), CALL(30, 31, 20 * PAGE + 1)};

	cr_expect_eq(maker(writes, 1, reads, 2, 0), FX_MATCH_NOBODY);
}

Test(match, a_pipe_that_was_made_larger)
{
	const struct fx_transfer writes[] = {CALL(10, 15, 24 * PAGE)};
	const struct fx_transfer reads[] = {CALL(20, 21, 24 * PAGE)};

	cr_expect_eq(maker(writes, 1, reads, 1, 0), FX_MATCH_NOBODY);
	cr_expect(result.is_larger);
}
