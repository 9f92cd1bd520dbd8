/* SPDX-License-Identifier: MIT */
/* From a frame to its caller's: what a row of the tables says of the registers. */
#include "preload/host/cfi.h"

#include <string.h>

#include "preload/host/dwarf.h"

/* --- Expressions ------------------------------------------------------------------------------- */

#define STACK_MAX 8u

struct expression {
	const struct fx_cfi_state *state;
	uint64_t stack[STACK_MAX];
	unsigned depth;
};

bool fx_cfi_read(const struct fx_cfi_state *s, uint64_t address, uint64_t *ret)
{
	if (address < s->low || address > s->high - 8 || address % 8)
		return false;
	memcpy(ret, (const void *)(uintptr_t)address, 8);
	return true;
}

static bool expression_push(struct expression *e, uint64_t value)
{
	if (e->depth == STACK_MAX)
		return false;
	e->stack[e->depth++] = value;
	return true;
}

static bool expression_push_register(struct expression *e, unsigned number, int64_t offset)
{
	unsigned i = number - FX_CFI_FIRST;

	if (!fx_cfi_has_rule(number) || !(e->state->known & 1u << i))
		return false;
	return expression_push(e, e->state->registers[i] + (uint64_t)offset);
}

/* The two topmost become one. */
static bool expression_combine(struct expression *e, uint8_t op)
{
	uint64_t *a, b;

	if (e->depth < 2)
		return false;
	b = e->stack[--e->depth];
	a = &e->stack[e->depth - 1];
	switch (op) {
	case 0x1a: /* DW_OP_and */
		*a &= b;
		return true;
	case 0x1c: /* DW_OP_minus */
		*a -= b;
		return true;
	case 0x22: /* DW_OP_plus */
		*a += b;
		return true;
	case 0x24: /* DW_OP_shl */
		*a = b < 64 ? *a << b : 0;
		return true;
	case 0x2a: /* DW_OP_ge */
		*a = (int64_t)*a >= (int64_t)b;
		return true;
	default:
		return false;
	}
}

static bool expression_operate(struct expression *e, uint8_t op, struct fx_dwarf *c)
{
	if (op >= 0x30 && op <= 0x4f) /* DW_OP_lit0.. */
		return expression_push(e, op - 0x30u);
	if (op >= 0x70 && op <= 0x8f) /* DW_OP_breg0.. */
		return expression_push_register(e, op - 0x70u, fx_dwarf_sleb(c));
	switch (op) {
	case 0x06: /* DW_OP_deref */
		return e->depth &&
		       fx_cfi_read(e->state, e->stack[e->depth - 1], &e->stack[e->depth - 1]);
	case 0x08: /* DW_OP_const1u */
		return expression_push(e, fx_dwarf_bytes(c, 1));
	case 0x09: /* DW_OP_const1s */
		return expression_push(e, (uint64_t)(int64_t)(int8_t)fx_dwarf_bytes(c, 1));
	case 0x0a: /* DW_OP_const2u */
		return expression_push(e, fx_dwarf_bytes(c, 2));
	case 0x0b: /* DW_OP_const2s */
		return expression_push(e, (uint64_t)(int64_t)(int16_t)fx_dwarf_bytes(c, 2));
	case 0x23: /* DW_OP_plus_uconst */
		return e->depth && (e->stack[e->depth - 1] += fx_dwarf_uleb(c), true);
	default:
		return expression_combine(e, op);
	}
}

static bool expression_value(const struct fx_cfi_state *s, const uint8_t *expression,
			     const uint64_t *first, uint64_t *ret)
{
	struct expression e = {.state = s};
	struct fx_dwarf c = {expression, expression + 10, false};
	uint64_t length = fx_dwarf_uleb(&c);

	if (first)
		expression_push(&e, *first);
	c.end = c.at + length;
	while (c.at < c.end && !c.bad)
		if (!expression_operate(&e, (uint8_t)fx_dwarf_bytes(&c, 1), &c))
			return false;
	if (c.bad || !e.depth)
		return false;
	*ret = e.stack[e.depth - 1];
	return true;
}

/* --- To the caller ----------------------------------------------------------------------------- */

bool fx_cfi_cfa_of(const struct fx_cfi_cfa *cfa, const struct fx_cfi_state *s, uint64_t *ret)
{
	if (cfa->expression)
		return expression_value(s, cfa->expression, NULL, ret);
	if (cfa->number >= FX_CFI_REGISTERS || !(s->known & 1u << cfa->number))
		return false;
	*ret = s->registers[cfa->number] + (uint64_t)cfa->offset;
	return true;
}

/* The caller's value of one register; false if it is lost. */
static bool row_find_register(const struct fx_cfi_row *row, const struct fx_cfi_state *s,
			      unsigned i, uint64_t cfa, uint64_t *ret)
{
	int64_t value = row->rules[i].value;
	uint64_t address;

	switch ((enum fx_cfi_kind)row->rules[i].kind) {
	case FX_CFI_SAME:
		*ret = s->registers[i];
		return s->known & 1u << i;
	case FX_CFI_OFFSET:
		return fx_cfi_read(s, cfa + (uint64_t)value, ret);
	case FX_CFI_VAL_OFFSET:
		*ret = cfa + (uint64_t)value;
		return true;
	case FX_CFI_REGISTER:
		if ((uint64_t)value >= FX_CFI_RULES || !(s->known & 1u << value))
			return false;
		*ret = s->registers[value];
		return true;
	case FX_CFI_EXPRESSION:
		return expression_value(s, (const uint8_t *)(intptr_t)value, &cfa, &address) &&
		       fx_cfi_read(s, address, ret);
	case FX_CFI_VAL_EXPRESSION:
		return expression_value(s, (const uint8_t *)(intptr_t)value, &cfa, ret);
	case FX_CFI_UNDEFINED:
		break;
	}
	return false;
}

/* Where the caller goes on. */
static bool row_find_return_address(const struct fx_cfi_row *row, struct fx_cfi_state *caller)
{
	if (!(caller->known & 1u << FX_CFI_RA))
		return false;
	if (FX_CFI_PC == FX_CFI_RA)
		return row->rules[FX_CFI_PC].kind != FX_CFI_SAME;
	caller->registers[FX_CFI_PC] = fx_cfi_unsigned(caller->registers[FX_CFI_RA]);
	caller->known |= 1u << FX_CFI_PC;
	caller->known &= ~(1u << FX_CFI_RA); /* the call took its place */
	return true;
}

bool fx_cfi_apply(const struct fx_cfi_row *row, struct fx_cfi_state *s)
{
	struct fx_cfi_state caller = {.low = s->low, .high = s->high};
	uint64_t cfa;

	if (!fx_cfi_cfa_of(&row->cfa, s, &cfa))
		return false;
	for (unsigned i = 0; i < FX_CFI_RULES; i++)
		if (row_find_register(row, s, i, cfa, &caller.registers[i]))
			caller.known |= 1u << i;
	if (row->rules[FX_CFI_SP].kind == FX_CFI_SAME) {
		caller.registers[FX_CFI_SP] = cfa;
		caller.known |= 1u << FX_CFI_SP;
	}
	if (!row_find_return_address(row, &caller))
		return false;
	*s = caller;
	return true;
}
