/* SPDX-License-Identifier: MIT */
/* What an instruction reads and writes: registers, memory, and what stands in the code itself. */
#include "symbols/recipes/x86-internal.h"

#if defined(__x86_64__)

/* DWARF's numbers, by the machine's. */
static const uint8_t x86_numbers[16] = {0, 2, 1, 3, 7, 6, 4, 5, 8, 9, 10, 11, 12, 13, 14, 15};

uint8_t fx_x86_byte(struct x86 *x)
{
	if (x->at == x->end) {
		x->is_short = true;
		return 0;
	}
	x->next++;
	return *x->at++;
}

/* An immediate of 1, 2, 4 or 8 bytes, sign-extended. */
int64_t fx_x86_immediate(struct x86 *x, unsigned size)
{
	uint64_t value = 0;

	for (unsigned i = 0; i < size; i++)
		value |= (uint64_t)fx_x86_byte(x) << 8 * i;
	return (int64_t)(value << (64 - 8 * size)) >> (64 - 8 * size);
}

/* --- Operands --------------------------------------------------------------------------------- */

fx_node fx_x86_get_register(struct x86 *x, unsigned machine, unsigned size)
{
	/* Without REX, bytes 4 to 7 are the second ones of the first four. */
	if (size == 1 && !x->has_rex && machine >= 4 && machine < 8)
		return FX_NODE_UNKNOWN;
	return fx_state_get(x->s, x86_numbers[machine], size);
}

void fx_x86_set_register(struct x86 *x, unsigned machine, fx_node value, unsigned size)
{
	unsigned number = x86_numbers[machine];

	if (size == 1 && !x->has_rex && machine >= 4 && machine < 8)
		fx_state_set(x->s, x86_numbers[machine - 4], FX_NODE_UNKNOWN, 8);
	else if (size >= 4)
		fx_state_set(x->s, number, fx_node_extend(x->s->nodes, FX_NODE_ZERO, value, size),
			     8);
	else
		fx_state_set(x->s, number, value, size);
}

static fx_node x86_scaled(struct x86 *x, unsigned machine, unsigned shift)
{
	fx_node index = fx_x86_get_register(x, machine, 8);

	return shift ? fx_node_of_two(x->s->nodes, FX_NODE_SHL, index,
				      fx_node_const(x->s->nodes, shift))
		     : index;
}

static fx_node x86_sib(struct x86 *x)
{
	unsigned sib = fx_x86_byte(x), base = (sib & 7) | (x->rex & 1) << 3;
	unsigned index = (sib >> 3 & 7) | (x->rex & 2) << 2;
	fx_node sum;

	if ((sib & 7) == 5 && x->mode == 0)
		sum = fx_node_const(x->s->nodes, fx_x86_immediate(x, 4));
	else
		sum = fx_x86_get_register(x, base, 8);
	if (index != 4)
		sum = fx_node_of_two(x->s->nodes, FX_NODE_ADD, sum, x86_scaled(x, index, sib >> 6));
	return sum;
}

/* Reads ModRM and what belongs to it. `behind': bytes of an immediate that follows. */
void fx_x86_operands(struct x86 *x, unsigned behind)
{
	unsigned byte = fx_x86_byte(x);
	int64_t distance = 0;

	x->mode = byte >> 6;
	x->reg = (byte >> 3 & 7) | (x->rex & 4) << 1;
	x->rm = (byte & 7) | (x->rex & 1) << 3;
	x->address = FX_NODE_UNKNOWN;
	x->absolute = 0;
	if (x->mode == 3)
		return;
	if ((byte & 7) == 4) {
		x->address = x86_sib(x);
	} else if ((byte & 7) == 5 && x->mode == 0) {
		distance = fx_x86_immediate(x, 4);
		x->absolute = x->next + behind + (uint64_t)distance;
		x->address = fx_node_address(x->s->nodes, x->absolute);
		return;
	} else {
		x->address = fx_x86_get_register(x, x->rm, 8);
	}
	if (x->mode == 1)
		distance = fx_x86_immediate(x, 1);
	else if (x->mode == 2)
		distance = fx_x86_immediate(x, 4);
	x->address = fx_node_sum(x->s->nodes, x->address, distance);
	if (x->prefixes & X86_PREFIX_SEGMENT)
		x->address = FX_NODE_UNKNOWN;
}

fx_node fx_x86_get_rm(struct x86 *x, unsigned size)
{
	if (x->mode == 3)
		return fx_x86_get_register(x, x->rm, size);
	return fx_state_load(x->s, x->address, size);
}

void fx_x86_set_rm(struct x86 *x, fx_node value, unsigned size)
{
	if (x->mode == 3)
		fx_x86_set_register(x, x->rm, value, size);
	else
		fx_state_store(x->s, x->address, size, value);
}

#endif
