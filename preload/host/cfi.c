/* SPDX-License-Identifier: MIT */
/* The program of an entry: what holds at each place of a function. */
#include "preload/host/cfi.h"

#include <string.h>

#include "preload/host/eh-frame.h"

#define SAVED_ROWS 4u

/* The rules of the registers beside the CFA's, for callers that want them. */
struct cfi_rules {
	struct fx_cfi_rule *now, initial[FX_CFI_RULES], saved[SAVED_ROWS][FX_CFI_RULES];
	bool has_initial;
};

struct cfi_machine {
	const struct fx_cie *cie;
	struct fx_cfi_cfa *cfa, saved[SAVED_ROWS];
	struct cfi_rules *rules; /* NULL: the CFA alone is wanted */
	unsigned depth;
	int64_t initial_return_offset;
	uint64_t location, pc;
};

#define RULES_BYTES (FX_CFI_RULES * sizeof(struct fx_cfi_rule))

static bool cfi_is_return_address(uint64_t number)
{
	return number == FX_CFI_FIRST + FX_CFI_RA;
}

static void cfi_set_rule(struct cfi_machine *m, uint64_t number, enum fx_cfi_kind kind,
			 int64_t offset)
{
	if (cfi_is_return_address(number))
		m->cfa->return_offset = kind == FX_CFI_OFFSET ? offset : 0;
	if (m->rules && fx_cfi_has_rule(number))
		m->rules->now[number - FX_CFI_FIRST] = (struct fx_cfi_rule){kind, offset};
}

static void cfi_set_expression(struct cfi_machine *m, uint64_t number, enum fx_cfi_kind kind,
			       struct fx_dwarf *c)
{
	int64_t expression = (int64_t)(intptr_t)c->at;
	uint64_t length = fx_dwarf_uleb(c);

	if (length > (uint64_t)(c->end - c->at)) {
		c->bad = true;
		return;
	}
	c->at += length;
	cfi_set_rule(m, number, kind, expression);
}

static void cfi_set_cfa(struct cfi_machine *m, uint64_t number, int64_t offset)
{
	m->cfa->number =
	    fx_cfi_has_rule(number) ? (uint32_t)number - FX_CFI_FIRST : FX_CFI_REGISTERS;
	m->cfa->offset = offset;
	m->cfa->expression = NULL;
}

static void cfi_set_cfa_offset(struct cfi_machine *m, int64_t offset)
{
	m->cfa->offset = offset;
	m->cfa->expression = NULL;
}

static void cfi_restore(struct cfi_machine *m, uint64_t number)
{
	if (cfi_is_return_address(number))
		m->cfa->return_offset = m->initial_return_offset;
	if (m->rules && fx_cfi_has_rule(number) && m->rules->has_initial)
		m->rules->now[number - FX_CFI_FIRST] = m->rules->initial[number - FX_CFI_FIRST];
}

static bool cfi_push_row(struct cfi_machine *m)
{
	if (m->depth == SAVED_ROWS)
		return false;
	if (m->rules)
		memcpy(m->rules->saved[m->depth], m->rules->now, RULES_BYTES);
	m->saved[m->depth++] = *m->cfa;
	return true;
}

static bool cfi_pop_row(struct cfi_machine *m)
{
	if (!m->depth)
		return false;
	*m->cfa = m->saved[--m->depth];
	if (m->rules)
		memcpy(m->rules->now, m->rules->saved[m->depth], RULES_BYTES);
	return true;
}

static void cfi_advance(struct cfi_machine *m, uint64_t delta)
{
	m->location += delta * m->cie->code_align;
}

