/* SPDX-License-Identifier: MIT */
/* The events' usual half: no register is saved, and whatever else there is goes on by a jump. */
#include "preload/events/events.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "engine/provider/frame.h"
#include "engine/provider/observer.h"
#include "engine/provider/record.h"
#include "engine/provider/site.h"
#include "engine/provider/string.h"
#include "preload/call/call.h"
#include "preload/events/events-internal.h"

_Static_assert(FXTRACE_PLACE_ON == FX_SITE_ENABLED, "what a place remembers");
_Static_assert(offsetof(struct fx_control, state) == FXTRACE_STATE_OFFSET,
	       "where sites look for the word of state");
_Static_assert(offsetof(struct fxtrace_place, state) == offsetof(struct fx_site, state),
	       "a place begins as a site");

/* Not part of its caller, whose registers it would save. */
#define APART __attribute__((noinline))

/* False: nothing has happened. */
fx_hot bool write_usually(struct fxtrace_place *place, unsigned type, const char *name,
			  uint64_t number, const struct fxtrace_arg *args, size_t count)
{
	struct fx_thread *t = fx_thread_usual();
	unsigned words = plain_args_words(args, count);
	uint64_t names, *p, *end;

	if (fx_unlikely(!t || !words || !place_knows(place, name, &names)))
		return false;
	words += 1 + event_has_number(type, number);
	if (fx_unlikely(!fx_record_reserve_easily(t, words, (struct fx_claim){0}, &p)))
		return false;
	p[1] = fx_thread_time(t, fx_counter());
	end = plain_args_put(p + 2, place_keys(place), args, count);
	if (end < p + words)
		*end = number;
	fx_record_publish(p, PLACE_HEADER(names, type, words, count));
	fx_record_over(t, 0);
	return true;
}

static APART void write_of_many(struct fxtrace_place *place, unsigned type, const char *category,
				const char *name, uint64_t number, const struct fxtrace_arg *args,
				size_t count)
{
	if (fx_unlikely(!write_usually(place, type, name, number, args, count)))
		fx_events_write_slowly(place, type, category, name, number, args, count);
}

/* Most have one argument or none, which takes no loop, and fewer registers. */
static void events_write(struct fxtrace_place *place, unsigned type, const char *category,
			 const char *name, uint64_t number, const struct fxtrace_arg *args,
			 size_t count)
{
	if (count == 0 && fx_likely(write_usually(place, type, name, number, args, 0)))
		return;
	if (count == 1 && fx_likely(write_usually(place, type, name, number, args, 1)))
		return;
	if (count > 1)
		write_of_many(place, type, category, name, number, args, count);
	else
		fx_events_write_slowly(place, type, category, name, number, args, count);
}

/* On this stack, and neither what was left, nor several durations of one function, among which one may have been: see
 * scope_settle(). */
fx_hot bool scope_is_plainly_inside(const struct fx_frame *newest, uint64_t sp, uint64_t below)
{
	return sp >= below && fx_frame_sp(newest) >= below &&
	       (newest->key != FX_SCOPE_KEY ||
		(newest[-1].key != FX_SCOPE_KEY && fx_frame_sp(newest) != sp));
}

static void events_open(struct fxtrace_scope *scope)
{
	struct fx_thread *t = fx_thread_usual();
	uint64_t names, header, start;
	struct fx_frame *f;

	if (fx_unlikely(!t || !place_knows(scope->place, scope->name, &names)))
		goto slowly;
	f = t->top;
	if (fx_unlikely(f >= t->limit ||
			!scope_is_plainly_inside(&f[-1], (uint64_t)(uintptr_t)scope, FX_CFA())))
		goto slowly;
	header = PLACE_HEADER(names, FX_EVENT_COMPLETE, FX_CALL_WORDS, 0);
	if (fx_unlikely(!fx_frame_take(t, f, header, (uint64_t)(uintptr_t)scope, FX_SCOPE_KEY))) {
		fx_frame_take_back(t, f);
		goto slowly;
	}
	start = fx_thread_time(t, fx_counter());
	fx_store_release(&f->start, start); /* pairs with the frame walk in reader/slots.c */
	FX_FAULT(frame_pushed);
	scope->thread = t;
	scope->frame = f;
	scope->start = start;
	return;
slowly:
	fx_events_open_slowly(scope, FX_CFA());
}

