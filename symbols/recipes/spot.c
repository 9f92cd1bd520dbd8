/* SPDX-License-Identifier: MIT */
#include "symbols/recipes/spot.h"

#include <dwarf.h>

#include "symbols/recipes/step.h"

#define STACK_MAX 16u

/* A location expression while it is gone through. */
struct spotting {
	const struct fx_state *state;
	Dwarf_Attribute *attribute;
	Dwarf_Die *function;
	uint64_t pc;
	fx_node stack[STACK_MAX];
	unsigned depth;
	bool is_value; /* what is on top is no address */
	bool is_frame; /* it is that of the function's frame */
	struct fx_spot spot;
};

static fx_node spot_register(const struct spotting *x, Dwarf_Word number)
{
	return number < FX_STATE_REGISTERS ? fx_state_get(x->state, (unsigned)number, 8)
					   : FX_NODE_UNKNOWN;
}

static bool spot_push(struct spotting *x, fx_node n)
{
	if (x->depth == STACK_MAX)
		return false;
	x->stack[x->depth++] = n;
	return true;
}

static bool spot_push_const(struct spotting *x, int64_t value)
{
	return spot_push(x, fx_node_const(x->state->nodes, value));
}

static fx_node spot_pop(struct spotting *x)
{
	return x->depth ? x->stack[--x->depth] : FX_NODE_UNKNOWN;
}

static bool spot_of_two(struct spotting *x, enum fx_node_kind kind)
{
	fx_node right = spot_pop(x), left = spot_pop(x);

	return spot_push(x, fx_node_of_two(x->state->nodes, kind, left, right));
}

static bool spot_go(struct spotting *x, const Dwarf_Op *ops, size_t count);

/* The stack pointer before the call of the function. */
static fx_node spot_frame_begin(const struct spotting *x)
{
	return fx_node_sum(x->state->nodes, x->state->stack, x->state->above);
}

/* What the function says that its frame is. */
static fx_node spot_frame(struct spotting *x)
{
	struct spotting base = {
	    .state = x->state, .function = x->function, .pc = x->pc, .is_frame = true};
	Dwarf_Attribute attribute;
	size_t count = 0;
	Dwarf_Op *ops;

	if (x->is_frame || !dwarf_attr_integrate(x->function, DW_AT_frame_base, &attribute) ||
	    dwarf_getlocation_addr(&attribute, x->pc, &ops, &count, 1) != 1)
		return FX_NODE_UNKNOWN;
	base.attribute = &attribute;
	if (!spot_go(&base, ops, count) || base.depth != 1)
		return FX_NODE_UNKNOWN;
	return base.stack[0];
}

/* The value that a register had as the function began. */
static bool spot_entry(struct spotting *x, const Dwarf_Op *op)
{
	Dwarf_Attribute nested;
	Dwarf_Word number;
	size_t count = 0;
	Dwarf_Op *ops;

	if (dwarf_getlocation_attr(x->attribute, op, &nested) != 0 ||
	    dwarf_getlocation(&nested, &ops, &count) != 0 || count != 1)
		return false;
	number = ops[0].atom == DW_OP_regx ? ops[0].number : (Dwarf_Word)(ops[0].atom - DW_OP_reg0);
	if (number >= FX_STATE_REGISTERS)
		return false;
	x->is_value = true;
	return spot_push(x, fx_node_register(x->state->nodes, (unsigned)number));
}

static bool spot_implicit(struct spotting *x, const Dwarf_Op *op)
{
	int64_t value = 0;
	Dwarf_Block block;

	if (dwarf_getlocation_implicit_value(x->attribute, op, &block) != 0 || block.length > 8)
		return false;
	for (Dwarf_Word i = 0; i < block.length; i++)
		value |= (int64_t)((uint64_t)block.data[i] << 8 * i);
	x->is_value = true;
	return spot_push_const(x, value);
}

/* What was described up to now is a piece of the whole. */
static bool spot_piece(struct spotting *x, Dwarf_Word size)
{
	struct fx_spot *spot = &x->spot;

	if (spot->count == FX_SPOT_PIECES || size > 16)
		return false;
	spot->pieces[spot->count++] = (struct fx_spot_piece){
	    .is_memory = !x->is_value, .node = spot_pop(x), .size = (unsigned)size};
	x->is_value = false;
	return true;
}

