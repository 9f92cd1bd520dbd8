/* SPDX-License-Identifier: MIT */
/* Async events of several threads, whose records come in any order: an end is left out only where nothing had begun. */
#include <criterion/criterion.h>

#include "tests/format/random_record.h"
#include "tests/manager/archive/pieces.h"

#define THREADS 4u
#define EVENTS	600u
#define IDS	3u

TestSuite(asyncs, .fini = archive_remove);

struct event {
	enum fxt_event_type type;
	uint64_t ns, id;
	unsigned thread;
};

static void put_async(const struct event *e)
{
	const uint64_t record[3] = {event_header(e->type, 3, NAME), e->ns, e->id};

	put(record, 3);
}

/* One after another on each id, each begin and end on some thread. */
static void events_make(struct random_source *random, struct event *ret)
{
	bool is_open[IDS] = {false};

	for (unsigned i = 0; i < EVENTS; i++) {
		unsigned id = i < EVENTS - IDS ? (unsigned)random_below(random, IDS) : 0;

		while (i >= EVENTS - IDS && id < IDS - 1 && !is_open[id])
			id++;
		ret[i] = (struct event){
		    .type = is_open[id] ? FXT_EVENT_ASYNC_END : FXT_EVENT_ASYNC_BEGIN,
		    .ns = 10 + 10 * i,
		    .id = 100 + id,
		    .thread = (unsigned)random_below(random, THREADS),
		};
		is_open[id] = !is_open[id];
	}
}

/* Those of each thread in their order, a few at a time, from whichever thread. */
static void events_send(struct random_source *random, const struct event *events)
{
	unsigned next[THREADS] = {0}, chunk = 0, left = EVENTS;

	while (left) {
		unsigned thread = (unsigned)random_below(random, THREADS);
		unsigned most = 1 + (unsigned)random_below(random, 40);

		put_thread(TID + thread);
		for (; next[thread] < EVENTS && most; next[thread]++) {
			if (events[next[thread]].thread != thread)
				continue;
			put_async(&events[next[thread]]);
			most--;
			left--;
		}
		send_chunk(chunk, chunk, WHOLE);
		chunk++;
	}
}

/* How many are open of an id, in order of time. */
struct look {
	struct event seen[EVENTS];
	unsigned count;
};

static void look_at(const struct fxt_record *record, void *context)
{
	struct look *look = context;

	if (record->kind != FXT_KIND_EVENT || (record->event.type != FXT_EVENT_ASYNC_BEGIN &&
					       record->event.type != FXT_EVENT_ASYNC_END))
		return;
	cr_assert_lt(look->count, EVENTS);
	look->seen[look->count++] = (struct event){
	    .type = record->event.type, .ns = record->event.timestamp, .id = record->event.id};
}

static int event_compare(const void *a, const void *b)
{
	const struct event *x = a, *y = b;

	return (x->ns > y->ns) - (x->ns < y->ns);
}

/* No end has nothing to end. */
static void expect_valid(struct look *look)
{
	int open[IDS] = {0};

	qsort(look->seen, look->count, sizeof(*look->seen), event_compare);
	for (unsigned i = 0; i < look->count; i++) {
		uint64_t id = look->seen[i].id - 100;

		cr_assert_lt(id, IDS);
		open[id] += look->seen[i].type == FXT_EVENT_ASYNC_BEGIN ? 1 : -1;
		cr_assert_geq(open[id], 0, "an end at %u", (unsigned)look->seen[i].ns);
	}
}

static void one_case(uint64_t seed, bool lacks_some)
{
	static struct event events[EVENTS];
	static struct look look;
	struct random_source random = {.state = seed};
	unsigned kept = 0, ends = 0;

	events_make(&random, events);
	if (lacks_some) {
		/* Begins that are no begins: their ends have nothing to end. */
		for (unsigned i = 0; i < EVENTS; i += 7)
			if (events[i].type == FXT_EVENT_ASYNC_BEGIN)
				events[i].type = FXT_EVENT_ASYNC_INSTANT;
	}
	pieces_begin();
	events_send(&random, events);
	if (!lacks_some)
		cr_expect_eq(pieces_end().lost[FX_CAUSE_UNBEGUN], 0, "seed %u", (unsigned)seed);
	else
		pieces_end();
	look.count = 0;
	archive_each(archive_path(), look_at, &look);
	for (unsigned i = 0; i < look.count; i++)
		kept += look.seen[i].type == FXT_EVENT_ASYNC_END;
	for (unsigned i = 0; i < EVENTS; i++)
		ends += events[i].type == FXT_EVENT_ASYNC_END;
	if (!lacks_some)
		cr_expect_eq(kept, ends, "%u of %u ends, seed %u", kept, ends, (unsigned)seed);
	expect_valid(&look);
}

Test(asyncs, threads_whose_events_come_in_any_order, .timeout = 120)
{
	for (uint64_t seed = 1; seed <= 40; seed++)
		one_case(seed, false);
}

Test(asyncs, ends_that_end_nothing_make_no_archive_wrong, .timeout = 120)
{
	for (uint64_t seed = 1; seed <= 40; seed++)
		one_case(seed, true);
}
