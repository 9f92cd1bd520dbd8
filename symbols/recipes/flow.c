/* SPDX-License-Identifier: MIT */
#include "symbols/recipes/flow.h"

#include <string.h>

#include "symbols/recipes/step.h"

/* Instructions on one way, and ways that are gone, at most. */
#define STEPS_MAX 600u
#define WAYS_MAX  16u

/* How far the code behind an entry's hook is looked at. */
#define AFTER_MAX 200u

#define ENTER_HOOK "__cyg_profile_func_enter"
#define LEAVE_HOOK "__cyg_profile_func_exit"

/* A way that is still to be gone. */
struct way {
	uint64_t pc;
	struct fx_state state;
};

struct walk {
	const struct fx_image *image;
	struct way ways[WAYS_MAX];
	unsigned count; /* of those */
	unsigned gone;
	bool is_incomplete; /* some way could not be gone to its end */
};

void fx_flow_begin(struct fx_state *ret, const struct fx_image *image, struct fx_nodes *nodes,
		   enum fx_memory memory)
{
	*ret = (struct fx_state){.nodes = nodes, .image = image, .memory = memory};
	for (unsigned i = 0; i < FX_STATE_REGISTERS; i++)
		fx_state_set(ret, i, fx_node_register(nodes, i), 8);
	ret->stack = fx_node_register(nodes, fx_step_stack_register());
	ret->above = fx_step_stack_above();
}

static void walk_put(struct walk *w, uint64_t pc, const struct fx_state *state)
{
	if (w->count == WAYS_MAX || w->gone + w->count >= WAYS_MAX) {
		w->is_incomplete = true;
		return;
	}
	w->ways[w->count++] = (struct way){pc, *state};
}

static bool walk_take(struct walk *w, struct way *ret)
{
	if (!w->count)
		return false;
	*ret = w->ways[--w->count];
	w->gone++;
	return true;
}

/* Goes on to the next instruction that is no jump within the code. False: there is none. */
static bool way_go(struct walk *w, struct way *way, struct fx_step *ret)
{
	size_t size;
	const uint8_t *code = fx_image_code(w->image, way->pc, &size);

	if (!code)
		return false;
	fx_step(&way->state, code, size, way->pc, ret);
	if (ret->kind == FX_STEP_BRANCH)
		walk_put(w, ret->target, &way->state);
	way->pc = ret->kind == FX_STEP_JUMP ? ret->target : ret->next;
	return ret->kind != FX_STEP_STUCK;
}

/* What is called by a slot or by a target (the other one is 0); NULL: a function of the module itself, or nobody knows. */
static const char *flow_callee(const struct fx_image *image, uint64_t target, uint64_t slot)
{
	const uint8_t *code;
	size_t size;

	if (!slot && target) {
		code = fx_image_code(image, target, &size);
		if (!code || !fx_step_is_stub(code, size, target, &slot))
			return NULL;
	}
	return slot ? fx_image_slot_name(image, slot) : NULL;
}

/* What never returns. */
static bool is_the_end(const char *callee)
{
	static const char *const names[] = {"__stack_chk_fail",
					    "abort",
					    "__assert_fail",
					    "__cxa_throw_bad_array_new_length",
					    "exit",
					    "_exit"};

	for (size_t i = 0; callee && i < sizeof(names) / sizeof(names[0]); i++) {
		if (strcmp(callee, names[i]) == 0)
			return true;
	}
	return false;
}

