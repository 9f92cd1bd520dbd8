/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <errno.h>
#include <string.h>

#include "report/charges.h"
#include "report/deeds.h"
#include "report/waiting.h"

enum { CHARGES_MAX = 200000, OPEN_MAX = 4096 };

void fx_charges_free(struct fx_charges *charges)
{
	for (size_t i = 0; i < charges->states.count; i++)
		fx_vector_free(&charges->states.items[i].open);
	fx_vector_free(&charges->states);
	fx_vector_free(&charges->items);
	fx_keys_free(&charges->keys);
}

static int charges_put(struct fx_charges *charges, uint32_t object, uint32_t waiter, uint32_t whom,
		       uint64_t since, uint64_t until)
{
	struct fx_key key = {.address = object, .numbers = {waiter, whom}};
	struct fx_charge *charge;
	uint64_t time;
	size_t number;

	/* What is over before the range begins, or comes behind it. */
	if (until < charges->from || since > charges->to)
		return 0;
	since = since < charges->from ? charges->from : since;
	until = until > charges->to ? charges->to : until;
	time = until > since ? until - since : 0;
	if (fx_vector_reserve(&charges->items, 1) < 0)
		return -ENOMEM;
	charges->keys.limit = CHARGES_MAX;
	number = fx_keys_number(&charges->keys, key);
	if (number == FX_KEY_NONE)
		return 0;
	if (number == charges->items.count)
		charges->items.items[charges->items.count++] = (struct fx_charge){0};
	charge = &charges->items.items[number];
	charge->count++;
	charge->total += time;
	if (time > charge->longest || charge->count == 1) {
		charge->longest = time;
		charge->longest_at = since;
	}
	return 0;
}

/* A wait up to then. What had waited for no time has nothing to charge, unless it is over. */
static int charges_settle(struct fx_charges *charges, uint32_t object, struct fx_charge_open *open,
			  uint64_t until, bool is_over)
{
	uint32_t holder = charges->states.items[object].holder;
	uint32_t whom = holder && holder != 1 + open->thread ? holder : open->from;
	uint64_t since = open->since;

	if (!open->waits || (until <= since && !is_over))
		return 0;
	open->since = until;
	return charges_put(charges, object, open->thread, whom, since, until);
}

/* From now on this thread has it. */
static int charges_take(struct fx_charges *charges, uint32_t object, uint32_t thread, uint64_t ts)
{
	struct fx_charge_state *state = &charges->states.items[object];
	int r = 0;

	if (state->holder == 1 + thread)
		return 0;
	for (size_t i = 0; i < state->open.count && r == 0; i++)
		r = charges_settle(charges, object, &state->open.items[i], ts, false);
	state->holder = 1 + thread;
	return r;
}

/* Those that are over by then, in order of their ends. */
static int charges_end(struct fx_charges *charges, uint32_t object, uint64_t ts)
{
	struct fx_charge_state *state = &charges->states.items[object];
	int r = 0;

	while (r == 0) {
		struct fx_charge_open open;
		size_t first = 0;

		for (size_t i = 1; i < state->open.count; i++) {
			if (state->open.items[i].end < state->open.items[first].end)
				first = i;
		}
		if (state->open.count == 0 || state->open.items[first].end > ts)
			return 0;
		open = state->open.items[first];
		state->open.items[first] = state->open.items[--state->open.count];
		r = charges_settle(charges, object, &open, open.end, true);
		if (r == 0 && open.takes)
			r = charges_take(charges, object, open.thread, open.end);
	}
	return r;
}

static int charges_make_room(struct fx_charges *charges, uint32_t object)
{
	size_t more = object + 1 - charges->states.count;

	if (object < charges->states.count)
		return 0;
	if (fx_vector_reserve(&charges->states, more) < 0)
		return -ENOMEM;
	memset(&charges->states.items[charges->states.count], 0,
	       more * sizeof(struct fx_charge_state));
	charges->states.count += more;
	return 0;
}

int fx_charges_add(struct fx_charges *charges, uint32_t object, const struct fx_use *use,
		   uint32_t from, bool waits)
{
	struct fx_charge_open open = {use->end, use->begin, use->thread,
				      from,	waits,	    use->flags & FX_USE_TAKES};
	struct fx_charge_state *state;
	int r;

	if (use->wait != FX_WAIT_LOCK && use->deed != FX_DEED_TAKE && use->deed != FX_DEED_WAIT)
		return waits ? charges_put(charges, object, use->thread, from, use->begin, use->end)
			     : 0;
	r = charges_make_room(charges, object);
	if (r == 0)
		r = charges_end(charges, object, use->begin);
	if (r == 0 && use->holder)
		r = charges_take(charges, object, use->holder - 1, use->begin);
	if (r < 0)
		return r;
	state = &charges->states.items[object];
	if (state->open.count == OPEN_MAX)
		return charges_put(charges, object, use->thread, use->holder ? use->holder : from,
				   use->begin, use->end);
	if (fx_vector_reserve(&state->open, 1) < 0)
		return -ENOMEM;
	state->open.items[state->open.count++] = open;
	return 0;
}

int fx_charges_finish(struct fx_charges *charges)
{
	int r = 0;

	for (size_t i = 0; i < charges->states.count && r == 0; i++)
		r = charges_end(charges, (uint32_t)i, UINT64_MAX);
	return r;
}
