/* SPDX-License-Identifier: MIT */
/* The reader half: what it takes, what it leaves, and what it refuses. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>
#include <fxtrace/format.h>

#include "engine/reader/drain.h"
#include "tests/engine/fake_provider.h"

#define SIZE (256u << 10)
#define TID  4001u

static struct fake_provider p;
static struct fx_drain d;
static uint8_t room[1 << 20] __attribute__((aligned(8)));
static struct fx_drain_block block;

static void begin(enum fx_buffering_mode mode)
{
	fp_init(&p, SIZE, mode);
	cr_assert_eq(fx_drain_init(&d, &p.layout, p.header, p.control), 0);
	block = (struct fx_drain_block){.data = room, .capacity = sizeof(room)};
}

static void end(void)
{
	fx_drain_destroy(&d);
	fp_destroy(&p);
}

/* Piece number `n` of the block, NULL if there are fewer. */
static const struct fx_piece *piece(unsigned n)
{
	size_t at = 0;

	while (at < block.used) {
		const struct fx_piece *found = (const void *)(room + at);

		if (n-- == 0)
			return found;
		at += sizeof(*found) + found->bytes;
	}
	cr_assert_eq(at, block.used, "pieces end where the block ends");
	return NULL;
}

static const uint64_t *words_of(const struct fx_piece *found)
{
	return (const uint64_t *)(found + 1);
}

static int take(bool held)
{
	block.used = 0;
	return fx_drain_chunks(&d, held, &block);
}

static void expect_chunk(unsigned n, uint64_t serial, uint32_t words, uint32_t flags)
{
	const struct fx_piece *found = piece(n);

	cr_assert_not_null(found, "piece %u", n);
	cr_assert_eq(found->kind, FX_PIECE_CHUNK);
	cr_assert_eq(found->serial, serial);
	cr_assert_eq(found->bytes, words * 8, "%u bytes instead of %u", found->bytes, words * 8);
	cr_assert_eq(found->flags, flags);
}

#define FIRST FX_PIECE_FIRST
#define LAST  FX_PIECE_LAST

/* --- Chunks ---------------------------------------------------------------------------------- */

Test(drain, nothing_is_there_at_first)
{
	begin(FX_MODE_STREAMING);
	cr_assert(!fx_drain_has_news(&d));
	cr_assert_eq(take(true), 0);
	cr_assert_null(piece(0));
	end();
}

Test(drain, a_released_chunk_comes_whole_and_once)
{
	struct fake_chunk c;

	begin(FX_MODE_STREAMING);
	c = fp_claim(&p, TID);
	fp_complete(&c, 1, 2, 10, 20);
	fp_release(&c);
	cr_assert(fx_drain_has_news(&d));
	cr_assert_eq(take(false), 0);
	expect_chunk(0, 0, 6, FIRST | LAST);
	cr_assert_eq(words_of(piece(0))[4], 10);
	cr_assert_null(piece(1));
	cr_assert_eq(take(true), 0);
	cr_assert_null(piece(0));
	end();
}

Test(drain, a_held_chunk_is_continued)
{
	struct fake_chunk c;

	begin(FX_MODE_STREAMING);
	c = fp_claim(&p, TID);
	fp_complete(&c, 1, 2, 10, 20);
	cr_assert_eq(take(false), 0);
	cr_assert_null(piece(0), "left alone unless asked for");
	cr_assert_eq(take(true), 0);
	expect_chunk(0, 0, 6, FIRST);
	fp_complete(&c, 1, 2, 30, 40);
	cr_assert_eq(take(true), 0);
	expect_chunk(0, 0, 3, 0);
	cr_assert_eq(words_of(piece(0))[1], 30);
	fp_complete(&c, 1, 2, 50, 60);
	fp_release(&c);
	cr_assert_eq(take(false), 0);
	expect_chunk(0, 0, 3, LAST);
	end();
}

