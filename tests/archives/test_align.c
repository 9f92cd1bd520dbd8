/* SPDX-License-Identifier: MIT */
/*
 * Archives of some machines, of which each has been recorded at another time, and messages between them: no clock is farther from the truth
 * than is said, in each of a thousand random cases.
 */
#include <criterion/criterion.h>

#include <inttypes.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

#include "archives/align.h"

enum { CASES = 1000, MACHINES_MAX = 4, ARCHIVES_MAX = 8, PROBES = 20 };

static uint64_t seed;

static double uniform(void)
{
	seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (double)(seed >> 11) / 9007199254740992.0;
}

static double between(double low, double high)
{
	return low + (high - low) * uniform();
}

static size_t below(size_t limit)
{
	return (size_t)(uniform() * (double)limit);
}

/* Its clock, when so much time has passed, ns. */
struct machine {
	double own, drift;
	double date; /* by how much that is wrong */
};

struct story {
	double length;
	bool has_dates;
	struct machine machines[MACHINES_MAX];
	size_t machine_count, count;
	size_t machine_of[ARCHIVES_MAX];
	double begins[ARCHIVES_MAX], ends[ARCHIVES_MAX];
	struct fx_aligned archives[ARCHIVES_MAX];
	struct fx_links *links;
};

static uint64_t clock_of(const struct story *story, size_t archive, double since)
{
	const struct machine *machine = &story->machines[story->machine_of[archive]];

	return (uint64_t)(machine->own + since * (1 + machine->drift));
}

/* When a record of both clocks is written, as exactly as they can be read. */
static void date_add(struct story *story, size_t archive, double since)
{
	const struct machine *machine = &story->machines[story->machine_of[archive]];
	double date = 1.7e18 + machine->date + since + between(-300, 300);

	cr_assert_eq(fx_clockmap_add(&story->archives[archive].facts.dates,
				     clock_of(story, archive, since), (uint64_t)date),
		     0);
}

static void archive_make(struct story *story, size_t archive)
{
	struct fx_facts *facts = &story->archives[archive].facts;
	double begin = archive ? between(0, story->length * 0.4) : story->length * 0.2;
	double end = between(story->length * 0.6, story->length);

	story->begins[archive] = begin;
	story->ends[archive] = end;
	facts->first_ns = clock_of(story, archive, begin);
	facts->last_ns = clock_of(story, archive, end);
	facts->has_clock = story->has_dates;
	if (!story->has_dates)
		return;
	facts->clock.boot[0] = 1 + story->machine_of[archive];
	for (int i = 0; i <= 5; i++)
		date_add(story, archive, begin + (end - begin) * i / 5);
}

static void message_send(struct story *story, uint64_t id, double least)
{
	size_t from = below(story->count), to = below(story->count);
	double begin = fmax(story->begins[from], story->begins[to]);
	double end = fmin(story->ends[from], story->ends[to]);
	double sent = between(begin, end), received = sent + least - log(1 - uniform()) * least;

	if (from == to || received > end)
		return;
	cr_assert_eq(fx_links_add(story->links, from, true, id, clock_of(story, from, sent)), 0);
	cr_assert_eq(fx_links_add(story->links, to, false, id, clock_of(story, to, received)), 0);
}

static void story_make(struct story *story)
{
	double least = pow(10, between(3, 5));
	unsigned messages = (unsigned)pow(10, between(1.5, 3));

	*story = (struct story){.length = pow(10, between(8, 10.5)), .links = fx_links_new()};
	cr_assert_not_null(story->links);
	story->has_dates = uniform() < 0.7;
	story->machine_count = 2 + below(MACHINES_MAX - 1);
	story->count = story->machine_count + below(ARCHIVES_MAX - story->machine_count + 1);
	for (size_t i = 0; i < story->machine_count; i++)
		story->machines[i] = (struct machine){.own = pow(10, between(11, 15)),
						      .drift = between(-50e-6, 50e-6),
						      .date = between(-3e8, 3e8)};
	for (size_t i = 0; i < story->count; i++) {
		story->machine_of[i] = i < story->machine_count ? i : below(story->machine_count);
		archive_make(story, i);
	}
	for (unsigned i = 0; i < messages * story->count; i++)
		message_send(story, 1 + i, least);
}

static void story_free(struct story *story)
{
	for (size_t i = 0; i < story->count; i++) {
		fx_clockmap_free(&story->archives[i].map);
		fx_clockmap_free(&story->archives[i].facts.dates);
	}
	fx_links_free(story->links);
}

/* The time that all are told by, which goes as the first archive's clock. */
static double common_time(const struct story *story, double since)
{
	const struct fx_clockmap *map = &story->archives[0].map;
	const struct fx_clockpoint *first = &map->points.items[0];
	double own = (double)(int64_t)(clock_of(story, 0, since) - first->from);

	return own * fx_clockmap_slope(map);
}

/* How many archives' clocks are said to be known. */
static unsigned story_check(struct story *story, unsigned number)
{
	uint64_t zero = story->archives[0].map.points.items[0].to;
	unsigned known = 0;

	for (size_t i = 1; i < story->count; i++) {
		struct fx_aligned *a = &story->archives[i];

		if (a->how == FX_ALIGN_NONE || isinf(a->error))
			continue;
		known++;
		for (int k = 0; k <= PROBES; k++) {
			double since =
			    story->begins[i] + (story->ends[i] - story->begins[i]) * k / PROBES;
			uint64_t got = fx_clockmap_to(&a->map, clock_of(story, i, since));
			double wrong = (double)(int64_t)(got - zero) - common_time(story, since);

			cr_assert_leq(fabs(wrong), a->error + 2,
				      "case %u: archive %zu of %zu (%s) is wrong by %.0f ns, and "
				      "said to be by %.0f at most",
				      number, i, story->count, fx_alignment_text(a->how), wrong,
				      a->error);
		}
	}
	return known;
}

Test(align, truth_is_as_near_as_is_said)
{
	unsigned known = 0;

	for (unsigned i = 0; i < CASES; i++) {
		struct story story;

		/* Half of them are other ones at each run. */
		seed = i % 2 ? i : i + ((uint64_t)time(NULL) << 20);
		cr_log_info("case %u: seed %" PRIu64, i, seed);
		story_make(&story);
		cr_assert_eq(fx_align(story.archives, story.count, story.links), 0);
		known += story_check(&story, i);
		story_free(&story);
	}
	cr_assert_gt(known, CASES, "clocks that are known: %u", known);
}
