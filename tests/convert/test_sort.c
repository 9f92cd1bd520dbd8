/* SPDX-License-Identifier: MIT */
#include <criterion/criterion.h>

#include <stdlib.h>

#include "convert/sort.h"

/* Entries of these times, each with its place as the word. */
static struct fx_entry *make_entries(const uint64_t *times, size_t count)
{
	struct fx_entry *entries = calloc(count + 1, sizeof(*entries));

	for (size_t i = 0; i < count; i++) {
		entries[i].ts = times[i];
		entries[i].word = i;
	}
	return entries;
}

static void check_sorted(const uint64_t *times, size_t count)
{
	struct fx_entry *entries = make_entries(times, count);
	bool *seen = calloc(count + 1, sizeof(*seen));

	cr_assert_eq(fx_entries_sort(entries, count), 0);
	for (size_t i = 0; i < count; i++) {
		size_t word = entries[i].word;

		cr_assert_lt(word, count);
		cr_assert_not(seen[word], "entry %zu twice", word);
		seen[word] = true;
		cr_assert_eq(entries[i].ts, times[word]);
		if (i == 0)
			continue;
		cr_assert_leq(entries[i - 1].ts, entries[i].ts, "at %zu", i);
		if (entries[i - 1].ts == entries[i].ts)
			cr_assert_lt(entries[i - 1].word, entries[i].word, "not stable at %zu", i);
	}
	free(seen);
	free(entries);
}

Test(sort, random_times_of_every_size)
{
	uint64_t times[700];

	srand(1);
	for (size_t count = 0; count <= 700; count += count < 70 ? 1 : 63) {
		for (uint64_t range = 1; range <= 1000; range *= 10) {
			for (size_t i = 0; i < count; i++)
				times[i] = (uint64_t)rand() % range;
			check_sorted(times, count);
		}
	}
}

Test(sort, extreme_times)
{
	uint64_t times[64];

	for (size_t i = 0; i < 64; i++)
		times[i] = i % 3 == 0 ? 0 : i % 3 == 1 ? UINT64_MAX : UINT64_MAX - 1;
	check_sorted(times, 64);
}

/* The starts of a call tree whose records stand where the calls ended. */
static size_t add_calls(uint64_t *times, size_t at, uint64_t *now, int depth)
{
	uint64_t start = (*now)++;

	for (int i = 0; depth > 0 && i < 3; i++)
		at = add_calls(times, at, now, depth - 1);
	times[at++] = start;
	return at;
}

Test(sort, calls_in_the_order_of_their_ends)
{
	static uint64_t times[100000];
	uint64_t now = 5;
	size_t count = add_calls(times, 0, &now, 9);

	cr_assert_eq(count, 29524);
	check_sorted(times, count);
}

/* Records behind their calls with the times of these: what arrows and instants are written with. */
Test(sort, marks_behind_the_calls_that_they_belong_to)
{
	static uint64_t times[4000];
	size_t count = 0;

	for (uint64_t call = 0; count + 6 < 4000; call += 100) {
		times[count++] = call + 10;
		times[count++] = call + 20;
		times[count++] = call + 10 * (call / 100 % 3);
		times[count++] = call + 15;
		times[count++] = call;
		times[count++] = call;
	}
	check_sorted(times, count);
}