Test(drain, the_end_of_a_chunk_without_news_is_told)
{
	struct fake_chunk c;

	begin(FX_MODE_STREAMING);
	c = fp_claim(&p, TID);
	cr_assert_eq(take(true), 0);
	expect_chunk(0, 0, 3, FIRST);
	fp_release(&c);
	cr_assert_eq(take(true), 0);
	expect_chunk(0, 0, 0, LAST);
	end();
}

Test(drain, a_record_without_its_header_is_not_there)
{
	struct fake_chunk c;

	begin(FX_MODE_STREAMING);
	c = fp_claim(&p, TID);
	c.words[c.used + 1] = 10;
	c.words[c.used + 2] = 20;
	cr_assert_eq(take(true), 0);
	expect_chunk(0, 0, 3, FIRST);
	end();
}

Test(drain, a_size_beyond_the_chunk_ends_it)
{
	struct fake_chunk c;

	begin(FX_MODE_STREAMING);
	c = fp_claim(&p, TID);
	fp_complete(&c, 1, 2, 10, 20);
	c.words[c.used] = 4 | 0xfffull << 4;
	cr_assert_eq(take(true), 0);
	expect_chunk(0, 0, 6, FIRST);
	c.words[c.used] = 15 | 0xffffffffull << 4; /* a large record */
	cr_assert_eq(take(true), 0);
	cr_assert_null(piece(0));
	c.words[c.used] = 1ull << 32; /* no size at all */
	cr_assert_eq(take(true), 0);
	cr_assert_null(piece(0));
	cr_assert_null(d.broken);
	end();
}

Test(drain, chunks_come_in_the_order_of_their_claims)
{
	struct fake_chunk c[3];

	begin(FX_MODE_STREAMING);
	for (unsigned i = 0; i < 3; i++)
		c[i] = fp_claim(&p, TID + i);
	fp_release(&c[2]);
	cr_assert_eq(take(false), 0);
	expect_chunk(0, 2, 3, FIRST | LAST);
	fp_release(&c[1]);
	fp_release(&c[0]);
	cr_assert_eq(take(false), 0);
	expect_chunk(0, 0, 3, FIRST | LAST);
	expect_chunk(1, 1, 3, FIRST | LAST);
	end();
}

Test(drain, a_full_block_is_continued_in_the_next)
{
	struct fake_chunk c[2];

	begin(FX_MODE_STREAMING);
	for (unsigned i = 0; i < 2; i++) {
		c[i] = fp_claim(&p, TID);
		fp_release(&c[i]);
	}
	block.capacity = sizeof(struct fx_piece) + 24;
	cr_assert_eq(take(false), 1);
	expect_chunk(0, 0, 3, FIRST | LAST);
	cr_assert_null(piece(1));
	cr_assert_eq(take(false), 0);
	expect_chunk(0, 1, 3, FIRST | LAST);
	end();
}

Test(drain, a_oneshot_buffer_is_one_half)
{
	begin(FX_MODE_ONESHOT);
	for (uint32_t i = 0; i < p.layout.chunks_per_half; i++) {
		struct fake_chunk c = fp_claim(&p, TID);

		fp_release(&c);
	}
	cr_assert_eq(take(false), 0);
	expect_chunk(p.layout.chunks_per_half - 1, p.layout.chunks_per_half - 1, 3, FIRST | LAST);
	cr_assert(!fx_drain_must_acknowledge(&d));
	end();
}

/* --- What no provider does ------------------------------------------------------------------- */

/* Breaks a rule after one good chunk: the chunk is kept, the provider is marked. */
static void expect_broken(void (*breach)(void))
{
	struct fake_chunk c;

	begin(FX_MODE_STREAMING);
	c = fp_claim(&p, TID);
	fp_release(&c);
	cr_assert_eq(take(false), 0);
	expect_chunk(0, 0, 3, FIRST | LAST);
	breach();
	cr_assert_eq(take(true), -EBADMSG);
	cr_assert_null(piece(0));
	cr_assert_not_null(d.broken);
	cr_assert_eq(take(true), -EBADMSG, "for good");
	cr_assert(!fx_drain_acknowledge(&d));
	end();
}

