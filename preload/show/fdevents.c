/* SPDX-License-Identifier: MIT */
#include "preload/show/fdevents.h"

#include <string.h>

#include "engine/provider/engine.h"

/* By number, modulo how many there are: a newer one takes the place of an older. A forked child has a copy, as it has the descriptors. */
static struct event {
	uint64_t made;	/* ticks */
	uint32_t maker; /* a process */
	uint32_t is;	/* the descriptor + 1, and MARK; 0: none */
} events[256] FX_LARGE;

#define MARK_SEMAPHORE (1u << 31)

uint32_t fx_events_are_known;

static struct event *event_place(int fd)
{
	return &events[(uint32_t)fd % FX_ARRAY_LEN(events)];
}

/* relaxed, here and below: a number is used after its descriptor was made, in an order that the program has to care for; a thread that
 * asks while it is closed sees another one, or none */
static uint32_t event_is(const struct event *e)
{
	return fx_load_relaxed(&e->is);
}

static bool event_is_of(const struct event *e, int fd)
{
	return (event_is(e) & ~MARK_SEMAPHORE) == (uint32_t)fd + 1;
}

static void event_set(int fd, uint32_t maker, uint64_t made, uint32_t mark)
{
	struct event *e = event_place(fd);

	fx_store_relaxed(&e->is, 0);
	fx_store_relaxed(&e->maker, maker);
	fx_store_relaxed(&e->made, made);
	fx_store_relaxed(&e->is, ((uint32_t)fd + 1) | mark);
	if (!fx_load_relaxed(&fx_events_are_known))
		fx_store_relaxed(&fx_events_are_known, 1);
}

void fx_event_made(int fd, bool is_semaphore)
{
	event_set(fd, (uint32_t)fx_engine.pid, fx_now(), is_semaphore ? MARK_SEMAPHORE : 0);
}

void fx_event_copied(int from, int to)
{
	const struct event *e = event_place(from);

	if (event_is_of(e, from))
		event_set(to, fx_load_relaxed(&e->maker), fx_load_relaxed(&e->made),
			  event_is(e) & MARK_SEMAPHORE);
}

bool fx_event_name(struct fx_text *t, int fd)
{
	const struct event *e = event_place(fd);

	if (!event_is_of(e, fd))
		return false;
	fx_text_char(t, ' ');
	fx_text_number(t, fx_load_relaxed(&e->maker), 10);
	fx_text_char(t, '-');
	fx_text_number(t, fx_load_relaxed(&e->made), 10);
	if (event_is(e) & MARK_SEMAPHORE)
		fx_text_string(t, " semaphore");
	return true;
}

fx_cold void fx_event_drop(int fd)
{
	struct event *e = event_place(fd);

	if (event_is_of(e, fd))
		fx_store_relaxed(&e->is, 0);
}

fx_cold void fx_event_drop_range(uint32_t first, uint32_t last)
{
	for (size_t i = 0; i < FX_ARRAY_LEN(events); i++) {
		uint32_t is = event_is(&events[i]) & ~MARK_SEMAPHORE;

		if (is && is - 1 >= first && is - 1 <= last)
			fx_store_relaxed(&events[i].is, 0);
	}
}
