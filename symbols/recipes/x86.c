/* SPDX-License-Identifier: MIT */
#include "symbols/recipes/x86-internal.h"

#if defined(__x86_64__)

/* --- Moves and sums --------------------------------------------------------------------------- */

static void x86_push(struct x86 *x, fx_node value)
{
	fx_node sp = fx_node_sum(x->s->nodes, fx_state_get(x->s, RSP, 8), -8);

	fx_state_set(x->s, RSP, sp, 8);
	fx_state_store(x->s, sp, 8, value);
}

static fx_node x86_pop(struct x86 *x)
{
	fx_node sp = fx_state_get(x->s, RSP, 8), value = fx_state_load(x->s, sp, 8);

	fx_state_set(x->s, RSP, fx_node_sum(x->s->nodes, sp, 8), 8);
	return value;
}

/* The eight operations that have a row of opcodes each: add, or, adc, sbb, and, sub, xor, cmp. */
static fx_node x86_arithmetic(struct x86 *x, unsigned which, fx_node left, fx_node right)
{
	static const enum fx_node_kind kinds[8] = {FX_NODE_ADD,	 FX_NODE_OR,  FX_NODE_NONE,
						   FX_NODE_NONE, FX_NODE_AND, FX_NODE_SUB,
						   FX_NODE_XOR,	 FX_NODE_NONE};

	if (kinds[which] == FX_NODE_NONE)
		return FX_NODE_UNKNOWN;
	return fx_node_of_two(x->s->nodes, kinds[which], left, right);
}

static void x86_arithmetic_row(struct x86 *x, unsigned opcode)
{
	unsigned which = opcode >> 3 & 7, form = opcode & 7, size = form & 1 ? x->size : 1;
	bool is_compare = which == 7, to_register = form == 2 || form == 3;
	fx_node a, b, value;

	if (form >= 4) {
		b = fx_node_const(x->s->nodes, fx_x86_immediate(x, size == 8 ? 4 : size));
		value = x86_arithmetic(x, which, fx_x86_get_register(x, 0, size), b);
		if (!is_compare)
			fx_x86_set_register(x, 0, value, size);
		return;
	}
	fx_x86_operands(x, 0);
	a = fx_x86_get_register(x, x->reg, size);
	b = fx_x86_get_rm(x, size);
	value = to_register ? x86_arithmetic(x, which, a, b) : x86_arithmetic(x, which, b, a);
	/* The same register with itself is nothing, whatever was in it. */
	if (x->mode == 3 && x->reg == x->rm && (which == 6 || which == 5))
		value = fx_node_const(x->s->nodes, 0);
	if (is_compare)
		return;
	if (to_register)
		fx_x86_set_register(x, x->reg, value, size);
	else
		fx_x86_set_rm(x, value, size);
}

static void x86_arithmetic_immediate(struct x86 *x, unsigned opcode)
{
	unsigned size = opcode & 1 ? x->size : 1,
		 bytes = opcode == 0x81 ? (size == 8 ? 4 : size) : 1;
	fx_node right, value;

	fx_x86_operands(x, bytes);
	right = fx_node_const(x->s->nodes, fx_x86_immediate(x, bytes));
	value = x86_arithmetic(x, x->reg & 7, fx_x86_get_rm(x, size), right);
	if ((x->reg & 7) != 7)
		fx_x86_set_rm(x, value, size);
}

static void x86_shift(struct x86 *x, unsigned opcode)
{
	unsigned size = opcode & 1 ? x->size : 1, count = 1, which;
	bool by_register = opcode >= 0xd2;
	fx_node value, left;

	fx_x86_operands(x, opcode < 0xd0 ? 1 : 0);
	if (opcode < 0xd0)
		count = (unsigned)fx_x86_immediate(x, 1) & (size == 8 ? 63 : 31);
	which = x->reg & 7;
	left = fx_x86_get_rm(x, size);
	if (which == 7)
		left = fx_node_extend(x->s->nodes, FX_NODE_SIGN, left, size);
	value = fx_node_of_two(x->s->nodes,
			       which == 4   ? FX_NODE_SHL
			       : which == 5 ? FX_NODE_SHR
					    : FX_NODE_SAR,
			       left, fx_node_const(x->s->nodes, count));
	if (by_register || (which != 4 && which != 5 && which != 7) || count >= 8 * size)
		value = FX_NODE_UNKNOWN;
	fx_x86_set_rm(x, value, size);
}

