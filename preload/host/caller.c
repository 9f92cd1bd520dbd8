/* SPDX-License-Identifier: MIT */
#include "preload/host/caller.h"

#include "engine/provider/frame.h"
#include "engine/provider/record.h"
#include "engine/provider/stack.h"
#include "preload/host/unwind.h"

uint64_t fx_callers[1u << FX_CALLERS_LOG2] FX_LARGE;
uint32_t fx_callers_serial;

void fx_callers_renew(void)
{
	fx_add_acq_rel(&fx_callers_serial, 1);
}

void fx_callers_forget(void)
{
	fx_callers_renew();
	for (uint32_t i = 0; i < 1u << FX_CALLERS_LOG2; i++) {
		if (fx_load_relaxed(&fx_callers[i]))
			fx_store_relaxed(&fx_callers[i], 0);
	}
}

static void remember(uint64_t key, uint64_t distance, uint64_t apart)
{
	fx_store_relaxed(&fx_callers[fx_caller_slot(key, (uint32_t)(key >> 32), distance)],
			 fx_caller_word(key, distance) ^ apart); /* relaxed: as in caller.h */
}

static uint32_t place32(uint64_t key)
{
	return (uint32_t)(key >> 32);
}

static bool same_site(const struct fx_frame *f, const struct fx_new_call *e)
{
	return (uint32_t)f->key == (uint32_t)e->site;
}

/* --- Calls inlined into others ------------------------------------------------------------------ */

/* A hook whose function was inlined into that of another hook: the two places stand where a call has its key and
 * distance. No call has such a pair: distances are even. */
static uint64_t inlined_key(const struct fx_new_call *e)
{
	return (uint64_t)place32(e->key) << 32;
}

static uint64_t inlined_distance(const struct fx_frame *newest)
{
	return (uint64_t)place32(newest->key) << 1 | 1;
}

static bool is_known_as_inlined(const struct fx_frame *newest, const struct fx_new_call *e)
{
	return fx_frame_sp(newest) == e->sp && same_site(newest, e) &&
	       !fx_caller_word_look(inlined_key(e), place32(e->key), inlined_distance(newest));
}

/* An inlined call that is made again was left before, with what lies in it. `outer`: the first call of the stack
 * frame that it shares. */
static void close_repeated(struct fx_thread *t, struct fx_frame *outer, const struct fx_new_call *e)
{
	for (struct fx_frame *f = outer; f < t->top; f++) {
		if (f->key == e->key)
			fx_frame_unwind_above(t, f - 1, e->sp);
	}
}

static struct fx_frame *first_of_stack_frame(const struct fx_thread *t, const struct fx_new_call *e)
{
	struct fx_frame *outer = t->top;

	while (fx_frame_sp(outer - 1) == e->sp && same_site(outer - 1, e))
		outer--;
	return outer;
}

/* --- By the tables of the code ------------------------------------------------------------------ */

/* Whether the hook of an open call is in this code; a return address may be the one behind it. Half the address tells:
 * no module is as large. (That of the function tells nothing: of several copies it may be another module's.) */
static bool lies_in(const struct fx_frame *f, const struct fx_cfi_code *code)
{
	return f->id && !(f->id >> 48) &&
	       place32(f->key) - 1 - (uint32_t)code->start < code->end - code->start;
}

/* The stack frame of the call that begins. */
struct body {
	struct fx_cfi_code code; /* of its function, or of the one that it was inlined into */
	uint64_t end;		 /* the caller's stack pointer when it called */
};

static bool body_find(const struct fx_new_call *e, struct body *ret)
{
	uint64_t site;

	return (uint32_t)e->place == place32(e->key) &&
	       fx_unwind_cfa(e->place - 1, e->sp, e->frame_pointer, &ret->code, &ret->end, &site) &&
	       site == e->site;
}

/* Whether `f` is in the same stack frame, as the compiler made it: a call that another is inlined into, or a duration
 * that it has opened. */
static bool shares_frame(const struct fx_frame *f, const struct fx_new_call *e,
			 const struct body *b)
{
	return fx_frame_sp(f) >= e->sp && fx_frame_sp(f) < b->end &&
	       (f->key == FX_SCOPE_KEY || (same_site(f, e) && lies_in(f, &b->code)));
}

/* Below the caller's stack pointer nothing goes on but what shares the stack frame. Returns the first call that does,
 * or the top. */