static void claim_and_say(uint64_t word)
{
	struct fake_chunk c = fp_claim(&p, TID);

	*fp_table(&p, (uint32_t)c.serial) = word;
}

static void too_many_claims(void)
{
	p.header->rolling_state = p.layout.chunks_per_half + 1;
}

static void fewer_claims(void)
{
	p.header->rolling_state = 0;
}

static void wrap_too_far(void)
{
	p.header->rolling_state = 2ull << 32;
}

static void end_beyond_the_chunk(void)
{
	claim_and_say(FX_CHUNK_WORD(1, FX_CHUNK_RELEASED, p.layout.chunk_size + 8));
}

static void end_within_a_word(void)
{
	claim_and_say(FX_CHUNK_WORD(1, FX_CHUNK_RELEASED, 12));
}

static void held_and_released(void)
{
	claim_and_say(FX_CHUNK_WORD(1, FX_CHUNK_HELD | FX_CHUNK_RELEASED, 24));
}

static void neither(void)
{
	claim_and_say(FX_CHUNK_WORD(1, 0, 24));
}

static void serial_of_another_chunk(void)
{
	claim_and_say(FX_CHUNK_WORD(2, FX_CHUNK_RELEASED, 24));
}

static void serial_of_another_half(void)
{
	claim_and_say(FX_CHUNK_WORD(p.layout.chunks_per_half + 1, FX_CHUNK_HELD, 0));
}

Test(drain, breaches)
{
	expect_broken(too_many_claims);
	expect_broken(fewer_claims);
	expect_broken(wrap_too_far);
	expect_broken(end_beyond_the_chunk);
	expect_broken(end_within_a_word);
	expect_broken(held_and_released);
	expect_broken(neither);
	expect_broken(serial_of_another_chunk);
	expect_broken(serial_of_another_half);
}

Test(drain, an_end_before_what_was_taken)
{
	struct fake_chunk c;

	begin(FX_MODE_STREAMING);
	c = fp_claim(&p, TID);
	fp_complete(&c, 1, 2, 10, 20);
	cr_assert_eq(take(true), 0);
	c.used = 3;
	fp_release(&c);
	cr_assert_eq(take(true), -EBADMSG);
	end();
}

Test(drain, a_oneshot_buffer_does_not_wrap)
{
	begin(FX_MODE_ONESHOT);
	p.header->rolling_state = 1ull << 32;
	cr_assert_eq(take(true), -EBADMSG);
	end();
}

/* --- Giving chunks back ---------------------------------------------------------------------- */

Test(drain, a_half_is_given_back_when_the_next_is_in_use)
{
	begin(FX_MODE_STREAMING);
	fp_wrap(&p);
	cr_assert(fx_drain_must_acknowledge(&d));
	cr_assert_eq(p.control->wraps_saved, 0);
	cr_assert_eq(take(true), 0);
	cr_assert(fx_drain_acknowledge(&d));
	cr_assert_eq(p.control->wraps_saved, 1);
	for (uint32_t i = 0; i < p.layout.chunks_per_half; i++)
		cr_assert_eq(p.control->saved[i], *fp_table(&p, i));
	cr_assert(!fx_drain_must_acknowledge(&d));
	cr_assert(!fx_drain_acknowledge(&d));
	end();
}

static void claim_and_release(void)
{
	struct fake_chunk c = fp_claim(&p, TID);

	fp_complete(&c, 1, 2, 10, 20);
	fp_release(&c);
}

/* What lies behind the place where a half was left is nobody's, and free as before. */
Test(drain, a_half_that_is_left_early_is_given_back_whole)
{
	begin(FX_MODE_STREAMING);
	for (uint32_t i = 0; i < 20; i++) {
		uint32_t used = 1 + i % 5, half = i % 2 * p.layout.chunks_per_half;

		for (uint32_t j = 0; j < used; j++)
			claim_and_release();
		fp_leave(&p);
		cr_assert(fx_drain_must_acknowledge(&d));
		cr_assert_eq(take(true), 0);
		cr_assert_eq(d.watch_count, 0, "nobody has claimed the rest");
		cr_assert(fx_drain_acknowledge(&d));
		for (uint32_t j = half; j < half + p.layout.chunks_per_half; j++)
			cr_assert_eq(p.control->saved[j], *fp_table(&p, j));
	}
	cr_assert_eq(*fp_table(&p, 5), 0);
	end();
}