static bool spot_one(struct spotting *x, const Dwarf_Op *op)
{
	struct fx_nodes *nodes = x->state->nodes;

	if (op->atom >= DW_OP_lit0 && op->atom <= DW_OP_lit31)
		return spot_push_const(x, op->atom - DW_OP_lit0);
	if (op->atom >= DW_OP_breg0 && op->atom <= DW_OP_breg31)
		return spot_push(x, fx_node_sum(nodes, spot_register(x, op->atom - DW_OP_breg0),
						(int64_t)op->number));
	if (op->atom >= DW_OP_reg0 && op->atom <= DW_OP_reg31) {
		x->is_value = true;
		return spot_push(x, spot_register(x, op->atom - DW_OP_reg0));
	}
	switch (op->atom) {
	case DW_OP_regx:
		x->is_value = true;
		return spot_push(x, spot_register(x, op->number));
	case DW_OP_bregx:
		return spot_push(
		    x, fx_node_sum(nodes, spot_register(x, op->number), (int64_t)op->number2));
	case DW_OP_fbreg:
		return spot_push(x, fx_node_sum(nodes, spot_frame(x), (int64_t)op->number));
	case DW_OP_call_frame_cfa:
		return spot_push(x, spot_frame_begin(x));
	case DW_OP_const1u:
	case DW_OP_const1s:
	case DW_OP_const2u:
	case DW_OP_const2s:
	case DW_OP_const4u:
	case DW_OP_const4s:
	case DW_OP_const8u:
	case DW_OP_const8s:
	case DW_OP_constu:
	case DW_OP_consts:
		return spot_push_const(x, (int64_t)op->number);
	case DW_OP_plus_uconst:
		return spot_push(x, fx_node_sum(nodes, spot_pop(x), (int64_t)op->number));
	case DW_OP_plus:
		return spot_of_two(x, FX_NODE_ADD);
	case DW_OP_minus:
		return spot_of_two(x, FX_NODE_SUB);
	case DW_OP_mul:
		return spot_of_two(x, FX_NODE_MUL);
	case DW_OP_and:
		return spot_of_two(x, FX_NODE_AND);
	case DW_OP_or:
		return spot_of_two(x, FX_NODE_OR);
	case DW_OP_xor:
		return spot_of_two(x, FX_NODE_XOR);
	case DW_OP_shl:
		return spot_of_two(x, FX_NODE_SHL);
	case DW_OP_shr:
		return spot_of_two(x, FX_NODE_SHR);
	case DW_OP_shra:
		return spot_of_two(x, FX_NODE_SAR);
	case DW_OP_deref:
		return spot_push(x, fx_state_load(x->state, spot_pop(x), 8));
	case DW_OP_deref_size:
		return op->number <= 8 &&
		       spot_push(x, fx_state_load(x->state, spot_pop(x), (unsigned)op->number));
	case DW_OP_stack_value:
		x->is_value = true;
		return true;
	case DW_OP_implicit_value:
		return spot_implicit(x, op);
	case DW_OP_entry_value:
	case DW_OP_GNU_entry_value:
		return spot_entry(x, op);
	case DW_OP_piece:
		return spot_piece(x, op->number);
	case DW_OP_nop:
		return true;
	default:
		return false;
	}
}

static bool spot_go(struct spotting *x, const Dwarf_Op *ops, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (!spot_one(x, &ops[i]))
			return false;
	}
	return true;
}

/* A value that the compiler knows. */
static bool spot_of_const(Dwarf_Die *die, struct spotting *x)
{
	Dwarf_Attribute attribute;
	Dwarf_Sword value;

	if (!dwarf_attr_integrate(die, DW_AT_const_value, &attribute) ||
	    dwarf_formsdata(&attribute, &value) != 0)
		return false;
	x->is_value = true;
	return spot_push_const(x, value);
}

static bool attribute_is_list(Dwarf_Attribute *attribute)
{
	unsigned form = dwarf_whatform(attribute);

	return form == DW_FORM_sec_offset || form == DW_FORM_loclistx || form == DW_FORM_data4 ||
	       form == DW_FORM_data8;
}

void fx_spot_find(Dwarf_Die *die, Dwarf_Die *function, uint64_t pc, const struct fx_state *state,
		  struct fx_spot *ret)
{
	struct spotting x = {.state = state, .function = function, .pc = pc};
	Dwarf_Attribute attribute;
	size_t count = 0;
	Dwarf_Op *ops;

	*ret = (struct fx_spot){0};
	if (spot_of_const(die, &x)) {
		spot_piece(&x, 0);
		*ret = x.spot;
		return;
	}
	if (!dwarf_attr_integrate(die, DW_AT_location, &attribute) ||
	    dwarf_getlocation_addr(&attribute, pc, &ops, &count, 1) != 1 || !count)
		return;
	x.attribute = &attribute;
	if (!spot_go(&x, ops, count))
		return;
	if (x.depth)
		spot_piece(&x, 0);
	*ret = x.spot;
	ret->is_everywhere = !attribute_is_list(&attribute);
}

fx_node fx_spot_get(const struct fx_spot *spot, const struct fx_state *state, unsigned offset,
		    unsigned size, fx_node *ret_address)
{
	unsigned begin = 0;

	*ret_address = FX_NODE_UNKNOWN;
	for (unsigned i = 0; i < spot->count; i++) {
		const struct fx_spot_piece *p = &spot->pieces[i];
		unsigned at = offset - begin;
		fx_node found;

		if (p->size && offset >= begin + p->size) {
			begin += p->size;
			continue;
		}
		if (p->node == FX_NODE_UNKNOWN || (p->size && at + size > p->size))
			return FX_NODE_UNKNOWN;
		if (p->is_memory) {
			fx_node address = fx_node_sum(state->nodes, p->node, at);

			found = fx_state_load(state, address, size);
			*ret_address = found == FX_NODE_UNKNOWN ? address : FX_NODE_UNKNOWN;
			return found;
		}
		if (at + size > 8)
			return FX_NODE_UNKNOWN;
		return at ? fx_node_of_two(state->nodes, FX_NODE_SHR, p->node,
					   fx_node_const(state->nodes, 8 * at))
			  : p->node;
	}
	return FX_NODE_UNKNOWN;
}