/* What differs between the two states is not known. */
static void state_meet(struct fx_state *to, const struct fx_state *from)
{
	uint32_t left = 0;

	for (unsigned i = 0; i < FX_STATE_REGISTERS; i++) {
		struct fx_held *a = &to->registers[i];
		const struct fx_held *b = &from->registers[i];

		if (a->node != b->node)
			fx_state_set(to, i, FX_NODE_UNKNOWN, 8);
		else if (b->size < a->size)
			a->size = b->size;
	}
	for (uint32_t i = 0; i < to->count; i++) {
		struct fx_stored c = to->cells[i];
		fx_node other =
		    fx_state_load(from, fx_node_sum(to->nodes, c.base, c.offset), c.size);

		if (fx_node_extend(to->nodes, FX_NODE_ZERO, c.value, c.size) != other)
			c.value = FX_NODE_UNKNOWN;
		to->cells[left++] = c;
	}
	to->count = left;
	/* What was stored on the other way alone. */
	for (uint32_t i = 0; i < from->count; i++) {
		const struct fx_stored *c = &from->cells[i];
		fx_node address = fx_node_sum(to->nodes, c->base, c->offset);

		if (fx_state_load(to, address, c->size) !=
		    fx_node_extend(to->nodes, FX_NODE_ZERO, c->value, c->size))
			fx_state_store(to, address, c->size, FX_NODE_UNKNOWN);
	}
	to->is_wild = to->is_wild || from->is_wild;
	if (from->stored != to->stored && from->stored != FX_NODE_UNKNOWN) {
		to->is_wild = to->is_wild || to->stored != FX_NODE_UNKNOWN;
		to->stored = from->stored;
	}
}

/* --- Entries ---------------------------------------------------------------------------------- */

enum call_kind { CALL_HOOK, CALL_OTHER, CALL_END };

/* A call by a register or by memory may be any: at a function's begin it is that of a gate. */
static enum call_kind call_kind_of(const struct fx_image *image, const struct fx_step *step,
				   const char *hook)
{
	const char *callee = flow_callee(image, step->target, step->slot);

	if (callee && strcmp(callee, hook) == 0)
		return CALL_HOOK;
	if (is_the_end(callee))
		return CALL_END;
	return callee || step->target || step->slot ? CALL_OTHER : CALL_HOOK;
}

/* What another function may have done that was called on the way. */
static void call_pass(struct fx_state *s)
{
	fx_step_call_over(s);
	s->count = 0;
	s->is_wild = true;
}

/* Whether nothing that was stored before is lost. */
static bool state_extends(const struct fx_state *before, const struct fx_state *after)
{
	for (uint32_t i = 0; i < before->count; i++) {
		const struct fx_stored *c = &before->cells[i];
		fx_node address = fx_node_sum(before->nodes, c->base, c->offset);

		if (fx_state_load(before, address, c->size) !=
		    fx_state_load(after, address, c->size))
			return false;
	}
	return !after->is_wild;
}

/*
 * Goes on behind the hook, as long as the code is straight and stores nothing for the second time: there arguments go into
 * their places that the compiler stores only then.
 */
static void enter_go_on(const struct fx_image *image, struct fx_flow_entry *e)
{
	struct fx_step step = {.kind = FX_STEP_NEXT};
	uint64_t pc = e->place;

	e->after = e->state;
	fx_step_call_over(&e->after);
	for (unsigned i = 0; i < AFTER_MAX && step.kind == FX_STEP_NEXT; i++) {
		struct fx_state before = e->after;
		size_t size;
		const uint8_t *code = fx_image_code(image, pc, &size);

		if (!code)
			return;
		fx_step(&e->after, code, size, pc, &step);
		pc = step.next;
		if (step.kind == FX_STEP_STUCK || !state_extends(&before, &e->after)) {
			e->after = before;
			return;
		}
	}
}

bool fx_flow_enter(const struct fx_image *image, struct fx_nodes *nodes, uint64_t function,
		   struct fx_flow_entry *ret)
{
	struct walk w = {.image = image};
	struct fx_state first;
	struct way way;