Test(drain, what_is_said_of_the_half_in_use_counts_for_nothing)
{
	begin(FX_MODE_STREAMING);
	p.header->half_ended[0] = UINT64_C(1) << 32 | 1;
	claim_and_release();
	claim_and_release();
	cr_assert_eq(take(true), 0);
	cr_assert_eq(d.claimed, 2);
	cr_assert_eq(d.watch_count, 0, "both are done with");
	end();
}

Test(drain, a_half_that_is_left_later_than_it_ends_is_full)
{
	begin(FX_MODE_STREAMING);
	claim_and_release();
	fp_wrap(&p);
	p.header->half_ended[0] = UINT64_C(1) << 32 | UINT32_MAX;
	cr_assert_eq(take(true), 0);
	cr_assert_eq(d.claimed, p.layout.chunks_per_half);
	cr_assert(fx_drain_acknowledge(&d));
	end();
}

Test(drain, a_held_chunk_is_kept_back)
{
	struct fake_chunk c;

	begin(FX_MODE_STREAMING);
	c = fp_claim(&p, TID);
	fp_wrap(&p);
	cr_assert_eq(take(true), 0);
	cr_assert(fx_drain_acknowledge(&d));
	cr_assert_neq(p.control->saved[0], *fp_table(&p, 0));
	cr_assert_eq(p.control->saved[1], *fp_table(&p, 1));

	/* Its owner goes on while two wraps pass. */
	fp_complete(&c, 1, 2, 10, 20);
	fp_release(&c);
	cr_assert_eq(take(true), 0);
	expect_chunk(0, 0, 3, LAST);
	cr_assert_neq(p.control->saved[0], *fp_table(&p, 0), "not while claims are made");
	end();
}

/* The claims of one wrap, as the engine makes them: chunks that may not be reused are passed over. */
static uint32_t wrap_by_the_rules(void)
{
	uint32_t taken = 0;

	while (p.half_used < p.layout.chunks_per_half) {
		uint32_t number = p.wrap % 2 * p.layout.chunks_per_half + p.half_used;
		bool reusable = *fp_table(&p, number) == p.control->saved[number];
		uint64_t serial = fp_count_claim(&p);

		if (reusable) {
			struct fake_chunk c = fp_show_claim(&p, serial, TID);

			fp_release(&c);
			taken++;
		}
	}
	fp_wrap(&p);
	cr_assert_eq(take(true), 0);
	cr_assert(fx_drain_acknowledge(&d));
	return taken;
}

Test(drain, a_chunk_that_was_passed_over_comes_back)
{
	struct fake_chunk c;
	uint32_t all;

	begin(FX_MODE_STREAMING);
	all = p.layout.chunks_per_half;
	c = fp_claim(&p, TID);
	cr_assert_eq(wrap_by_the_rules(), all - 1);
	cr_assert_eq(wrap_by_the_rules(), all);
	cr_assert_eq(wrap_by_the_rules(), all - 1, "still held");
	fp_release(&c);
	cr_assert_eq(wrap_by_the_rules(), all);
	cr_assert_eq(wrap_by_the_rules(), all - 1, "released, but not yet given back");
	cr_assert_eq(wrap_by_the_rules(), all);
	cr_assert_eq(wrap_by_the_rules(), all, "in use again");
	end();
}