/* test, test, not, neg, mul, imul, div, idiv. */
static void x86_group_f6(struct x86 *x, unsigned opcode)
{
	unsigned size = opcode & 1 ? x->size : 1, which;
	bool is_test = x->at < x->end && (*x->at >> 3 & 7) < 2;
	unsigned bytes = is_test ? (size == 8 ? 4 : size) : 0;
	fx_node value;

	fx_x86_operands(x, bytes);
	which = x->reg & 7;
	if (is_test) {
		fx_x86_immediate(x, bytes);
		return;
	}
	if (which > 3) {
		fx_x86_set_register(x, 0, FX_NODE_UNKNOWN, 8);
		fx_x86_set_register(x, 2, FX_NODE_UNKNOWN, 8);
		return;
	}
	value = fx_x86_get_rm(x, size);
	value =
	    which == 2
		? fx_node_of_two(x->s->nodes, FX_NODE_XOR, value, fx_node_const(x->s->nodes, -1))
		: fx_node_of_two(x->s->nodes, FX_NODE_SUB, fx_node_const(x->s->nodes, 0), value);
	fx_x86_set_rm(x, value, size);
}

static void x86_multiply(struct x86 *x, fx_node left, fx_node right)
{
	fx_node value = fx_node_of_two(x->s->nodes, FX_NODE_MUL, left, right);

	fx_x86_set_register(x, x->reg, value, x->size);
}

static void x86_multiply_immediate(struct x86 *x, unsigned opcode)
{
	unsigned bytes = opcode == 0x6b ? 1 : x->size == 8 ? 4 : x->size;

	fx_x86_operands(x, bytes);
	x86_multiply(x, fx_x86_get_rm(x, x->size),
		     fx_node_const(x->s->nodes, fx_x86_immediate(x, bytes)));
}

/* movzx, movsx, movsxd. */
static void x86_extend(struct x86 *x, enum fx_node_kind kind, unsigned from)
{
	fx_x86_operands(x, 0);
	fx_x86_set_register(
	    x, x->reg, fx_node_extend(x->s->nodes, kind, fx_x86_get_rm(x, from), from), x->size);
}

static void x86_lea(struct x86 *x)
{
	fx_x86_operands(x, 0);
	fx_x86_set_register(x, x->reg, x->address, x->size);
}

static void x86_exchange(struct x86 *x, unsigned size)
{
	fx_node a, b;

	fx_x86_operands(x, 0);
	a = fx_x86_get_register(x, x->reg, size);
	b = fx_x86_get_rm(x, size);
	fx_x86_set_register(x, x->reg, b, size);
	fx_x86_set_rm(x, a, size);
}

static void x86_move_immediate(struct x86 *x, unsigned size)
{
	unsigned bytes = size == 8 ? 4 : size;

	fx_x86_operands(x, bytes);
	fx_x86_set_rm(x, fx_node_const(x->s->nodes, fx_x86_immediate(x, bytes)), size);
}

/* --- Calls and jumps -------------------------------------------------------------------------- */

static void x86_to(struct x86 *x, struct fx_step *ret, enum fx_step_kind kind, unsigned bytes)
{
	int64_t distance = fx_x86_immediate(x, bytes);

	ret->kind = kind;
	ret->target = x->next + (uint64_t)distance;
}

