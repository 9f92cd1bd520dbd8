/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <errno.h>
#include <string.h>

#include "report/holds.h"
#include "report/show.h"

enum { LOCKS_MAX = 200000, OPEN_MAX = 1000 };

/* --- What is seen ----------------------------------------------------------------------------- */

/* The number of the lock that a call is about; FX_KEY_NONE: there is no room, or it is about none. */
static size_t holds_number(struct fx_holds *holds, const struct fx_open_call *call,
			   const struct fx_event *event)
{
	static const char *const names[] = {"mutex", "rwlock", "spin", "lock"};
	struct fx_key key = {.numbers = {call->thread->process->number}};
	int64_t address = 0;
	size_t number;

	for (size_t i = 0; i < sizeof(names) / sizeof(*names) && !address; i++)
		fx_event_integer(event, names[i], &address);
	if (!address)
		return FX_KEY_NONE;
	key.address = (uint64_t)address;
	holds->locks.limit = holds->places.keys.limit = LOCKS_MAX;
	number = fx_keys_number(&holds->locks, key);
	while (number != FX_KEY_NONE && number >= holds->held.count) {
		if (fx_vector_reserve(&holds->held, 1) < 0)
			return FX_KEY_NONE;
		holds->held.items[holds->held.count++] = (struct fx_held){0};
	}
	return number;
}

static int holds_count(struct fx_holds *holds, const struct fx_hold *hold, uint64_t until)
{
	uint64_t time = until > hold->since ? until - hold->since : 0;

	holds->held.items[hold->lock].time += time;
	return fx_shares_add(&holds->places, hold->lock, hold->place, time);
}

/* What a thread holds at its end stays held. */
static int holds_leave(struct fx_holds *holds, const struct fx_report *report)
{
	int r = 0;

	for (size_t i = 0; i < holds->open.count && r == 0; i++)
		r = holds_count(holds, &holds->open.items[i], fx_report_end(report));
	holds->open.count = 0;
	return r;
}

/* NULL: the thread does not hold it, as far as is known. */
static struct fx_hold *holds_find(struct fx_holds *holds, size_t lock)
{
	for (size_t i = holds->open.count; i-- > 0;) {
		if (holds->open.items[i].lock == lock)
			return &holds->open.items[i];
	}
	return NULL;
}

static int holds_take(struct fx_holds *holds, size_t lock, uint64_t since, uint32_t place)
{
	struct fx_hold *hold = holds_find(holds, lock);

	if (hold) {
		hold->times++;
		return 0;
	}
	if (holds->open.count == OPEN_MAX)
		return 0;
	if (fx_vector_reserve(&holds->open, 1) < 0)
		return -ENOMEM;
	holds->open.items[holds->open.count++] = (struct fx_hold){since, lock, place, 1};
	return 0;
}

static int holds_release(struct fx_holds *holds, size_t lock, uint64_t ts)
{
	struct fx_hold *hold = holds_find(holds, lock);
	int r;

	holds->has_releases = true;
	if (!hold || --hold->times > 0)
		return 0;
	r = holds_count(holds, hold, ts);
	*hold = holds->open.items[--holds->open.count];
	return r;
}

/* A wait for a condition lets go of the mutex meanwhile. */
static int holds_wait(struct fx_holds *holds, size_t lock, const struct fx_open_call *call)
{
	struct fx_hold *hold = holds_find(holds, lock);
	int r;

	if (!hold)
		return 0;
	r = holds_count(holds, hold, call->ts);
	hold->since = call->end;
	return r;
}

int fx_holds_enter(struct fx_holds *holds, struct fx_report *report,
		   const struct fx_open_call *call, const struct fx_event *event, uint32_t place)
{
	enum fx_deed deed = fx_deeds_of(&holds->deeds, fx_report_texts(report), call->name);
	size_t lock;
	int r = 0;

	if (deed != FX_DEED_TAKE && deed != FX_DEED_RELEASE && deed != FX_DEED_WAIT)
		return 0;
	if (call->thread != holds->thread) {
		r = holds_leave(holds, report);
		holds->thread = call->thread;
	}
	lock = holds_number(holds, call, event);
	if (r < 0 || lock == FX_KEY_NONE)
		return r;
	switch (deed) {
	case FX_DEED_TAKE:
		return fx_deeds_has_taken(event, call->is_unfinished)
			   ? holds_take(holds, lock, call->end, place)
			   : 0;
	case FX_DEED_RELEASE:
		return holds_release(holds, lock, call->ts);
	default:
		return holds_wait(holds, lock, call);
	}
}

/* --- What is known ---------------------------------------------------------------------------- */

int fx_holds_finish(struct fx_holds *holds, const struct fx_report *report)
{
	const struct fx_shares *places = &holds->places;
	int r = holds_leave(holds, report);

	for (size_t i = 0; i < places->times.count; i++) {
		const struct fx_key *key = &places->keys.keys.items[i];
		struct fx_held *held = &holds->held.items[key->address];

		if (places->times.items[i] > held->longest) {
			held->place = key->numbers[0];
			held->longest = places->times.items[i];
		}
	}
	return r;
}

bool fx_holds_any(const struct fx_holds *holds)
{
	return holds->has_releases;
}

const struct fx_held *fx_holds_of(struct fx_holds *holds, uint64_t address, uint32_t process)
{
	struct fx_key key = {.address = address, .numbers = {process}};

	if (!holds->has_releases || !fx_keys_has(&holds->locks, key))
		return NULL;
	return &holds->held.items[fx_keys_number(&holds->locks, key)];
}

void fx_holds_free(struct fx_holds *holds)
{
	fx_keys_free(&holds->locks);
	fx_vector_free(&holds->held);
	fx_shares_free(&holds->places);
	fx_vector_free(&holds->open);
	fx_deeds_free(&holds->deeds);
}