Test(drain, a_chunk_whose_owner_is_late_goes_to_nobody_else)
{
	struct fake_chunk c;
	uint64_t serial;
	uint32_t all;

	begin(FX_MODE_STREAMING);
	all = p.layout.chunks_per_half;
	serial = fp_count_claim(&p);
	cr_assert_eq(wrap_by_the_rules(), all - 1);
	cr_assert_eq(p.control->saved[0], FX_SAVED_NEVER);
	wrap_by_the_rules();
	cr_assert_eq(wrap_by_the_rules(), all - 1);

	c = fp_show_claim(&p, serial, TID);
	fp_complete(&c, 1, 2, 10, 20);
	fp_release(&c);
	cr_assert_eq(take(true), 0);
	expect_chunk(0, serial, 6, FIRST | LAST);
	wrap_by_the_rules();
	cr_assert_eq(wrap_by_the_rules(), all - 1);
	wrap_by_the_rules();
	cr_assert_eq(wrap_by_the_rules(), all);
	end();
}

/* What is claimed after the look at rolling_state is left for the next pass, for an earlier chunk of
 * its thread may not have been seen. */
Test(drain, a_claim_that_is_not_counted_yet_is_not_taken)
{
	uint32_t n;

	begin(FX_MODE_STREAMING);
	n = p.layout.chunks_per_half;
	fp_count_claim(&p); /* the owner of chunk 0 does not say so */
	fp_wrap(&p);
	cr_assert_eq(take(true), 0);
	cr_assert(fx_drain_acknowledge(&d));
	while (p.half_used < n) {
		struct fake_chunk c = fp_claim(&p, TID);

		fp_release(&c);
	}
	cr_assert_eq(take(true), 0);
	fp_show_claim(&p, 2 * n, TID);
	cr_assert_eq(take(true), 0);
	cr_assert_null(piece(0), "chunk 0 is claimed anew, which rolling_state does not say");
	fp_wrap(&p);
	fp_count_claim(&p);
	cr_assert_eq(take(true), 0);
	expect_chunk(0, 2 * n, 3, FIRST);
	end();
}

/* --- The durable area ------------------------------------------------------------------------ */

static int take_durable(void)
{
	block.used = 0;
	return fx_drain_durable(&d, &block);
}

static void expect_durable(unsigned n, uint32_t words)
{
	const struct fx_piece *found = piece(n);

	cr_assert_not_null(found, "piece %u", n);
	cr_assert_eq(found->kind, FX_PIECE_DURABLE);
	cr_assert_eq(found->bytes, words * 8, "%u bytes instead of %u", found->bytes, words * 8);
}

Test(drain, durable_records_come_once)
{
	begin(FX_MODE_STREAMING);
	fp_durable_string(&p, 5, "five");
	fp_durable_string(&p, 6, "a longer text");
	cr_assert_eq(take_durable(), 0);
	expect_durable(0, 5);
	cr_assert_null(piece(1));
	cr_assert_eq(take_durable(), 0);
	cr_assert_null(piece(0));
	fp_durable_string(&p, 7, "seven");
	cr_assert_eq(take_durable(), 0);
	expect_durable(0, 2);
	end();
}

Test(drain, builtin_strings_come_first)
{
	uint64_t *builtin;

	begin(FX_MODE_STREAMING);
	builtin = (uint64_t *)((char *)p.header + p.layout.builtin_offset);
	builtin[0] = 2 | 2 << 4 | 1 << 16 | 4ull << 32;
	memcpy(&builtin[1], "zero", 4);
	fp_durable_string(&p, 5, "five");
	cr_assert_eq(take_durable(), 0);
	expect_durable(0, 2);
	cr_assert_eq(memcmp(words_of(piece(0)) + 1, "zero", 4), 0);
	expect_durable(1, 2);
	end();
}