/* inc, dec, call, call, jmp, jmp, push. False: it is none of them. */
static bool x86_group_ff(struct x86 *x, unsigned opcode, struct fx_step *ret)
{
	unsigned size = opcode & 1 ? x->size : 1;

	fx_x86_operands(x, 0);
	switch (x->reg & 7) {
	case 0:
	case 1:
		fx_x86_set_rm(
		    x, fx_node_sum(x->s->nodes, fx_x86_get_rm(x, size), x->reg & 1 ? -1 : 1), size);
		return true;
	case 2:
		ret->kind = FX_STEP_CALL;
		ret->slot = x->absolute;
		return opcode & 1;
	case 4:
		ret->kind = FX_STEP_LEAVE;
		ret->slot = x->absolute;
		return opcode & 1;
	case 6:
		x86_push(x, fx_x86_get_rm(x, 8));
		return size > 2;
	default:
		return false;
	}
}

/* --- Which instruction it is ------------------------------------------------------------------ */

/* Of two opcode bytes. False: it is not known. */
static bool x86_two(struct x86 *x, struct fx_step *ret)
{
	unsigned opcode = fx_x86_byte(x);

	if (opcode == 0x1e && (x->prefixes & X86_PREFIX_F3))
		return fx_x86_byte(x) == 0xfa;			  /* endbr64 */
	if (opcode == 0x18 || opcode == 0x1f || opcode == 0x0d) { /* hints, and nothing */
		fx_x86_operands(x, 0);
		return true;
	}
	if (opcode >= 0x40 && opcode <= 0x4f) { /* cmov */
		fx_x86_operands(x, 0);
		fx_x86_set_register(x, x->reg, FX_NODE_UNKNOWN, 8);
		return true;
	}
	if (opcode >= 0x80 && opcode <= 0x8f) {
		x86_to(x, ret, FX_STEP_BRANCH, 4);
		return true;
	}
	if (opcode >= 0x90 && opcode <= 0x9f) { /* set */
		fx_x86_operands(x, 0);
		fx_x86_set_rm(x, FX_NODE_UNKNOWN, 1);
		return true;
	}
	if (opcode == 0x2a) { /* from a general register to a number with a point */
		fx_x86_operands(x, 0);
		fx_x86_set_vector(x, x->reg, FX_NODE_UNKNOWN, 8);
		return true;
	}
	switch (opcode) {
	case 0xa3: /* bt */
		fx_x86_operands(x, 0);
		return true;
	case 0xaf:
		fx_x86_operands(x, 0);
		x86_multiply(x, fx_x86_get_register(x, x->reg, x->size), fx_x86_get_rm(x, x->size));
		return true;
	case 0xb6:
	case 0xb7:
		x86_extend(x, FX_NODE_ZERO, opcode & 1 ? 2 : 1);
		return true;
	case 0xbe:
	case 0xbf:
		x86_extend(x, FX_NODE_SIGN, opcode & 1 ? 2 : 1);
		return true;
	case 0xbc: /* bsf, tzcnt, bsr, lzcnt, popcnt */
	case 0xbd:
	case 0xb8:
		fx_x86_operands(x, 0);
		fx_x86_set_register(x, x->reg, FX_NODE_UNKNOWN, 8);
		return true;
	case 0x38:
	case 0x3a: {
		bool has_immediate = opcode == 0x3a;

		opcode = fx_x86_byte(x);
		/* movbe, crc32, adx and the like, and what leaves something elsewhere, are left alone. */
		if (opcode >= 0xf0 || (has_immediate && opcode >= 0x14 && opcode <= 0x17) ||
		    (has_immediate && opcode >= 0x60 && opcode <= 0x63))
			return false;
		fx_x86_operands(x, has_immediate ? 1 : 0);
		if (has_immediate)
			fx_x86_immediate(x, 1);
		fx_x86_set_vector(x, x->reg, FX_NODE_UNKNOWN, 8);
		return true;
	}
	default:
		return fx_x86_is_vector(opcode) && opcode != 0x77 && opcode != 0xff &&
		       fx_x86_vector(x, opcode);
	}
}