/* `below': as of fx_events_close_slowly(). */
static APART void close_of_arguments(struct fxtrace_scope *scope, uint64_t below)
{
	struct fx_thread *t = fx_thread_usual();
	unsigned words = plain_args_words(scope->args, scope->count);
	struct fx_claim claim = scope_claim(scope);
	struct fx_frame *f = scope->frame;
	uint64_t names, end, *p;

	if (fx_unlikely(!f || !t || !words || t != scope->thread || t->top != f + 1 ||
			f->start != claim.time || !place_knows(scope->place, scope->name, &names)))
		goto slowly;
	end = fx_thread_time(t, fx_counter());
	words += 2;
	if (fx_unlikely(!fx_record_reserve_easily(t, words, claim, &p)))
		goto slowly;
	/* A handler may have closed it just now. */
	if (fx_unlikely(!fx_open_stands((struct fx_open){f, claim.time}))) {
		fx_record_disclaim(t, p, claim, 0);
		return;
	}
	*plain_args_put(p + 2, place_keys(scope->place), scope->args, scope->count) = end;
	fx_record_publish(p, PLACE_HEADER(names, FX_EVENT_COMPLETE, words, scope->count));
	fx_frame_done(t, f, 0);
	return;
slowly:
	fx_events_close_slowly(scope, below);
}

/* Both strings have an index: the header of a frame is that of its record. */
fx_hot bool header_has_names(uint64_t header)
{
	return header >> 48 && (header >> 32 & 0xffff);
}

/* Without arguments, which takes fewer registers. */
static void events_close(struct fxtrace_scope *scope)
{
	struct fx_claim claim = scope_claim(scope);
	struct fx_frame *f = scope->frame;
	struct fx_thread *t;
	uint64_t header, end, *p;

	if (scope->count) {
		close_of_arguments(scope, FX_CFA());
		return;
	}
	t = fx_thread_usual();
	if (fx_unlikely(!f || !t || t != scope->thread || t->top != f + 1 ||
			f->start != claim.time))
		goto slowly;
	header = f->id;
	if (fx_unlikely(!header_has_names(header)))
		goto slowly;
	end = fx_thread_time(t, fx_counter());
	if (fx_unlikely(!fx_record_reserve_easily(t, FX_CALL_WORDS, claim, &p)))
		goto slowly;
	/* A handler may have closed it just now. */
	if (fx_unlikely(!fx_open_stands((struct fx_open){f, claim.time}))) {
		fx_record_disclaim(t, p, claim, 0);
		return;
	}
	p[2] = end;
	fx_record_publish(p, header);
	fx_frame_done(t, f, 0);
	return;
slowly:
	fx_events_close_slowly(scope, FX_CFA());
}

/* --- Elsewhere -------------------------------------------------------------------------------------- */

/* Short literals that stand together have the same slot, or its neighbours: so many are looked at. */
#define EVENT_PROBES 16

/* Such an event's macro hands on no place, so its texts are looked up, where they mostly are. False: one is not known. */
fx_hot bool event_knows(const char *text, uint64_t *ret)
{
	uint64_t address = (uint64_t)(uintptr_t)text;
	const uint64_t *slot = fx_string_slot(address),
		       *last = &fx_engine.wiped->functions[FX_FUNCTION_SLOTS - 1];

	for (unsigned i = 0; i < EVENT_PROBES && slot <= last; i++, slot++) {
		/* relaxed: as in the hooks, a slot is one word; the record that it names was published before it */
		uint64_t s = fx_load_relaxed(slot);

		*ret = s & FX_ADDRESS_INDEX;
		if (s >> FX_ADDRESS_SHIFT == address)
			return text && *ret;
	}
	return false;
}

fx_hot bool event_knows_keys(const struct fxtrace_arg *args, size_t count, uint16_t *ret)
{
	for (size_t i = 0; i < count; i++) {
		uint64_t key;

		if (fx_unlikely(!event_knows(args[i].key, &key)))
			return false;
		ret[i] = (uint16_t)key;
	}
	return true;
}

