/* SPDX-License-Identifier: MIT */
/* Vectors, of which the lower half is known, and numbers of x87, which are not. */
#include "symbols/recipes/x86-internal.h"

#if defined(__x86_64__)

static fx_node x86_get_vector(const struct x86 *x, unsigned machine, unsigned size)
{
	return fx_state_get(x->s, X86_VECTOR + machine, size);
}

/* The lower half alone is known of a vector. */
void fx_x86_set_vector(struct x86 *x, unsigned machine, fx_node value, unsigned size)
{
	fx_state_set(x->s, X86_VECTOR + machine, value, size);
}

/* The lower `low' bytes of one for another, as far as they are known. */
static void x86_vector_copy(struct x86 *x, unsigned to, unsigned from, unsigned low)
{
	const struct fx_held *r = &x->s->registers[X86_VECTOR + from];

	fx_x86_set_vector(x, to, r->node, r->size < low ? r->size : low);
}

/* Loads `size' bytes, of which 8 are remembered. Of a register only its lower part may be replaced; what is above is not
 * looked at. */
static void x86_vector_load(struct x86 *x, unsigned size)
{
	unsigned low = size < 8 ? size : 8;

	if (x->mode == 3)
		x86_vector_copy(x, x->reg, x->rm, low);
	else
		fx_x86_set_vector(x, x->reg, fx_state_load(x->s, x->address, low), low);
}

static void x86_vector_store(struct x86 *x, unsigned size)
{
	unsigned low = size < 8 ? size : 8;

	if (x->mode == 3) {
		x86_vector_copy(x, x->rm, x->reg, low);
		return;
	}
	fx_state_store(x->s, x->address, low, x86_get_vector(x, x->reg, low));
	for (unsigned i = 8; i < size; i += 8)
		fx_state_store(x->s, fx_node_sum(x->s->nodes, x->address, i), 8, FX_NODE_UNKNOWN);
}

static unsigned x86_vector_width(const struct x86 *x)
{
	return x->is_vex && (x->vex_first & 0x100) ? 32 : 16;
}

static unsigned x86_scalar_width(const struct x86 *x)
{
	if (x->prefixes & X86_PREFIX_F3)
		return 4;
	return x->prefixes & X86_PREFIX_F2 ? 8 : x86_vector_width(x);
}

/* Whether two vectors are one in which nothing is left: xor, sub. */
static void x86_vector_xor(struct x86 *x)
{
	bool same = x->mode == 3 && (x->is_vex ? (x->vex_first & 0xf) == x->rm : x->reg == x->rm);

	fx_x86_set_vector(x, x->reg, same ? fx_node_const(x->s->nodes, 0) : FX_NODE_UNKNOWN, 8);
}

/* movd, movq: between general registers, memory and vectors. */
static void x86_move_d(struct x86 *x, bool to_vector)
{
	unsigned size = x->rex & 8 ? 8 : 4;

	if (to_vector)
		fx_x86_set_vector(x, x->reg, fx_x86_get_rm(x, size), 8);
	else
		fx_x86_set_rm(x, x86_get_vector(x, x->reg, size), size);
}

/* Of the instructions of the map 0F: those that have one byte behind their operands. */
static bool x86_has_immediate(unsigned opcode)
{
	return (opcode >= 0x70 && opcode <= 0x73) || opcode == 0xa4 || opcode == 0xac ||
	       opcode == 0xba || opcode == 0xc2 || (opcode >= 0xc4 && opcode <= 0xc6);
}

bool fx_x86_is_vector(unsigned opcode)
{
	return (opcode >= 0x10 && opcode <= 0x17) || (opcode >= 0x28 && opcode <= 0x2f) ||
	       (opcode >= 0x50 && opcode <= 0x76) || (opcode >= 0x7c && opcode <= 0x7f) ||
	       opcode == 0xc2 || (opcode >= 0xc4 && opcode <= 0xc6) || opcode >= 0xd0;
}

/* What an instruction leaves whose result is not worth knowing. */
static void x86_vector_else(struct x86 *x, unsigned opcode)
{
	bool is_general =
	    opcode == 0x2c || opcode == 0x2d || opcode == 0x50 || opcode == 0xc5 || opcode == 0xd7;

	if (opcode == 0x2e || opcode == 0x2f) /* compares */
		return;
	if (opcode == 0x2b || opcode == 0xe7) /* stores past the cache */
		x86_vector_store(x, x86_vector_width(x));
	else if (is_general)
		fx_x86_set_register(x, x->reg, FX_NODE_UNKNOWN, 8);
	else if (opcode >= 0x71 && opcode <= 0x73) /* shifts of `rm' */
		fx_x86_set_vector(x, x->is_vex ? x->vex_first & 0xf : x->rm, FX_NODE_UNKNOWN, 8);
	else
		fx_x86_set_vector(x, x->reg, FX_NODE_UNKNOWN, 8);
}

