/* SPDX-License-Identifier: MIT */
/* Where things lie in the buffer, for every size. */
#include <errno.h>
#include <stdlib.h>

#include <criterion/criterion.h>

#include "base/compiler.h"
#include "engine/layout.h"

struct area {
	const char *name;
	uint64_t from, size;
};

static int by_offset(const void *a, const void *b)
{
	const struct area *x = a, *y = b;

	return x->from < y->from ? -1 : x->from > y->from;
}

static void check_apart(struct area *areas, size_t count, uint64_t total, uint64_t size)
{
	qsort(areas, count, sizeof areas[0], by_offset);
	for (size_t i = 0; i < count; i++) {
		uint64_t next = i + 1 < count ? areas[i + 1].from : total;

		cr_assert_leq(areas[i].from + areas[i].size, next,
			      "size %llu: %s runs into what follows", (unsigned long long)size,
			      areas[i].name);
	}
}

static void check_size(uint64_t size, enum fx_buffering_mode mode)
{
	struct fx_layout l;
	uint64_t half;

	cr_assert_eq(fx_layout_compute(&l, size, mode), 0, "size %llu", (unsigned long long)size);
	half = (uint64_t)l.chunks_per_half * l.chunk_size;
	cr_assert_eq(l.halves, mode == FX_MODE_ONESHOT ? 1 : 2);
	cr_assert_eq(l.chunk_size & (l.chunk_size - 1), 0);
	cr_assert(l.chunk_size >= FX_CHUNK_MIN && l.chunk_size <= FX_CHUNK_MAX);
	cr_assert_geq(l.chunks_per_half, 1);
	cr_assert_eq(l.rolling_offset[0] % l.chunk_size, 0);
	cr_assert_eq(l.rolling_offset[1] % l.chunk_size, 0);
	cr_assert_eq(l.threads_offset % FX_PAGE, 0, "slots are pages");
	cr_assert_eq(l.table_offset % 8, 0);
	cr_assert_eq(l.durable_offset % 8, 0);
	cr_assert_eq(l.durable_size % 8, 0);
	cr_assert_gt(l.durable_size, 0);
	cr_assert_eq(l.total_size % FX_PAGE, 0);
	/* What the user asked for is what he gets, less than one chunk a half short. */
	cr_assert_leq(l.durable_size + l.halves * half, size);
	cr_assert_gt(l.durable_size + l.halves * (half + l.chunk_size) + 8, size);

	struct area areas[] = {
	    {"header", 0, sizeof(struct fx_buffer_header)},
	    {"builtin strings", l.builtin_offset, FX_BUILTIN_SIZE},
	    {"threads", l.threads_offset, (uint64_t)l.thread_count * sizeof(struct fx_thread_slot)},
	    {"chunk table", l.table_offset, 8ull * l.halves * l.chunks_per_half},
	    {"durable", l.durable_offset, l.durable_size},
	    {"rolling 0", l.rolling_offset[0], half},
	    {"rolling 1", l.rolling_offset[1], half},
	};
	check_apart(areas, FX_ARRAY_LEN(areas) - (l.halves == 1), l.total_size, size);
}

static void check_modes(uint64_t size)
{
	for (enum fx_buffering_mode mode = FX_MODE_ONESHOT; mode <= FX_MODE_STREAMING; mode++)
		check_size(size, mode);
}

Test(layout, powers_of_two_and_their_neighbours)
{
	for (uint64_t size = FX_BUFFER_MIN; size <= FX_BUFFER_MAX; size *= 2) {
		for (int d = -9; d <= 9; d++) {
			uint64_t near = size + (uint64_t)(int64_t)d * FX_BUFFER_STEP;

			if (near >= FX_BUFFER_MIN && near <= FX_BUFFER_MAX)
				check_modes(near);
		}
	}
}

Test(layout, every_small_size)
{
	for (uint64_t size = FX_BUFFER_MIN; size < 8 << 20; size += FX_BUFFER_STEP)
		check_modes(size);
}

Test(layout, sizes_up_to_the_largest)
{
	uint64_t size = FX_BUFFER_MIN;

	for (; size <= FX_BUFFER_MAX; size += (size / 97 + 1 + FX_PAGE - 1) / FX_PAGE * FX_PAGE)
		check_modes(size);
}

Test(layout, sizes_at_the_edges)
{
	static const uint64_t bad[] = {0,
				       1,
				       FX_BUFFER_MIN - 1,
				       FX_BUFFER_MIN + 1,
				       2 * FX_BUFFER_MIN - 8,
				       FX_BUFFER_MAX - 1,
				       FX_BUFFER_MAX + 1,
				       FX_BUFFER_MAX + FX_BUFFER_STEP,
				       UINT64_MAX,
				       UINT64_MAX - 4095};

	check_modes(FX_BUFFER_MIN);
	check_modes(FX_BUFFER_MAX);
	for (size_t i = 0; i < FX_ARRAY_LEN(bad); i++) {
		struct fx_layout l = {.halves = 7};

		for (enum fx_buffering_mode m = FX_MODE_ONESHOT; m <= FX_MODE_STREAMING; m++)
			cr_assert_eq(fx_layout_compute(&l, bad[i], m), -EINVAL, "%llu",
				     (unsigned long long)bad[i]);
		cr_assert_eq(l.halves, 7, "nothing is written");
	}
}

Test(layout, refuses_modes_that_there_are_not)
{
	struct fx_layout l;

	cr_assert_eq(fx_layout_compute(&l, 1u << 20, (enum fx_buffering_mode)0), -EINVAL);
	cr_assert_eq(fx_layout_compute(&l, 1u << 20, (enum fx_buffering_mode)4), -EINVAL);
}

Test(layout, control_has_a_word_per_chunk)
{
	struct fx_layout l;

	for (uint64_t size = FX_BUFFER_MIN; size <= FX_BUFFER_MAX; size *= 2) {
		fx_layout_compute(&l, size, FX_MODE_STREAMING);
		cr_assert_geq(fx_control_size(&l),
			      offsetof(struct fx_control, saved) + 16ull * l.chunks_per_half);
		cr_assert_eq(fx_control_size(&l) % FX_PAGE, 0);
	}
}

Test(layout, a_smaller_size_is_a_share_of_the_chunks)
{
	struct fx_layout l, small;

	for (uint64_t size = FX_BUFFER_MIN; size <= FX_BUFFER_MAX;
	     size += (size / 3 / FX_BUFFER_STEP + 1) * FX_BUFFER_STEP) {
		cr_assert_eq(fx_layout_compute(&l, size, FX_MODE_STREAMING), 0);
		cr_assert_eq(fx_layout_share(&l, size), l.chunks_per_half, "all of its own size");
		cr_assert_eq(fx_layout_share(&l, FX_BUFFER_MAX), l.chunks_per_half, "no more");
		cr_assert_eq(fx_layout_share(&l, FX_BUFFER_MIN), l.chunks_per_half >= 2 ? 2 : 1);
	}
	cr_assert_eq(fx_layout_compute(&l, 16u << 20, FX_MODE_STREAMING), 0);
	cr_assert_eq(fx_layout_compute(&small, 1u << 20, FX_MODE_STREAMING), 0);
	cr_assert_eq(fx_layout_share(&l, 1u << 20), small.chunks_per_half);
}
