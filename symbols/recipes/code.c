/* SPDX-License-Identifier: MIT */
#include "symbols/recipes/code.h"

#include <string.h>

#include "symbols/recipes/step.h"

/* Vectors' numbers begin here; see FX_OP_VECTOR. */
#define VECTORS 17u

/* How deep an expression is looked into. */
#define DEPTH_MAX 12u

static bool code_put(struct fx_code *code, enum fx_recipe_op op, const void *operand, size_t size)
{
	if (code->size + 1 + size > sizeof(code->bytes))
		return false;
	code->bytes[code->size++] = (uint8_t)op;
	if (size)
		memcpy(code->bytes + code->size, operand, size);
	code->size += size;
	return true;
}

/* One that leaves one value more. */
static bool code_push(struct fx_code *code, enum fx_recipe_op op, const void *operand, size_t size)
{
	if (code->depth == FX_RECIPE_STACK || !code_put(code, op, operand, size))
		return false;
	code->depth++;
	return true;
}

bool fx_code_add(struct fx_code *code, int64_t value)
{
	int32_t small = (int32_t)value;

	if (!value)
		return true;
	if (small == value)
		return code_put(code, FX_OP_ADD_CONST, &small, sizeof(small));
	if (!code_push(code, FX_OP_CONST, &value, sizeof(value)) ||
	    !code_put(code, FX_OP_ADD, NULL, 0))
		return false;
	code->depth--;
	return true;
}

bool fx_code_follow(struct fx_code *code, unsigned size)
{
	uint8_t bytes = (uint8_t)size;

	return code_put(code, FX_OP_FOLLOW, &bytes, sizeof(bytes));
}

bool fx_code_load(struct fx_code *code, unsigned size)
{
	uint8_t bytes = (uint8_t)size;

	return code_put(code, FX_OP_LOAD, &bytes, sizeof(bytes));
}

bool fx_code_shift(struct fx_code *code, enum fx_recipe_op op, unsigned count)
{
	int64_t operand = count;

	if (!count)
		return true;
	if (!code_push(code, FX_OP_CONST, &operand, sizeof(operand)) ||
	    !code_put(code, op, NULL, 0))
		return false;
	code->depth--;
	return true;
}

bool fx_code_append(struct fx_code *code, const struct fx_code *more)
{
	if (code->depth >= FX_RECIPE_STACK || code->size + more->size > sizeof(code->bytes))
		return false;
	memcpy(code->bytes + code->size, more->bytes, more->size);
	code->size += more->size;
	code->depth += more->depth;
	return true;
}

static bool code_register(struct fx_code *code, unsigned number)
{
	uint8_t operand = (uint8_t)(number < VECTORS ? number : number - VECTORS);

	return code_push(code, number < VECTORS ? FX_OP_REGISTER : FX_OP_VECTOR, &operand, 1);
}

/* Whether the hook finds what is in a register: vectors are as they were, at an entry. */
static bool is_there(const struct fx_state *s, unsigned number)
{
	return number < VECTORS ? fx_step_is_kept(number)
				: s->memory == FX_MEMORY_ABOVE && !s->has_copies_alone &&
				      number < VECTORS + FX_RECIPE_VECTORS;
}

/* In a register, with a distance from it for addresses. */
static bool code_of_register(const struct fx_state *s, fx_node want, unsigned size,
			     struct fx_code *code)
{
	int64_t offset, at;
	fx_node low = fx_node_low(s->nodes, want, size);
	fx_node base = fx_node_base(s->nodes, low, &offset);

	for (unsigned i = 0; i < FX_STATE_REGISTERS; i++) {
		const struct fx_held *r = &s->registers[i];

		if (!is_there(s, i) || r->size < size)
			continue;
		if (fx_node_low(s->nodes, r->node, size) == low)
			return code_register(code, i);
	}
	for (unsigned i = 0; i < VECTORS && size == 8; i++) {
		const struct fx_held *r = &s->registers[i];

		if (is_there(s, i) && r->size == 8 && r->node != FX_NODE_UNKNOWN &&
		    fx_node_base(s->nodes, r->node, &at) == base)
			return code_register(code, i) &&
			       fx_code_add(code, (int64_t)((uint64_t)offset - (uint64_t)at));
	}
	return false;
}

/* What lies below the stack pointer at the call of the hook is the hook's. */
static bool is_above_stack(const struct fx_state *s, const struct fx_stored *c)
{
	int64_t top;
	fx_node base = fx_node_base(s->nodes, s->registers[fx_step_stack_register()].node, &top);

	return (c->base == base && c->offset >= top) ||
	       (c->base == s->stack && c->offset >= s->above);
}

static bool code_make(const struct fx_state *s, fx_node want, unsigned size, struct fx_code *code,
		      unsigned depth);

static bool code_load(const struct fx_state *s, fx_node address, unsigned size,
		      struct fx_code *code)
{
	return code_of_register(s, address, 8, code) && fx_code_load(code, size);
}