/* Those that the manager has too are neither copied nor taken from the buffer, whatever stands there. */
Test(drain, builtin_strings_that_are_known_are_named)
{
	static const uint64_t records[] = {2 | 2 << 4 | 1 << 16 | 3ull << 32, 0x656e6f};
	static const struct fx_builtin known = {
	    .records = records, .words = 2, .next = 2, .id = 77};
	const struct fx_piece *found;
	uint64_t *builtin;

	begin(FX_MODE_ONESHOT);
	builtin = (uint64_t *)((char *)p.header + p.layout.builtin_offset);
	builtin[0] = 2 | 3 << 4 | 1 << 16 | 4ull << 32;
	memcpy(&builtin[1], "zero", 4);
	d.builtin = &known;
	p.header->builtin_id = 77;
	cr_assert_eq(fx_drain_durable(&d, &block), 0);
	found = piece(0);
	cr_assert_not_null(found);
	cr_assert_eq(found->kind, FX_PIECE_BUILTIN);
	cr_assert_eq(found->bytes, sizeof(&known));
	cr_assert_eq(*(const struct fx_builtin **)(found + 1), &known);
	cr_assert_null(piece(1));
	/* Once. */
	block.used = 0;
	cr_assert_eq(fx_drain_durable(&d, &block), 0);
	cr_assert_null(piece(0));
	end();
}

/* One that has others, or another version of them, has them in its buffer. */
Test(drain, builtin_strings_that_are_not_known_come_from_the_buffer)
{
	static const uint64_t records[] = {2 | 2 << 4 | 1 << 16 | 3ull << 32, 0x656e6f};
	static const struct fx_builtin known = {
	    .records = records, .words = 2, .next = 2, .id = 77};
	uint64_t *builtin;

	for (uint64_t id = 0; id < 2; id++) {
		begin(FX_MODE_ONESHOT);
		builtin = (uint64_t *)((char *)p.header + p.layout.builtin_offset);
		builtin[0] = 2 | 2 << 4 | 1 << 16 | 4ull << 32;
		memcpy(&builtin[1], "zero", 4);
		d.builtin = &known;
		p.header->builtin_id = id;
		cr_assert_eq(fx_drain_durable(&d, &block), 0);
		cr_assert_not_null(piece(0));
		cr_assert_arr_eq(piece(0) + 1, builtin, 16);
		end();
	}
}

Test(drain, builtin_strings_go_on_in_the_next_block)
{
	const uint32_t words = 2000;
	uint64_t *builtin;

	begin(FX_MODE_STREAMING);
	builtin = (uint64_t *)((char *)p.header + p.layout.builtin_offset);
	for (unsigned i = 0; i < 4; i++)
		builtin[i * words] = 2 | words << 4 | (1ull + i) << 16 | 15000ull << 32;
	block.used = 0;
	block.capacity = 50000; /* three of them, not the fourth */
	cr_assert_eq(fx_drain_durable(&d, &block), 1);
	expect_durable(0, 3 * words);
	cr_assert_eq(take_durable(), 0);
	expect_durable(0, words);
	cr_assert_eq(FXT_GET(words_of(piece(0))[0], STRING_INDEX), 4);
	cr_assert_eq(take_durable(), 0);
	cr_assert_null(piece(0));
	end();
}

Test(drain, a_claim_is_come_back_to)
{
	uint64_t *claim;

	begin(FX_MODE_STREAMING);
	fp_durable_string(&p, 5, "five");
	claim = fp_durable_claim(&p, 2);
	fp_durable_string(&p, 7, "seven");
	cr_assert_eq(take_durable(), 0);
	expect_durable(0, 2);
	expect_durable(1, 2);
	cr_assert_null(piece(2));
	cr_assert_eq(take_durable(), 0);
	cr_assert_null(piece(0));

	memcpy(claim + 1, "six\0\0\0\0\0", 8);
	claim[0] = 2 | 2 << 4 | 6 << 16 | 3ull << 32;
	cr_assert_eq(take_durable(), 0);
	expect_durable(0, 2);
	cr_assert_eq(words_of(piece(0))[0], claim[0]);
	cr_assert_eq(take_durable(), 0);
	cr_assert_null(piece(0));
	end();
}