	ret->place = 0;
	fx_flow_begin(&first, image, nodes, FX_MEMORY_ABOVE);
	walk_put(&w, function, &first);
	while (walk_take(&w, &way)) {
		for (unsigned steps = 0;; steps++) {
			struct fx_step step;
			enum call_kind kind;

			if (steps == STEPS_MAX || !way_go(&w, &way, &step)) {
				w.is_incomplete = true;
				break;
			}
			if (step.kind == FX_STEP_RETURN || step.kind == FX_STEP_LEAVE)
				break;
			if (step.kind != FX_STEP_CALL)
				continue;
			kind = call_kind_of(image, &step, ENTER_HOOK);
			if (kind == CALL_END)
				break;
			if (kind == CALL_OTHER) {
				call_pass(&way.state);
				continue;
			}
			if (ret->place && ret->place != step.next) {
				w.is_incomplete = true;
			} else if (ret->place) {
				state_meet(&ret->state, &way.state);
			} else {
				ret->place = step.next;
				ret->state = way.state;
			}
			break;
		}
	}
	if (!ret->place || w.is_incomplete || nodes->is_out_of_room)
		return false;
	enter_go_on(image, ret);
	return true;
}

/* --- Exits ------------------------------------------------------------------------------------ */

static fx_node result_of(const struct fx_state *s, int number)
{
	const struct fx_held *r = number < 0 ? NULL : &s->registers[number];

	/* Of what is shorter than a register, a part is known. Nobody asks for more than the type has. */
	return r && r->size >= 4 ? r->node : FX_NODE_UNKNOWN;
}

static void exit_returns(struct fx_flow_exit *e, const struct fx_state *s, bool is_first)
{
	e->has_stored = e->has_stored || s->count || s->is_wild;
	for (unsigned i = 0; i < 2; i++) {
		fx_node result = result_of(s, fx_step_result(i));
		fx_node vector = result_of(s, fx_step_vector_result(i));

		if (!is_first && e->results[i] != result)
			result = FX_NODE_UNKNOWN;
		if (!is_first && e->vectors[i] != vector)
			vector = FX_NODE_UNKNOWN;
		e->results[i] = result;
		e->vectors[i] = vector;
	}
}

static bool is_unwinding(const char *callee)
{
	return callee &&
	       (strcmp(callee, "_Unwind_Resume") == 0 || strcmp(callee, "__cxa_rethrow") == 0);
}

bool fx_flow_leave(const struct fx_image *image, struct fx_nodes *nodes, uint64_t place,
		   struct fx_flow_exit *ret)
{
	struct walk w = {.image = image};
	bool returns = false, unwinds = false;
	struct way way;

	*ret = (struct fx_flow_exit){.place = place};
	fx_flow_begin(&ret->state, image, nodes, FX_MEMORY_ALL);
	fx_step_call_over(&ret->state);
	walk_put(&w, place, &ret->state);
	while (!w.is_incomplete && walk_take(&w, &way)) {
		for (unsigned steps = 0;; steps++) {
			const char *callee;
			struct fx_step step;

			if (steps == STEPS_MAX || !way_go(&w, &way, &step) ||
			    step.kind == FX_STEP_LEAVE) {
				w.is_incomplete = true;
				break;
			}
			if (step.kind == FX_STEP_RETURN) {
				exit_returns(ret, &way.state, !returns);
				returns = true;
				break;
			}
			if (step.kind != FX_STEP_CALL)
				continue;
			callee = flow_callee(image, step.target, step.slot);
			unwinds = unwinds || is_unwinding(callee);
			w.is_incomplete = !is_unwinding(callee) && !is_the_end(callee);
			break;
		}
	}
	ret->by_exception = unwinds && !returns;
	return !w.is_incomplete && !nodes->is_out_of_room && (returns || ret->by_exception);
}

void fx_flow_exits(const struct fx_image *image, uint64_t start, uint64_t end,
		   void (*each)(void *opaque, uint64_t place), void *opaque)
{
	for (uint64_t at = start; at < end; at++) {
		struct fx_step step;
		size_t size;
		const uint8_t *code = fx_image_code(image, at, &size);

		if (code && fx_step_is_call(code, size, at, &step) &&
		    call_kind_of(image, &step, LEAVE_HOOK) == CALL_HOOK)
			each(opaque, step.next);
	}
}