/* The instructions whose operand is not in the opcode. False: not understood. */
static bool cfi_execute_other(struct cfi_machine *m, uint8_t opcode, struct fx_dwarf *c)
{
	int64_t align = m->cie->data_align;
	uint64_t number;

	switch (opcode) {
	case 0x00: /* DW_CFA_nop */
		return true;
	case 0x01: /* DW_CFA_set_loc */
		m->location = fx_dwarf_encoded(c, m->cie->pointer_encoding, NULL);
		return true;
	case 0x02: /* DW_CFA_advance_loc1 */
		cfi_advance(m, fx_dwarf_bytes(c, 1));
		return true;
	case 0x03: /* DW_CFA_advance_loc2 */
		cfi_advance(m, fx_dwarf_bytes(c, 2));
		return true;
	case 0x04: /* DW_CFA_advance_loc4 */
		cfi_advance(m, fx_dwarf_bytes(c, 4));
		return true;
	case 0x05: /* DW_CFA_offset_extended */
		number = fx_dwarf_uleb(c);
		cfi_set_rule(m, number, FX_CFI_OFFSET, (int64_t)fx_dwarf_uleb(c) * align);
		return true;
	case 0x06: /* DW_CFA_restore_extended */
		cfi_restore(m, fx_dwarf_uleb(c));
		return true;
	case 0x07: /* DW_CFA_undefined */
		cfi_set_rule(m, fx_dwarf_uleb(c), FX_CFI_UNDEFINED, 0);
		return true;
	case 0x08: /* DW_CFA_same_value */
		cfi_set_rule(m, fx_dwarf_uleb(c), FX_CFI_SAME, 0);
		return true;
	case 0x09: /* DW_CFA_register */
		number = fx_dwarf_uleb(c);
		cfi_set_rule(m, number, FX_CFI_REGISTER,
			     (int64_t)(fx_dwarf_uleb(c) - FX_CFI_FIRST));
		return true;
	case 0x0a: /* DW_CFA_remember_state */
		return cfi_push_row(m);
	case 0x0b: /* DW_CFA_restore_state */
		return cfi_pop_row(m);
	case 0x0c: /* DW_CFA_def_cfa */
		number = fx_dwarf_uleb(c);
		cfi_set_cfa(m, number, (int64_t)fx_dwarf_uleb(c));
		return true;
	case 0x0d: /* DW_CFA_def_cfa_register */
		cfi_set_cfa(m, fx_dwarf_uleb(c), m->cfa->offset);
		return true;
	case 0x0e: /* DW_CFA_def_cfa_offset */
		cfi_set_cfa_offset(m, (int64_t)fx_dwarf_uleb(c));
		return true;
	case 0x0f: /* DW_CFA_def_cfa_expression */
		m->cfa->expression = c->at;
		number = fx_dwarf_uleb(c);
		c->bad |= number > (uint64_t)(c->end - c->at);
		c->at += c->bad ? 0 : number;
		return true;
	case 0x10: /* DW_CFA_expression */
		cfi_set_expression(m, fx_dwarf_uleb(c), FX_CFI_EXPRESSION, c);
		return true;
	case 0x11: /* DW_CFA_offset_extended_sf */
		number = fx_dwarf_uleb(c);
		cfi_set_rule(m, number, FX_CFI_OFFSET, fx_dwarf_sleb(c) * align);
		return true;
	case 0x12: /* DW_CFA_def_cfa_sf */
		number = fx_dwarf_uleb(c);
		cfi_set_cfa(m, number, fx_dwarf_sleb(c) * align);
		return true;
	case 0x13: /* DW_CFA_def_cfa_offset_sf */
		cfi_set_cfa_offset(m, fx_dwarf_sleb(c) * align);
		return true;
	case 0x14: /* DW_CFA_val_offset */
		number = fx_dwarf_uleb(c);
		cfi_set_rule(m, number, FX_CFI_VAL_OFFSET, (int64_t)fx_dwarf_uleb(c) * align);
		return true;
	case 0x15: /* DW_CFA_val_offset_sf */
		number = fx_dwarf_uleb(c);
		cfi_set_rule(m, number, FX_CFI_VAL_OFFSET, fx_dwarf_sleb(c) * align);
		return true;
	case 0x16: /* DW_CFA_val_expression */
		cfi_set_expression(m, fx_dwarf_uleb(c), FX_CFI_VAL_EXPRESSION, c);
		return true;
#if defined(__aarch64__)
	case 0x2c: /* DW_CFA_AARCH64_negate_ra_state_with_pc */
	case 0x2d: /* DW_CFA_AARCH64_negate_ra_state: a signature is taken off wherever one may be */
		return true;
#endif
	case 0x2e: /* DW_CFA_GNU_args_size */
		fx_dwarf_uleb(c);
		return true;
	default:
		return false;
	}
}