static bool x86_one(struct x86 *x, unsigned opcode, struct fx_step *ret)
{
	if (opcode < 0x40 && (opcode & 7) < 6) {
		x86_arithmetic_row(x, opcode);
		return true;
	}
	if (x->size == 2 && (opcode >= 0x50 && opcode <= 0x6a && opcode != 0x63 && opcode != 0x69))
		return false; /* a push of 2 bytes */
	if (opcode >= 0x50 && opcode <= 0x57) {
		x86_push(x, fx_x86_get_register(x, (opcode & 7) | (x->rex & 1) << 3, 8));
		return true;
	}
	if (opcode >= 0x58 && opcode <= 0x5f) {
		fx_x86_set_register(x, (opcode & 7) | (x->rex & 1) << 3, x86_pop(x), 8);
		return true;
	}
	if (opcode >= 0x70 && opcode <= 0x7f) {
		x86_to(x, ret, FX_STEP_BRANCH, 1);
		return true;
	}
	if (opcode >= 0xb0 && opcode <= 0xbf) {
		unsigned size = opcode < 0xb8 ? 1 : x->size;

		fx_x86_set_register(x, (opcode & 7) | (x->rex & 1) << 3,
				    fx_node_const(x->s->nodes, fx_x86_immediate(x, size)), size);
		return true;
	}
	switch (opcode) {
	case 0x63:
		x86_extend(x, FX_NODE_SIGN, 4);
		return true;
	case 0x68:
	case 0x6a:
		x86_push(x,
			 fx_node_const(x->s->nodes, fx_x86_immediate(x, opcode == 0x68 ? 4 : 1)));
		return true;
	case 0x69:
	case 0x6b:
		x86_multiply_immediate(x, opcode);
		return true;
	case 0x80:
	case 0x81:
	case 0x83:
		x86_arithmetic_immediate(x, opcode);
		return true;
	case 0x84:
	case 0x85: /* test */
		fx_x86_operands(x, 0);
		return true;
	case 0x86:
	case 0x87:
		x86_exchange(x, opcode & 1 ? x->size : 1);
		return true;
	case 0x88:
	case 0x89:
		fx_x86_operands(x, 0);
		fx_x86_set_rm(x, fx_x86_get_register(x, x->reg, opcode & 1 ? x->size : 1),
			      opcode & 1 ? x->size : 1);
		return true;
	case 0x8a:
	case 0x8b:
		fx_x86_operands(x, 0);
		fx_x86_set_register(x, x->reg, fx_x86_get_rm(x, opcode & 1 ? x->size : 1),
				    opcode & 1 ? x->size : 1);
		return true;
	case 0x8d:
		x86_lea(x);
		return true;
	case 0x90:
		return !(x->rex & 1); /* or it exchanges rax with r8 */
	case 0x98:		      /* cbw, cwde, cdqe */
		fx_x86_set_register(x, 0,
				    fx_node_extend(x->s->nodes, FX_NODE_SIGN,
						   fx_x86_get_register(x, 0, x->size / 2),
						   x->size / 2),
				    x->size);
		return true;
	case 0x99:
		fx_x86_set_register(x, 2, FX_NODE_UNKNOWN, 8);
		return true;
	case 0xa8:
	case 0xa9:
		fx_x86_immediate(x, opcode == 0xa8 ? 1 : x->size == 8 ? 4 : x->size);
		return true;
	case 0xc0:
	case 0xc1:
	case 0xd0:
	case 0xd1:
	case 0xd2:
	case 0xd3:
		x86_shift(x, opcode);
		return true;
	case 0xc2:
		fx_x86_immediate(x, 2);
		ret->kind = FX_STEP_RETURN;
		return true;
	case 0xc3:
		ret->kind = FX_STEP_RETURN;
		return true;
	case 0xc6:
	case 0xc7:
		x86_move_immediate(x, opcode & 1 ? x->size : 1);
		return true;
	case 0xc9:
		fx_state_set(x->s, RSP, fx_state_get(x->s, RBP, 8), 8);
		fx_state_set(x->s, RBP, x86_pop(x), 8);
		return true;
	case 0xe8:
		x86_to(x, ret, FX_STEP_CALL, 4);
		return true;
	case 0xe9:
	case 0xeb:
		x86_to(x, ret, FX_STEP_JUMP, opcode == 0xe9 ? 4 : 1);
		return true;
	case 0xf6:
	case 0xf7:
		x86_group_f6(x, opcode);
		return true;
	case 0xfe:
	case 0xff:
		return x86_group_ff(x, opcode, ret);
	default:
		return false;
	}
}