static struct fx_frame *close_below(struct fx_thread *t, const struct fx_new_call *e,
				    const struct body *b)
{
	struct fx_frame *lowest = t->top, *outer;

	while (fx_frame_sp(lowest - 1) < b->end && !shares_frame(lowest - 1, e, b))
		lowest--;
	if (lowest < t->top && fx_stack_was_left(fx_frame_sp(t->top - 1), b->end - 1))
		fx_frame_unwind_above(t, lowest - 1, b->end - 1);
	for (outer = t->top; shares_frame(outer - 1, e, b); outer--)
		;
	return outer;
}

/*
 * The call lies in the stack frame of `outer`. A hook that comes again belongs to a new call, and the one before was
 * left; but not in a function that the compiler has inlined into itself, which may go round.
 */
static void close_shared(struct fx_thread *t, struct fx_frame *outer, const struct fx_new_call *e,
			 const struct body *b)
{
	if (e->function != b->code.start || e->key == outer->key)
		close_repeated(t, outer, e);
	if (outer < t->top && fx_frame_sp(t->top - 1) == e->sp && e->function != b->code.start)
		remember(inlined_key(e), inlined_distance(t->top - 1), 0);
}

bool (*fx_caller_leaves_out)(uint64_t function);

/* Whether calls of the function to which this code belongs are not recorded. */
static bool is_left_out(const struct fx_thread *t, const struct fx_cfi_code *code)
{
	bool (*leaves_out)(uint64_t) = fx_load_relaxed(&fx_caller_leaves_out);

	return (t->state & FX_CAT_CHOSEN) && leaves_out && leaves_out(code->start);
}

/*
 * The newest open call of the code that the call site lies in made the call: what lies above was left. (Not where
 * calls are left out, as too deep or as no chosen function's: the caller may be one of them.)
 */
static void close_above_caller(struct fx_thread *t, uint64_t site, uint64_t sp)
{
	struct fx_cfi_code code;
	struct fx_frame *f = t->top - 1;

	if (t->deep || t->top == t->limit || !f->id || !fx_unwind_code(site - 1, &code) ||
	    is_left_out(t, &code))
		return;
	while (f->id && !lies_in(f, &code))
		f--;
	if (!f->id)
		return;
	/* The durations that it has opened go on. */
	while (f + 1 < t->top && f[1].key == FX_SCOPE_KEY && fx_frame_sp(f + 1) > sp)
		f++;
	fx_frame_unwind_above(t, f, sp);
}

static bool settle_by_tables(struct fx_thread *t, const struct fx_new_call *e)
{
	struct fx_frame *outer;
	struct body body;

	if (!body_find(e, &body))
		return false;
	outer = close_below(t, e, &body);
	if (outer == t->top) {
		close_above_caller(t, e->site, body.end - 1);
		return true;
	}
	close_shared(t, outer, e, &body);
	return true;
}

/* --- By addresses, where there are no tables ---------------------------------------------------- */

/* Bytes from a function's address to its hook's return address, at most. */
#define PROLOGUE_MAX 4096u

/*
 * Whether the hook of `e` is at the beginning of its function itself, rather than in a copy of it that was inlined
 * into `outer`. Of the two addresses the one that is nearer below the place is the function that the place belongs
 * to.
 */
static bool is_entry(const struct fx_new_call *e, const struct fx_frame *outer)
{
	uint32_t place = place32(e->key);
	uint32_t offset = place - (uint32_t)e->function;

	if (outer->id == e->function)
		return e->key == outer->key;
	return offset < PROLOGUE_MAX && offset < place - (uint32_t)outer->id;
}

static void settle_by_addresses(struct fx_thread *t, const struct fx_new_call *e)
{
	struct fx_frame *outer;

	if (fx_frame_sp(t->top - 1) < e->sp)
		fx_frame_unwind(t, e->sp - 1);
	if (fx_frame_sp(t->top - 1) != e->sp)
		return;
	outer = first_of_stack_frame(t, e);
	if (outer == t->top || is_entry(e, outer))
		fx_frame_unwind(t, e->sp);
	else
		close_repeated(t, outer, e);
}

/* ------------------------------------------------------------------------------------------------ */

fx_cold void fx_caller_settle(struct fx_thread *t, const struct fx_new_call *e)
{
	const struct fx_frame *newest;

	if (is_known_as_inlined(t->top - 1, e)) {
		close_repeated(t, first_of_stack_frame(t, e), e);
		return;
	}
	if (!settle_by_tables(t, e))
		settle_by_addresses(t, e);
	newest = t->top - 1;
	/* Not where something is under way: a call may be left open for that, and a handler is called from anywhere. */
	if (fx_frame_sp(newest) > e->sp && !fx_record_is_under_way(t))
		remember(e->key, newest->sp - e->sp, e->apart);
}