static void events_write_at(const struct fxtrace_at *at, unsigned type, const char *category,
			    const char *name, uint64_t number, const struct fxtrace_arg *args,
			    size_t count)
{
	struct fx_thread *t = fx_thread_usual();
	unsigned words = plain_args_words(args, count);
	uint64_t of_category, of_name, called, *p, *end;
	uint16_t keys[EVENT_ARGS_MAX];

	if (fx_unlikely(!t || !words || type > FX_EVENT_FLOW_END || type == FX_EVENT_COMPLETE ||
			at->ticks == 0 || at->ticks > INT64_MAX ||
			!event_knows(category, &of_category) || !event_knows(name, &of_name) ||
			!event_knows(at->vthread, &called) || !event_knows_keys(args, count, keys)))
		goto slowly;
	words += 3 + event_has_number(type, number);
	if (fx_unlikely(!fx_record_reserve_easily(t, words, (struct fx_claim){0}, &p)))
		goto slowly;
	p[1] = at->ticks;
	p[2] = (uint32_t)fx_engine.pid | called << FX_VTHREAD_NAME_SHIFT;
	p[3] = at->id | FX_VTHREAD;
	end = plain_args_put(p + 4, keys, args, count);
	if (end < p + words)
		*end = number;
	fx_record_publish(p, FX_EVENT_HEADER_AT(type, words, count, of_category, of_name));
	fx_record_over(t, 0);
	return;
slowly:
	fx_events_write_at_slowly(at, type, category, name, number, args, count);
}

/* --- The rest -------------------------------------------------------------------------------------- */

static uint64_t events_look(struct fxtrace_place *place, const char *category)
{
	if (!fx_load_relaxed(
		&place->state)) /* relaxed: two that see it are one too many, no more */
		fx_events_category_known(category, NULL);
	return fx_site_look((struct fx_site *)place, category ? category : "");
}

static bool events_enabled(void)
{
	/* relaxed: it is nothing but a hint */
	uint64_t state = fx_load_relaxed(&fx_control()->state);

	return (uint32_t)state && !(state & FX_STATE_STOPPING);
}

static uint64_t events_ticks(void)
{
	return events_enabled() ? fx_now() : 0;
}

/* Of an id that is given while nothing is recorded; the others are unique in the session (fx_flow_id_new()). */
#define NONCE_IDLE (1ull << 62)

static uint64_t events_nonce(void)
{
	static uint64_t numbers;
	struct fx_thread *t = fx_thread_on(EVENT_ANY_CATEGORY);

	return t ? fx_flow_id_new(t) : NONCE_IDLE | (fx_add_relaxed(&numbers, 1) + 1);
}

static int events_alert(const char *name)
{
	size_t length = name ? strnlen(name, FX_ALERT_BYTES + 1) : 0;
	int before = errno, r = fx_engine_alert(name, length);

	errno = before;
	return r;
}

/* --- Observers --------------------------------------------------------------------------------------- */

_Static_assert(sizeof(struct fxtrace_observer) == sizeof(struct fx_observer) &&
		   offsetof(struct fxtrace_observer, next) == offsetof(struct fx_observer, next) &&
		   offsetof(struct fxtrace_observer, seen) == offsetof(struct fx_observer, seen),
	       "an observer of the program's is the engine's");
_Static_assert((unsigned)FXTRACE_PHASE_STOPPED == FX_PHASE_STOPPED &&
		   (unsigned)FXTRACE_PHASE_STARTED == FX_PHASE_STARTED &&
		   (unsigned)FXTRACE_PHASE_STOPPING == FX_PHASE_STOPPING,
	       "phases");

static int events_observe(struct fxtrace_observer *observer)
{
	return fx_observer_add((struct fx_observer *)observer);
}

static int events_unobserve(struct fxtrace_observer *observer)
{
	return fx_observer_remove((struct fx_observer *)observer);
}

static int events_await(struct fxtrace_observer *observer, uint64_t timeout_ns,
			enum fxtrace_phase *ret)
{
	enum fx_phase phase;
	int r = fx_observer_wait((struct fx_observer *)observer, timeout_ns, &phase);

	if (r == 0)
		*ret = (enum fxtrace_phase)phase;
	return r;
}

const struct fxtrace_events fx_events_table = {
    .size = sizeof(fx_events_table),
    .control = (const void *const *)(const void *)&fx_engine.control,
    .state_offset = FXTRACE_STATE_OFFSET,
    .look = events_look,
    .enabled = events_enabled,
    .nonce = events_nonce,
    .write = events_write,
    .open = events_open,
    .close = events_close,
    .alert = events_alert,
    .put = fx_events_put,
    .describe = fx_events_category_known,
    .write_at = events_write_at,
    .ticks = events_ticks,
    .koid = fx_events_koid,
    .observe = events_observe,
    .unobserve = events_unobserve,
    .await = events_await,
    .write_past = fx_events_write_past,
};

extern const struct fxtrace_events __fxtrace_events
    __attribute__((alias("fx_events_table"), visibility("default")));