/* The three fields of a VEX prefix of two or three bytes; then as without it. */
static bool x86_vex(struct x86 *x, unsigned opcode)
{
	unsigned first = fx_x86_byte(x), second = opcode == 0xc4 ? fx_x86_byte(x) : first, map = 1;
	static const unsigned prefixes[4] = {0, X86_PREFIX_16, X86_PREFIX_F3, X86_PREFIX_F2};

	x->is_vex = true;
	x->rex = first & 0x80 ? 0 : 4;
	if (opcode == 0xc4) {
		map = first & 0x1f;
		x->rex |= (first & 0x40 ? 0 : 2) | (first & 0x20 ? 0 : 1) | (second & 0x80 ? 8 : 0);
	}
	x->vex_first = (~second >> 3 & 0xf) | (second & 4) << 6;
	x->prefixes |= prefixes[second & 3];
	x->size = x->rex & 8 ? 8 : 4;
	opcode = fx_x86_byte(x);
	if (map == 1 && opcode != 0x77)
		return fx_x86_is_vector(opcode) && fx_x86_vector(x, opcode);
	for (unsigned i = 0; i < 16 && (x->vex_first & 0x100); i++) /* vzeroall */
		fx_x86_set_vector(x, i, FX_NODE_UNKNOWN, 8);
	return map == 1;
}

static void x86_prefixes(struct x86 *x)
{
	for (; x->at < x->end; fx_x86_byte(x)) {
		switch (*x->at) {
		case 0x66:
			x->prefixes |= X86_PREFIX_16;
			break;
		case 0xf2:
			x->prefixes |= X86_PREFIX_F2;
			break;
		case 0xf3:
			x->prefixes |= X86_PREFIX_F3;
			break;
		case 0x64:
		case 0x65:
			x->prefixes |= X86_PREFIX_SEGMENT;
			break;
		case 0x2e: /* of no meaning */
		case 0x3e:
			break;
		default:
			if ((*x->at & 0xf0) == 0x40) {
				x->rex = fx_x86_byte(x);
				x->has_rex = true;
			}
			return;
		}
	}
}

void fx_step(struct fx_state *s, const uint8_t *code, size_t size, uint64_t pc, struct fx_step *ret)
{
	struct x86 x = {.s = s, .at = code, .end = code + size, .next = pc};
	unsigned opcode;
	bool known;

	*ret = (struct fx_step){.kind = FX_STEP_NEXT};
	x86_prefixes(&x);
	x.size = x.rex & 8 ? 8 : x.prefixes & X86_PREFIX_16 ? 2 : 4;
	opcode = fx_x86_byte(&x);
	if (opcode == 0x0f)
		known = x86_two(&x, ret);
	else if (opcode == 0xc4 || opcode == 0xc5)
		known = x86_vex(&x, opcode);
	else if (opcode >= 0xd8 && opcode <= 0xdf)
		known = fx_x86_x87(&x, opcode);
	else
		known = x86_one(&x, opcode, ret);
	ret->next = x.next;
	if (!known || x.is_short)
		ret->kind = FX_STEP_STUCK;
}

#endif