/* Executes until the place is reached. */
static bool cfi_execute(struct cfi_machine *m, struct fx_dwarf program)
{
	struct fx_dwarf c = program;

	while (c.at < c.end && !c.bad && m->location <= m->pc) {
		uint8_t opcode = (uint8_t)fx_dwarf_bytes(&c, 1);
		uint8_t operand = opcode & 0x3f;

		switch (opcode >> 6) {
		case 1: /* DW_CFA_advance_loc */
			cfi_advance(m, operand);
			break;
		case 2: /* DW_CFA_offset */
			cfi_set_rule(m, operand, FX_CFI_OFFSET,
				     (int64_t)fx_dwarf_uleb(&c) * m->cie->data_align);
			break;
		case 3: /* DW_CFA_restore */
			cfi_restore(m, operand);
			break;
		default:
			if (!cfi_execute_other(m, opcode, &c))
				return false;
		}
	}
	return !c.bad;
}

/* Both programs: what is common to many functions, and the function's own. */
static bool cfi_execute_both(struct cfi_machine *m, const struct fx_fde *fde)
{
	m->cie = &fde->cie;
	m->location = fde->start;
	m->initial_return_offset = 0;
	if (!cfi_execute(m, fde->cie.program))
		return false;
	m->initial_return_offset = m->cfa->return_offset;
	if (m->rules) {
		memcpy(m->rules->initial, m->rules->now, RULES_BYTES);
		m->rules->has_initial = true;
	}
	return cfi_execute(m, fde->program);
}

static bool cfi_find_entry(const uint8_t *eh_frame_hdr, uint64_t pc, struct fx_fde *ret)
{
	return fx_fde_find(eh_frame_hdr, pc, ret) &&
	       cfi_is_return_address(ret->cie.return_register);
}

bool fx_cfi_find(const uint8_t *eh_frame_hdr, uint64_t pc, struct fx_cfi_row *ret)
{
	struct cfi_rules rules;
	struct cfi_machine m;
	struct fx_fde fde;

	if (!cfi_find_entry(eh_frame_hdr, pc, &fde))
		return false;
	memset(ret, 0, sizeof *ret);
	ret->is_signal = fde.cie.is_signal;
	rules.now = ret->rules;
	rules.has_initial = false;
	m.cfa = &ret->cfa;
	m.rules = &rules;
	m.depth = 0;
	m.pc = pc;
	return cfi_execute_both(&m, &fde);
}

bool fx_cfi_find_code(const uint8_t *eh_frame_hdr, uint64_t pc, struct fx_cfi_code *ret)
{
	struct fx_fde fde;

	if (!cfi_find_entry(eh_frame_hdr, pc, &fde))
		return false;
	*ret = (struct fx_cfi_code){fde.start, fde.start + fde.size};
	return true;
}

bool fx_cfi_find_cfa(const uint8_t *eh_frame_hdr, uint64_t pc, struct fx_cfi_code *ret_code,
		     struct fx_cfi_cfa *ret)
{
	struct cfi_machine m;
	struct fx_fde fde;

	if (!cfi_find_entry(eh_frame_hdr, pc, &fde) || fde.cie.is_signal)
		return false;
	*ret_code = (struct fx_cfi_code){fde.start, fde.start + fde.size};
	*ret = (struct fx_cfi_cfa){.number = FX_CFI_REGISTERS};
	m.cfa = ret;
	m.rules = NULL;
	m.depth = 0;
	m.pc = pc;
	return cfi_execute_both(&m, &fde);
}
