/* SPDX-License-Identifier: MIT */
/*
 * Calls that were left without their exit (longjmp, exceptions): closed, and their records written. And which code closes
 * a call when several may: each has one record.
 *
 * A signal handler may come anywhere. It may return, or leave by siglongjmp(); and while it runs it may find that calls
 * were left, and close them: those that the interrupted code is just about to close among them. So all code that
 * closes a call takes these steps, and the table says what holds for a handler that finds the call after each of them, or
 * for the code that goes on after a jump out of it:
 *
 *	step				the call is	for a handler on it	after a jump
 *	1 the end's time is taken	open		closes it		closes it
 *	2 the level is marked: busy	open		closes it		closes it
 *	3 the call's start is stored in
 *	  the record's place: a claim	claimed		leaves it alone		closes it: the claim is no record,
 *	4 the place is reserved						and nothing is lost
 *	5 is the call still as it was?	claimed		leaves it alone		the same; the chunk ends before it
 *	  (no: both are taken back)
 *	6 the header is stored		recorded	leaves it alone		takes it off without a record
 *	7 its frame has no start	closed		nothing to do		takes it off without a record
 *	8 the top is lowered		gone		nothing to do		nothing to do
 *	9 the level is free		gone		nothing to do		nothing to do
 *
 * What makes them right:
 *
 *	- A handler that closes a call between 1 and 3 is found out at 5. The store of 3 and the look of 5 are of one
 *	  thread: either the handler came before 3, and 5 sees it, or later, and it saw 3.
 *	- From 3 to 8 the level is busy, by the stack address of the code that closes; so its chunk is not given back, and the
 *	  claim, or the newest record, stands at its end. All that close calls look there first. An address below
 *	  which nothing goes on any more is stale: no code will go on from there (lowest_free()).
 *	- Starts are unique in a thread, so they name calls.
 *	- What was left lies deepest and ends first: each call that is closed here takes a time of its own, for handlers
 *	  may have closed others since the last one.
 *
 * A handler leaves a claimed call, and those below it, alone; what it calls stands above them. Without unwind tables it
 * may be unknown whether the code that was at the claim goes on: then the call ends a little later.
 *
 * An entry stores the stack address of its frame before the top is raised, and its start last:
 *
 *	step				for a handler on it		after a jump
 *	1 stack address stored		uses the frame itself: found	nothing to do
 *					out at 3
 *	2 the top is raised		the call is not over: uses the	takes it off: it had not begun
 *	3 is the address as it was?	frames above			the same
 *	4 function and place stored	the same			the same
 *	5 the start is stored		the same			closes it
 *
 * With begin and end records the call is marked as silent before 5, and its begin is claimed, published and settled as
 * above: after a jump before that is published the call had not begun, later it is no longer silent. Its end is
 * claimed by the end's time, which the frame's key says from then on.
 *
 * Beyond this: a handler that returns, but has left calls of its own by a jump inside itself. They are closed by the
 * next exit, unless the handler came between its look at the top and the store of it: then they have no record. And a
 * record that found no room is counted before the call is taken off: a jump between the two counts it again.
 */
#include "engine/provider/chunk.h"
#include "engine/provider/frame.h"
#include "engine/provider/function.h"
#include "engine/provider/record.h"

/* An address is below 2^48; a header has its name reference there. */
static bool is_function(const struct fx_frame *f)
{
	return !(f->id >> 48);
}

/* --- The call whose record is under way ------------------------------------------------------- */

/* The open call that began at `time`, or whose end is being written with it: of a function, for the key of another call may
 * be any number. */
static struct fx_frame *frame_of(const struct fx_thread *t, uint64_t time)
{
	for (struct fx_frame *f = t->top - 1; time && f > t->slot->frames; f--) {
		if (f->start && (f->start == time || (is_function(f) && f->key == time)))
			return f;
	}
	return NULL;
}

/* What stands at the end of a level's chunk. */
struct newest {
	const uint64_t *record; /* the newest that is published; NULL: none */
	const uint64_t *place;	/* behind it */
	const uint64_t *end;
};

/* False: the level has no chunk, or gave it back. */
static bool newest_find(const struct fx_thread *t, unsigned level, struct newest *ret)
{
	const struct fx_cursor *c = &t->cursor[level];
	unsigned words;

	/* Given back for the thread, it may be another's by now. */
	if (!fx_chunk_is_held(t, c))
		return false;
	*ret =
	    (struct newest){.place = c->chunk, .end = c->chunk + fx_engine.layout.chunk_size / 8};
	while (ret->place < c->pos && (words = *ret->place >> 4 & 0xfff) != 0) {
		ret->record = ret->place;
		ret->place += words;
	}
	return true;
}

/* The open call that claims the place behind the newest record. */
static struct fx_frame *claim_in(const struct fx_thread *t, const struct newest *n)
{
	struct fx_frame *f = n->place + 1 < n->end ? frame_of(t, n->place[1]) : NULL;