/* MMX has the same opcodes, for registers that are not known here; and one of them stores at rdi. */
static bool x86_is_strange(const struct x86 *x, unsigned opcode)
{
	bool has_prefix = x->prefixes & (X86_PREFIX_16 | X86_PREFIX_F2 | X86_PREFIX_F3);

	if (opcode == 0xd6)
		return !(x->prefixes & X86_PREFIX_16);
	return opcode == 0xf7 || ((opcode >= 0x60 && opcode <= 0x7f && !has_prefix) ||
				  (opcode >= 0xd0 && !has_prefix));
}

/* False: it is not known. */
bool fx_x86_vector(struct x86 *x, unsigned opcode)
{
	if (x86_is_strange(x, opcode))
		return false;
	fx_x86_operands(x, x86_has_immediate(opcode) ? 1 : 0);
	if (x86_has_immediate(opcode))
		fx_x86_immediate(x, 1);
	switch (opcode) {
	case 0x10:
	case 0x11:
		/* A scalar between registers, of VEX's, has a third operand above it: the lower part is the same. */
		if (opcode == 0x10)
			x86_vector_load(x, x86_scalar_width(x));
		else
			x86_vector_store(x, x86_scalar_width(x));
		return true;
	case 0x28:
	case 0x6f:
		x86_vector_load(x, x86_vector_width(x));
		return true;
	case 0x29:
	case 0x7f:
		x86_vector_store(x, x86_vector_width(x));
		return true;
	case 0x12:
		/* movlps, movlpd; movhlps between registers */
		if (x->mode == 3 || (x->prefixes & (X86_PREFIX_F2 | X86_PREFIX_F3)))
			fx_x86_set_vector(x, x->reg, FX_NODE_UNKNOWN, 8);
		else
			x86_vector_load(x, 8);
		return true;
	case 0x13:
		x86_vector_store(x, 8);
		return true;
	case 0x16: /* into the upper half */
		if (x->prefixes & X86_PREFIX_F3)
			fx_x86_set_vector(x, x->reg, FX_NODE_UNKNOWN, 8);
		else if (x->is_vex)
			fx_x86_set_vector(x, x->reg, x86_get_vector(x, x->vex_first & 0xf, 8), 8);
		return true;
	case 0x17:
		fx_state_store(x->s, x->address, 8, FX_NODE_UNKNOWN);
		return true;
	case 0x14: /* unpcklps leaves the first 4 bytes, unpcklpd the first 8 */
	case 0x62: /* punpckldq */
	case 0x6c: /* punpcklqdq */ {
		bool whole = opcode == 0x6c || (opcode == 0x14 && (x->prefixes & X86_PREFIX_16));
		unsigned size = whole ? 8 : 4;

		fx_x86_set_vector(x, x->reg,
				  x86_get_vector(x, x->is_vex ? x->vex_first & 0xf : x->reg, size),
				  size);
		return true;
	}
	case 0x57:
	case 0xef:
		x86_vector_xor(x);
		return true;
	case 0x6e:
		x86_move_d(x, true);
		return true;
	case 0x7e:
		if (x->prefixes & X86_PREFIX_F3)
			x86_vector_load(x, 8);
		else
			x86_move_d(x, false);
		return true;
	case 0xd6:
		x86_vector_store(x, 8);
		return true;
	default:
		x86_vector_else(x, opcode);
		return true;
	}
}

/* Loads and stores of x87: what it has in its own registers is not known. */
bool fx_x86_x87(struct x86 *x, unsigned opcode)
{
	static const uint8_t stores[8][8] = {
	    [1] = {[2] = 4, [3] = 4},
	    [3] = {[1] = 4, [2] = 4, [3] = 4, [7] = 16},
	    [5] = {[1] = 8, [2] = 8, [3] = 8},
	    [7] = {[1] = 2, [2] = 2, [3] = 2, [6] = 16, [7] = 8},
	};
	unsigned size;

	fx_x86_operands(x, 0);
	if (x->mode == 3)
		return opcode != 0xdf; /* fnstsw goes to ax */
	size = stores[opcode & 7][x->reg & 7];
	for (unsigned i = 0; i < size; i += 8)
		fx_state_store(x->s, fx_node_sum(x->s->nodes, x->address, i),
			       size - i < 8 ? size - i : 8, FX_NODE_UNKNOWN);
	/* States of the whole unit, and control words, are stored by those that are left. */
	return size || (opcode & 1) == 0 || (x->reg & 7) == 0 || (x->reg & 7) == 5 ||
	       (opcode == 0xdf && (x->reg & 7) == 4);
}

#endif