Test(drain, durable_records_that_cannot_be)
{
	begin(FX_MODE_STREAMING);
	fp_durable(&p)[0] = 2 | 1ull << 32; /* no size: the walk would never end */
	cr_assert_eq(take_durable(), -EBADMSG);
	end();

	begin(FX_MODE_STREAMING);
	fp_durable(&p)[0] = 5 | 0xfff << 4; /* beyond the area */
	d.layout.durable_size = 4096;
	cr_assert_eq(take_durable(), -EBADMSG);
	end();

	begin(FX_MODE_STREAMING);
	fp_durable(&p)[0] = 15 | 10000 << 4; /* a large record, for which no block has room */
	d.layout.durable_size = 128 << 10;
	cr_assert_eq(take_durable(), -EBADMSG);
	end();
}

Test(drain, a_claim_that_grows)
{
	uint64_t *claim;

	begin(FX_MODE_STREAMING);
	d.layout.durable_size = p.layout.durable_size = 4096;
	claim = fp_durable_claim(&p, 2);
	cr_assert_eq(take_durable(), 0);
	claim[0] = 2 | 0xfff << 4;
	cr_assert_eq(take_durable(), -EBADMSG);
	end();

	begin(FX_MODE_STREAMING);
	d.layout.durable_size = 128 << 10;
	claim = fp_durable_claim(&p, 2);
	cr_assert_eq(take_durable(), 0);
	claim[0] = 15 | 10000 << 4;
	block.capacity = FX_DRAIN_BLOCK_MIN;
	cr_assert_eq(take_durable(), -EBADMSG);
	end();
}

/* --- Threads --------------------------------------------------------------------------------- */

static int take_threads(void)
{
	block.used = 0;
	return fx_drain_threads(&d, &block);
}

Test(drain, facts_of_threads_come_when_they_change)
{
	const struct fx_thread_facts *facts;
	struct fx_thread_slot *slot;

	begin(FX_MODE_STREAMING);
	slot = fp_slot(&p, 0, TID, "main");
	fp_slot(&p, 1, TID + 1, "other");
	cr_assert_eq(take_threads(), 0);
	cr_assert_not_null(piece(1));
	facts = (const void *)words_of(piece(0));
	cr_assert_eq(facts->tid, TID);
	cr_assert_str_eq(facts->name, "main");
	cr_assert_eq(take_threads(), 0);
	cr_assert_null(piece(0));

	slot->dropped = 3;
	slot->lost[FX_LOSS_NESTED] = 1;
	cr_assert_eq(take_threads(), 0);
	cr_assert_not_null(piece(0));
	cr_assert_null(piece(1));
	facts = (const void *)words_of(piece(0));
	cr_assert_eq(facts->dropped, 3);
	cr_assert_eq(facts->lost[FX_LOSS_NESTED], 1);
	cr_assert_eq(facts->lost[FX_LOSS_FULL], 2, "the rest");

	/* More than were lost in all cannot have been lost for one reason. */
	slot->lost[FX_LOSS_LEFT] = UINT64_MAX;
	cr_assert_eq(take_threads(), 0);
	facts = (const void *)words_of(piece(0));
	cr_assert_eq(facts->lost[FX_LOSS_LEFT], 2);
	cr_assert_eq(facts->lost[FX_LOSS_FULL], 0);
	end();
}

Test(drain, facts_that_change_all_the_time_come_to_an_end)
{
	struct fx_thread_slot *slot;

	begin(FX_MODE_STREAMING);
	slot = fp_slot(&p, 0, TID, "busy");
	fp_slot(&p, 1, TID + 1, "other");
	block.capacity = sizeof(struct fx_piece) + sizeof(struct fx_thread_facts);
	cr_assert_eq(take_threads(), 1);
	cr_assert_eq(piece(0)->index, 0);
	slot->dropped = 1;
	cr_assert_eq(take_threads(), 0);
	cr_assert_eq(piece(0)->index, 1);
	cr_assert_eq(take_threads(), 0, "the next pass");
	cr_assert_eq(piece(0)->index, 0);
	end();
}

Test(drain, a_name_without_end_is_cut)
{
	const struct fx_thread_facts *facts;

	begin(FX_MODE_STREAMING);
	memset(fp_slot(&p, 0, TID, "")->name, 'x', 16);
	cr_assert_eq(take_threads(), 0);
	facts = (const void *)words_of(piece(0));
	cr_assert_eq(strlen(facts->name), 15);
	end();
}