	if (!f && n->place + FX_CLAIM_DEFINED < n->end)
		f = frame_of(t, n->place[FX_CLAIM_DEFINED]);
	return f;
}

static enum fx_event_type event_type(uint64_t header)
{
	return (enum fx_event_type)(header >> 16 & 0xf);
}

/* The open call that the newest record is of. */
static struct fx_frame *recorded_in(const struct fx_thread *t, const struct newest *n)
{
	if (!n->record || (*n->record & 0xf) != 4)
		return NULL;
	switch (event_type(*n->record)) {
	case FX_EVENT_BEGIN:
	case FX_EVENT_END:
	case FX_EVENT_COMPLETE:
		return frame_of(t, n->record[1]);
	default:
		return NULL;
	}
}

fx_cold bool fx_frame_settle(struct fx_thread *t, unsigned level)
{
	struct fx_frame *f;
	struct newest n;

	if (!newest_find(t, level, &n))
		return false;
	if (claim_in(t, &n))
		return true;
	f = recorded_in(t, &n);
	if (f && event_type(*n.record) == FX_EVENT_BEGIN)
		f->sp &= ~FX_FRAME_SILENT;
	else if (f)
		f->sp |= FX_FRAME_SILENT;
	return f;
}

/* The lowest frame that may be closed, by the table above: those below it are claimed, or below one that is. */
static struct fx_frame *lowest_free(struct fx_thread *t, uint64_t sp)
{
	struct fx_frame *lowest = &t->slot->frames[1], *f;

	for (unsigned i = 0; i < FX_LEVELS; i++) {
		struct newest n;

		if (!t->busy[i])
			continue;
		if (fx_stack_was_left(t->busy[i], sp)) {
			fx_record_abandon(t, i);
			continue;
		}
		if (!newest_find(t, i, &n))
			continue;
		f = claim_in(t, &n);
		if (!f)
			f = recorded_in(t, &n);
		if (f && f >= lowest)
			lowest = f + 1;
	}
	return lowest;
}

/* --- Closing ----------------------------------------------------------------------------------- */

fx_cold bool fx_frame_record(struct fx_thread *t, struct fx_open o, uint64_t header, uint64_t end)
{
	const struct fx_claim claim = {.time = o.start, .at = 1};
	struct fx_reservation r;
	uint64_t *p = fx_record_reserve_for(t, 3, claim, &r);

	if (!p)
		return false;
	if (!fx_open_stands(o)) {
		fx_record_disclaim(t, p, claim, r.level);
		return true;
	}
	FX_FAULT(record_half);
	p[2] = end;
	fx_frame_commit(t, o.frame, p, header, &r);
	return true;
}

/* The newest call ended some time ago, unseen; its record ends now, inside its caller. */
static void frame_close(struct fx_thread *t, struct fx_frame *f)
{
	const struct fx_open o = {f, fx_load_relaxed(&f->start)};

	if (o.start && !(f->sp & FX_FRAME_SILENT)) {
		uint64_t now = fx_thread_now(t);

		FX_FAULT(frame_left);
		t->slot->unwound++;
		if (!is_function(f))
			fx_frame_record(t, o, f->id, now);
		else if (t->adopted & FX_CAT_PAIRS)
			fx_pairs_end(t, o, f->id, now);
		else
			fx_function_complete(t, o, f->id, now);
	}
	/* If it has no record. */
	if (t->top == f + 1 && fx_open_stands(o))
		fx_frame_pop_newest(t, f);
}

fx_cold void fx_frame_unwind(struct fx_thread *t, uint64_t sp)
{
	const struct fx_frame *lowest;

	if (!fx_stack_was_left(fx_frame_sp(t->top - 1), sp))
		return;
	lowest = lowest_free(t, sp);
	while (t->top > lowest && fx_frame_sp(t->top - 1) <= sp)
		frame_close(t, t->top - 1);
}

fx_cold void fx_frame_unwind_above(struct fx_thread *t, struct fx_frame *f, uint64_t sp)
{
	const struct fx_frame *lowest;

	if (t->top <= f + 1)
		return;
	lowest = lowest_free(t, sp);
	while (t->top > f + 1 && t->top > lowest)
		frame_close(t, t->top - 1);
}

fx_cold void fx_frame_done_slow(struct fx_thread *t, struct fx_frame *f, uint32_t level)
{
	if (t->top > f + 1) {
		f->sp |= FX_FRAME_SILENT;
		fx_record_over(t, level);
		fx_frame_unwind_above(t, f, fx_frame_sp(f));
		if (t->top == f + 1)
			fx_frame_pop_newest(t, f);
		return;
	}
	fx_record_over(t, level);
}

fx_cold void fx_frame_take_back(struct fx_thread *t, struct fx_frame *f)
{
	/* What the handler has left open there is; there is none above the top. */
	while (f < t->limit && f->start)
		f++;
	t->top = f;
}

fx_cold void fx_frame_too_deep(struct fx_thread *t)
{
	t->slot->too_deep++;
}