/* In memory that was stored on the way. */
static bool code_of_cell(const struct fx_state *s, fx_node want, unsigned size,
			 struct fx_code *code)
{
	fx_node low = fx_node_low(s->nodes, want, size);

	for (uint32_t i = 0; i < s->count; i++) {
		const struct fx_stored *c = &s->cells[i];

		if (c->size < size || c->value == FX_NODE_UNKNOWN || !is_above_stack(s, c) ||
		    fx_node_low(s->nodes, c->value, size) != low)
			continue;
		return code_load(s, fx_node_sum(s->nodes, c->base, c->offset), size, code);
	}
	return false;
}

static bool is_stack_address(const struct fx_state *s, fx_node address)
{
	int64_t offset;

	return fx_node_base(s->nodes, address, &offset) == s->stack;
}

/* Out of memory that is as it was. */
static bool code_of_load(const struct fx_state *s, const struct fx_node_entry *e,
			 struct fx_code *code, unsigned depth)
{
	uint8_t bytes = e->size;

	if (s->has_copies_alone && is_stack_address(s, e->left))
		return false;
	return fx_state_load(s, e->left, e->size) != FX_NODE_UNKNOWN &&
	       code_make(s, e->left, 8, code, depth + 1) &&
	       code_put(code, is_stack_address(s, e->left) ? FX_OP_LOAD : FX_OP_FOLLOW, &bytes, 1);
}

static bool code_of_extension(const struct fx_state *s, const struct fx_node_entry *e,
			      struct fx_code *code, unsigned depth)
{
	uint8_t bytes = e->size;

	return code_make(s, e->left, e->size, code, depth + 1) &&
	       code_put(code, e->kind == FX_NODE_ZERO ? FX_OP_ZERO_EXTEND : FX_OP_SIGN_EXTEND,
			&bytes, 1);
}

/* Operations whose lower bytes are made of lower bytes need no more of them. */
static bool is_upward(enum fx_node_kind kind)
{
	return kind >= FX_NODE_ADD && kind <= FX_NODE_SHL;
}

static bool code_of_two(const struct fx_state *s, const struct fx_node_entry *e, unsigned size,
			struct fx_code *code, unsigned depth)
{
	static const uint8_t operations[] = {
	    [FX_NODE_ADD] = FX_OP_ADD, [FX_NODE_SUB] = FX_OP_SUB, [FX_NODE_MUL] = FX_OP_MUL,
	    [FX_NODE_AND] = FX_OP_AND, [FX_NODE_OR] = FX_OP_OR,	  [FX_NODE_XOR] = FX_OP_XOR,
	    [FX_NODE_SHL] = FX_OP_SHL, [FX_NODE_SHR] = FX_OP_SHR, [FX_NODE_SAR] = FX_OP_SAR,
	};
	unsigned needed = is_upward(e->kind) ? size : 8;

	if (!code_make(s, e->left, needed, code, depth + 1) ||
	    !code_make(s, e->right, e->kind >= FX_NODE_SHL ? 8 : needed, code, depth + 1) ||
	    !code_put(code, operations[e->kind], NULL, 0))
		return false;
	code->depth--;
	return true;
}

static bool code_of_parts(const struct fx_state *s, fx_node want, unsigned size,
			  struct fx_code *code, unsigned depth)
{
	const struct fx_node_entry *e = fx_node_look(s->nodes, want);

	switch (e->kind) {
	case FX_NODE_CONST:
		return code_push(code, FX_OP_CONST, &e->value, sizeof(e->value));
	case FX_NODE_ADDRESS:
		return code_push(code, FX_OP_ADDRESS, &e->value, sizeof(e->value));
	case FX_NODE_SUM:
		return code_make(s, e->left, size, code, depth + 1) && fx_code_add(code, e->value);
	case FX_NODE_LOAD:
		return code_of_load(s, e, code, depth);
	case FX_NODE_ZERO:
	case FX_NODE_SIGN:
		return code_of_extension(s, e, code, depth);
	case FX_NODE_NONE:
	case FX_NODE_REGISTER:
		return false;
	default:
		return code_of_two(s, e, size, code, depth);
	}
}

static bool code_make(const struct fx_state *s, fx_node want, unsigned size, struct fx_code *code,
		      unsigned depth)
{
	const struct fx_code before = *code;

	if (want == FX_NODE_UNKNOWN || depth > DEPTH_MAX)
		return false;
	if (code_of_register(s, want, size, code))
		return true;
	*code = before;
	if (code_of_cell(s, want, size, code))
		return true;
	*code = before;
	if (code_of_parts(s, fx_node_low(s->nodes, want, size), size, code, depth))
		return true;
	*code = before;
	return false;
}

bool fx_code_make(const struct fx_state *s, fx_node want, unsigned size, struct fx_code *code)
{
	return code_make(s, want, size, code, 0);
}