Test(drain, open_calls_end_at_the_first_free_frame)
{
	const struct fx_frame *frames;
	struct fx_thread_slot *slot;
	uint32_t cursor = 0;

	begin(FX_MODE_STREAMING);
	fp_slot(&p, 0, TID, "idle");
	slot = fp_slot(&p, 1, TID + 1, "busy");
	fp_frame(slot, 0, 10, 0x1000);
	fp_frame(slot, 1, 20, 0x2000);
	fp_frame(slot, 3, 40, 0x4000); /* behind a gap: left over */
	cr_assert_eq(take_threads(), 0);
	block.used = 0;
	cr_assert_eq(fx_drain_frames(&d, &cursor, &block), 0);
	cr_assert_not_null(piece(0));
	cr_assert_null(piece(1));
	cr_assert_eq(piece(0)->serial, TID + 1);
	cr_assert_eq(piece(0)->bytes, 2 * sizeof(*frames));
	frames = (const void *)words_of(piece(0));
	cr_assert_eq(frames[1].start, 20);
	cr_assert_eq(frames[1].id, 0x2000);
	end();
}

Test(drain, a_stack_of_garbage_is_bounded)
{
	struct fx_thread_slot *slot;
	uint32_t cursor = 0;

	begin(FX_MODE_STREAMING);
	slot = fp_slot(&p, 0, TID, "liar");
	memset(slot->frames, 0xff, sizeof(slot->frames));
	cr_assert_eq(take_threads(), 0);
	block.used = 0;
	cr_assert_eq(fx_drain_frames(&d, &cursor, &block), 0);
	cr_assert_eq(piece(0)->bytes, (FX_FRAMES - 1) * sizeof(struct fx_frame));
	end();
}

/* --- Anything at all ------------------------------------------------------------------------- */

static uint64_t random_state = 88172645463325252ull;

static uint64_t next_random(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state;
}

/* Words that are nearly right do more harm than noise. */
static void scribble(uint64_t *words, size_t count)
{
	size_t at = next_random() % count;

	switch (next_random() % 4) {
	case 0:
		words[at] = next_random();
		break;
	case 1:
		words[at] ^= 1ull << next_random() % 64;
		break;
	case 2:
		words[at] = next_random() % 16 | (next_random() % 64) << 4;
		break;
	default:
		words[at] = FX_CHUNK_WORD(next_random() % 40, FX_CHUNK_HELD << next_random() % 2,
					  next_random() % 2048 * 8);
	}
}

static void expect_sane_pieces(void)
{
	size_t at = 0;

	while (at < block.used) {
		const struct fx_piece *found = (const void *)(room + at);

		cr_assert_eq(found->bytes % 8, 0);
		at += sizeof(*found) + found->bytes;
	}
	cr_assert_eq(at, block.used);
}

Test(drain, random_damage_does_no_harm)
{
	for (unsigned round = 0; round < 2000; round++) {
		uint32_t cursor = 0;

		begin(round % 3 ? FX_MODE_STREAMING : FX_MODE_ONESHOT);
		for (unsigned i = 0; i < 3; i++) {
			struct fake_chunk c = fp_claim(&p, TID + i);

			fp_complete(&c, 1, 2, i, i + 1);
			if (i != 1)
				fp_release(&c);
			fp_slot(&p, i, TID + i, "thread");
			fp_durable_string(&p, 5 + i, "text");
		}
		for (unsigned i = 0; i < 8; i++) {
			scribble(fp_table(&p, 0), 4);
			scribble(fp_durable(&p), 8);
			scribble(&p.header->rolling_state, 1 + i % 2);
			scribble((uint64_t *)((char *)p.header + p.layout.rolling_offset[0]), 16);
			take(i % 2);
			expect_sane_pieces();
			fx_drain_acknowledge(&d);
			take_durable();
			expect_sane_pieces();
			take_threads();
			fx_drain_frames(&d, &cursor, &block);
			expect_sane_pieces();
		}
		end();
	}
}
