/* SPDX-License-Identifier: MIT */
#include "preload/host/cfi.h"

#include <stddef.h>
#include <string.h>

#include "base/compiler.h"

/* --- Encoded numbers --------------------------------------------------------------------------- */

#define DW_EH_PE_omit	  0xff
#define DW_EH_PE_absptr	  0x00
#define DW_EH_PE_udata2	  0x02
#define DW_EH_PE_udata4	  0x03
#define DW_EH_PE_udata8	  0x04
#define DW_EH_PE_sdata2	  0x0a
#define DW_EH_PE_sdata4	  0x0b
#define DW_EH_PE_sdata8	  0x0c
#define DW_EH_PE_pcrel	  0x10
#define DW_EH_PE_datarel  0x30
#define DW_EH_PE_indirect 0x80

/* A place in the tables; past `end` it stays there and `bad` is set. */
struct cursor {
	const uint8_t *at, *end;
	bool bad;
};

static uint64_t read_bytes(struct cursor *c, size_t size)
{
	uint64_t value = 0;

	if ((size_t)(c->end - c->at) < size) {
		c->bad = true;
		c->at = c->end;
		return 0;
	}
	memcpy(&value, c->at, size);
	c->at += size;
	return value;
}

/* A number in seven bits a byte; *ret_sign is where its sign bits begin, 64 or more if it has none. */
static uint64_t read_leb(struct cursor *c, unsigned *ret_sign)
{
	uint64_t value = 0, byte;
	unsigned shift = 0;

	do {
		byte = read_bytes(c, 1);
		if (shift < 64)
			value |= (byte & 0x7f) << shift;
		shift += 7;
	} while (byte & 0x80);
	*ret_sign = byte & 0x40 ? shift : 64;
	return value;
}

static uint64_t read_uleb(struct cursor *c)
{
	unsigned sign;

	return read_leb(c, &sign);
}

static int64_t read_sleb(struct cursor *c)
{
	unsigned sign;
	uint64_t value = read_leb(c, &sign);

	return (int64_t)(sign < 64 ? value | ~UINT64_C(0) << sign : value);
}

/* `data` is what DW_EH_PE_datarel is relative to. */
static uint64_t read_encoded(struct cursor *c, uint8_t encoding, const uint8_t *data)
{
	uint64_t here = (uint64_t)(uintptr_t)c->at, value;

	switch (encoding & 0x0f) {
	case DW_EH_PE_absptr:
	case DW_EH_PE_udata8:
	case DW_EH_PE_sdata8:
		value = read_bytes(c, 8);
		break;
	case DW_EH_PE_udata4:
		value = read_bytes(c, 4);
		break;
	case DW_EH_PE_sdata4:
		value = (uint64_t)(int64_t)(int32_t)read_bytes(c, 4);
		break;
	case DW_EH_PE_udata2:
		value = read_bytes(c, 2);
		break;
	case DW_EH_PE_sdata2:
		value = (uint64_t)(int64_t)(int16_t)read_bytes(c, 2);
		break;
	default:
		c->bad = true;
		return 0;
	}
	if ((encoding & 0x70) == DW_EH_PE_pcrel)
		value += here;
	else if ((encoding & 0x70) == DW_EH_PE_datarel)
		value += (uint64_t)(uintptr_t)data;
	else if (encoding & 0x70)
		c->bad = true;
	return value;
}

/* --- The entry for a place --------------------------------------------------------------------- */

/* Common to many functions. */
struct cie {
	uint64_t code_align;
	int64_t data_align;
	uint8_t pointer_encoding;
	bool has_augmentation, is_signal;
	struct cursor program;
};

/* One function's. */
struct fde {
	struct cie cie;
	uint64_t start, size;
	struct cursor program;
};

/* Enters an entry behind its length; the cursor is bounded by it. */
static bool entry_enter(const uint8_t *at, struct cursor *ret)
{
	uint32_t length;

	memcpy(&length, at, sizeof length);
	*ret = (struct cursor){at + 4, at + 4 + length, false};
	return length != 0 && length != UINT32_MAX; /* 64-bit lengths do not occur */
}

static bool cie_augmentation(struct cie *cie, const char *letters, struct cursor *c)
{
	uint64_t length = read_uleb(c);
	const uint8_t *end = c->at + length;

	if (length > (uint64_t)(c->end - c->at))
		return false;
	for (letters++; *letters; letters++) {
		switch (*letters) {
		case 'R':
			cie->pointer_encoding = (uint8_t)read_bytes(c, 1);
			break;
		case 'P':
			read_encoded(c, (uint8_t)read_bytes(c, 1) & 0x7f, NULL);
			break;
		case 'L':
			read_bytes(c, 1);
			break;
		case 'S':
			cie->is_signal = true;
			break;
		case 'B': /* aarch64: which key signs return addresses, */
		case 'G': /* and that the frame is tagged memory */
			break;
		default:
			return false;
		}
	}
	c->at = end;
	cie->has_augmentation = true;
	return !c->bad;
}

static bool cie_read(const uint8_t *at, struct cie *ret)
{
	const char *letters;
	struct cursor c;
	uint8_t version;

	*ret = (struct cie){.pointer_encoding = DW_EH_PE_absptr};
	if (!entry_enter(at, &c) || read_bytes(&c, 4) != 0)
		return false;
	version = (uint8_t)read_bytes(&c, 1);
	letters = (const char *)c.at;
	c.at += strnlen(letters, (size_t)(c.end - c.at)) + 1;
	ret->code_align = read_uleb(&c);
	ret->data_align = read_sleb(&c);
	if ((version == 1 ? read_bytes(&c, 1) : read_uleb(&c)) != FX_CFI_FIRST + FX_CFI_RA)
		return false;
	if (letters[0] == 'z' ? !cie_augmentation(ret, letters, &c) : letters[0] != 0)
		return false;
	ret->program = c;
	return !c.bad;
}

static bool fde_read(const uint8_t *at, struct fde *ret)
{
	const uint8_t *cie;
	struct cursor c;

	if (!entry_enter(at, &c))
		return false;
	cie = c.at;
	cie -= read_bytes(&c, 4);
	if (!cie_read(cie, &ret->cie))
		return false;
	ret->start = read_encoded(&c, ret->cie.pointer_encoding, NULL);
	ret->size = read_encoded(&c, ret->cie.pointer_encoding & 0x0f, NULL);
	if (ret->cie.has_augmentation) {
		uint64_t length = read_uleb(&c);

		if (length > (uint64_t)(c.end - c.at))
			return false;
		c.at += length;
	}
	ret->program = c;
	return !c.bad;
}

/* The table that linkers write: pairs of 32-bit distances from the header, sorted by address. */
struct search_table {
	const uint8_t *header;
	const int32_t *pairs;
	uint64_t count;
};

static bool table_read(const uint8_t *header, struct search_table *ret)
{
	struct cursor c = {header + 4, header + 4 + 64, false};

	if (header[0] != 1 || header[2] != DW_EH_PE_udata4 ||
	    header[3] != (DW_EH_PE_datarel | DW_EH_PE_sdata4))
		return false;
	read_encoded(&c, header[1], header);
	ret->count = read_bytes(&c, 4);
	ret->pairs = (const int32_t *)c.at;
	ret->header = header;
	return !c.bad && ret->count != 0;
}

/* The last entry that begins at `pc` or before. */
static const uint8_t *table_search(const struct search_table *t, uint64_t pc)
{
	int64_t wanted = (int64_t)(pc - (uint64_t)(uintptr_t)t->header);
	uint64_t low = 0, high = t->count;

	if (wanted < t->pairs[0])
		return NULL;
	while (high - low > 1) {
		uint64_t middle = low + (high - low) / 2;

		if (t->pairs[2 * middle] <= wanted)
			low = middle;
		else
			high = middle;
	}
	return t->header + t->pairs[2 * low + 1];
}

/* --- The program of an entry ------------------------------------------------------------------- */

#define SAVED_ROWS 4u

/* The rules of the registers beside the CFA's, for whoever wants them. */
struct rules {
	struct fx_cfi_rule *now, initial[FX_CFI_RULES], saved[SAVED_ROWS][FX_CFI_RULES];
	bool has_initial;
};

struct machine {
	const struct cie *cie;
	struct fx_cfi_cfa *cfa, saved[SAVED_ROWS];
	struct rules *rules; /* NULL: the CFA alone is wanted */
	unsigned depth;
	int64_t initial_return_offset;
	uint64_t location, pc;
};

#define RULES_BYTES (FX_CFI_RULES * sizeof(struct fx_cfi_rule))

/* By DWARF's number; vector registers and the like are nobody's business. */
static bool has_rule(uint64_t number)
{
	return number - FX_CFI_FIRST < FX_CFI_RULES;
}

static bool is_return_address(uint64_t number)
{
	return number == FX_CFI_FIRST + FX_CFI_RA;
}

static void set_rule(struct machine *m, uint64_t number, enum fx_cfi_kind kind, int64_t offset)
{
	if (is_return_address(number))
		m->cfa->return_offset = kind == FX_CFI_OFFSET ? offset : 0;
	if (m->rules && has_rule(number))
		m->rules->now[number - FX_CFI_FIRST] = (struct fx_cfi_rule){kind, offset};
}

static void set_expression(struct machine *m, uint64_t number, enum fx_cfi_kind kind,
			   struct cursor *c)
{
	int64_t expression = (int64_t)(intptr_t)c->at;
	uint64_t length = read_uleb(c);

	if (length > (uint64_t)(c->end - c->at)) {
		c->bad = true;
		return;
	}
	c->at += length;
	set_rule(m, number, kind, expression);
}

static void set_cfa(struct machine *m, uint64_t number, int64_t offset)
{
	m->cfa->number = has_rule(number) ? (uint32_t)number - FX_CFI_FIRST : FX_CFI_REGISTERS;
	m->cfa->offset = offset;
	m->cfa->expression = NULL;
}

static void set_cfa_offset(struct machine *m, int64_t offset)
{
	m->cfa->offset = offset;
	m->cfa->expression = NULL;
}

static void restore(struct machine *m, uint64_t number)
{
	if (is_return_address(number))
		m->cfa->return_offset = m->initial_return_offset;
	if (m->rules && has_rule(number) && m->rules->has_initial)
		m->rules->now[number - FX_CFI_FIRST] = m->rules->initial[number - FX_CFI_FIRST];
}

static bool push_row(struct machine *m)
{
	if (m->depth == SAVED_ROWS)
		return false;
	if (m->rules)
		memcpy(m->rules->saved[m->depth], m->rules->now, RULES_BYTES);
	m->saved[m->depth++] = *m->cfa;
	return true;
}

static bool pop_row(struct machine *m)
{
	if (!m->depth)
		return false;
	*m->cfa = m->saved[--m->depth];
	if (m->rules)
		memcpy(m->rules->now, m->rules->saved[m->depth], RULES_BYTES);
	return true;
}

static void advance(struct machine *m, uint64_t delta)
{
	m->location += delta * m->cie->code_align;
}

/* The instructions whose operand is not in the opcode. False: not understood. */
static bool execute_other(struct machine *m, uint8_t opcode, struct cursor *c)
{
	int64_t align = m->cie->data_align;
	uint64_t number;

	switch (opcode) {
	case 0x00: /* DW_CFA_nop */
		return true;
	case 0x01: /* DW_CFA_set_loc */
		m->location = read_encoded(c, m->cie->pointer_encoding, NULL);
		return true;
	case 0x02: /* DW_CFA_advance_loc1 */
		advance(m, read_bytes(c, 1));
		return true;
	case 0x03: /* DW_CFA_advance_loc2 */
		advance(m, read_bytes(c, 2));
		return true;
	case 0x04: /* DW_CFA_advance_loc4 */
		advance(m, read_bytes(c, 4));
		return true;
	case 0x05: /* DW_CFA_offset_extended */
		number = read_uleb(c);
		set_rule(m, number, FX_CFI_OFFSET, (int64_t)read_uleb(c) * align);
		return true;
	case 0x06: /* DW_CFA_restore_extended */
		restore(m, read_uleb(c));
		return true;
	case 0x07: /* DW_CFA_undefined */
		set_rule(m, read_uleb(c), FX_CFI_UNDEFINED, 0);
		return true;
	case 0x08: /* DW_CFA_same_value */
		set_rule(m, read_uleb(c), FX_CFI_SAME, 0);
		return true;
	case 0x09: /* DW_CFA_register */
		number = read_uleb(c);
		set_rule(m, number, FX_CFI_REGISTER, (int64_t)(read_uleb(c) - FX_CFI_FIRST));
		return true;
	case 0x0a: /* DW_CFA_remember_state */
		return push_row(m);
	case 0x0b: /* DW_CFA_restore_state */
		return pop_row(m);
	case 0x0c: /* DW_CFA_def_cfa */
		number = read_uleb(c);
		set_cfa(m, number, (int64_t)read_uleb(c));
		return true;
	case 0x0d: /* DW_CFA_def_cfa_register */
		set_cfa(m, read_uleb(c), m->cfa->offset);
		return true;
	case 0x0e: /* DW_CFA_def_cfa_offset */
		set_cfa_offset(m, (int64_t)read_uleb(c));
		return true;
	case 0x0f: /* DW_CFA_def_cfa_expression */
		m->cfa->expression = c->at;
		number = read_uleb(c);
		c->bad |= number > (uint64_t)(c->end - c->at);
		c->at += c->bad ? 0 : number;
		return true;
	case 0x10: /* DW_CFA_expression */
		set_expression(m, read_uleb(c), FX_CFI_EXPRESSION, c);
		return true;
	case 0x11: /* DW_CFA_offset_extended_sf */
		number = read_uleb(c);
		set_rule(m, number, FX_CFI_OFFSET, read_sleb(c) * align);
		return true;
	case 0x12: /* DW_CFA_def_cfa_sf */
		number = read_uleb(c);
		set_cfa(m, number, read_sleb(c) * align);
		return true;
	case 0x13: /* DW_CFA_def_cfa_offset_sf */
		set_cfa_offset(m, read_sleb(c) * align);
		return true;
	case 0x14: /* DW_CFA_val_offset */
		number = read_uleb(c);
		set_rule(m, number, FX_CFI_VAL_OFFSET, (int64_t)read_uleb(c) * align);
		return true;
	case 0x15: /* DW_CFA_val_offset_sf */
		number = read_uleb(c);
		set_rule(m, number, FX_CFI_VAL_OFFSET, read_sleb(c) * align);
		return true;
	case 0x16: /* DW_CFA_val_expression */
		set_expression(m, read_uleb(c), FX_CFI_VAL_EXPRESSION, c);
		return true;
#if defined(__aarch64__)
	case 0x2c: /* DW_CFA_AARCH64_negate_ra_state_with_pc */
	case 0x2d: /* DW_CFA_AARCH64_negate_ra_state: a signature is taken off wherever one may be */
		return true;
#endif
	case 0x2e: /* DW_CFA_GNU_args_size */
		read_uleb(c);
		return true;
	default:
		return false;
	}
}

/* Executes until the place is reached. */
static bool cfi_execute(struct machine *m, struct cursor program)
{
	struct cursor c = program;

	while (c.at < c.end && !c.bad && m->location <= m->pc) {
		uint8_t opcode = (uint8_t)read_bytes(&c, 1);
		uint8_t operand = opcode & 0x3f;

		switch (opcode >> 6) {
		case 1: /* DW_CFA_advance_loc */
			advance(m, operand);
			break;
		case 2: /* DW_CFA_offset */
			set_rule(m, operand, FX_CFI_OFFSET,
				 (int64_t)read_uleb(&c) * m->cie->data_align);
			break;
		case 3: /* DW_CFA_restore */
			restore(m, operand);
			break;
		default:
			if (!execute_other(m, opcode, &c))
				return false;
		}
	}
	return !c.bad;
}

static bool fde_find(const uint8_t *eh_frame_hdr, uint64_t pc, struct fde *ret)
{
	struct search_table table;
	const uint8_t *entry;

	if (!table_read(eh_frame_hdr, &table))
		return false;
	entry = table_search(&table, pc);
	return entry && fde_read(entry, ret) && pc - ret->start < ret->size;
}

/* Both programs: what is common to many functions, and the function's own. */
static bool execute_both(struct machine *m, const struct fde *fde)
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

bool fx_cfi_find(const uint8_t *eh_frame_hdr, uint64_t pc, struct fx_cfi_row *ret)
{
	struct rules rules;
	struct machine m;
	struct fde fde;

	if (!fde_find(eh_frame_hdr, pc, &fde))
		return false;
	memset(ret, 0, sizeof *ret);
	ret->is_signal = fde.cie.is_signal;
	rules.now = ret->rules;
	rules.has_initial = false;
	m.cfa = &ret->cfa;
	m.rules = &rules;
	m.depth = 0;
	m.pc = pc;
	return execute_both(&m, &fde);
}

bool fx_cfi_find_code(const uint8_t *eh_frame_hdr, uint64_t pc, struct fx_cfi_code *ret)
{
	struct fde fde;

	if (!fde_find(eh_frame_hdr, pc, &fde))
		return false;
	*ret = (struct fx_cfi_code){fde.start, fde.start + fde.size};
	return true;
}

bool fx_cfi_find_cfa(const uint8_t *eh_frame_hdr, uint64_t pc, struct fx_cfi_code *ret_code,
		     struct fx_cfi_cfa *ret)
{
	struct machine m;
	struct fde fde;

	if (!fde_find(eh_frame_hdr, pc, &fde) || fde.cie.is_signal)
		return false;
	*ret_code = (struct fx_cfi_code){fde.start, fde.start + fde.size};
	*ret = (struct fx_cfi_cfa){.number = FX_CFI_REGISTERS};
	m.cfa = ret;
	m.rules = NULL;
	m.depth = 0;
	m.pc = pc;
	return execute_both(&m, &fde);
}

/* --- Expressions ------------------------------------------------------------------------------- */

#define STACK_MAX 8u

struct evaluation {
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

static bool push(struct evaluation *e, uint64_t value)
{
	if (e->depth == STACK_MAX)
		return false;
	e->stack[e->depth++] = value;
	return true;
}

static bool push_register(struct evaluation *e, unsigned number, int64_t offset)
{
	unsigned i = number - FX_CFI_FIRST;

	if (!has_rule(number) || !(e->state->known & 1u << i))
		return false;
	return push(e, e->state->registers[i] + (uint64_t)offset);
}

/* The two topmost become one. */
static bool combine(struct evaluation *e, uint8_t op)
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

static bool operate(struct evaluation *e, uint8_t op, struct cursor *c)
{
	if (op >= 0x30 && op <= 0x4f) /* DW_OP_lit0.. */
		return push(e, op - 0x30u);
	if (op >= 0x70 && op <= 0x8f) /* DW_OP_breg0.. */
		return push_register(e, op - 0x70u, read_sleb(c));
	switch (op) {
	case 0x06: /* DW_OP_deref */
		return e->depth &&
		       fx_cfi_read(e->state, e->stack[e->depth - 1], &e->stack[e->depth - 1]);
	case 0x08: /* DW_OP_const1u */
		return push(e, read_bytes(c, 1));
	case 0x09: /* DW_OP_const1s */
		return push(e, (uint64_t)(int64_t)(int8_t)read_bytes(c, 1));
	case 0x0a: /* DW_OP_const2u */
		return push(e, read_bytes(c, 2));
	case 0x0b: /* DW_OP_const2s */
		return push(e, (uint64_t)(int64_t)(int16_t)read_bytes(c, 2));
	case 0x23: /* DW_OP_plus_uconst */
		return e->depth && (e->stack[e->depth - 1] += read_uleb(c), true);
	default:
		return combine(e, op);
	}
}

static bool evaluate(const struct fx_cfi_state *s, const uint8_t *expression, const uint64_t *first,
		     uint64_t *ret)
{
	struct evaluation e = {.state = s};
	struct cursor c = {expression, expression + 10, false};
	uint64_t length = read_uleb(&c);

	if (first)
		push(&e, *first);
	c.end = c.at + length;
	while (c.at < c.end && !c.bad)
		if (!operate(&e, (uint8_t)read_bytes(&c, 1), &c))
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
		return evaluate(s, cfa->expression, NULL, ret);
	if (cfa->number >= FX_CFI_REGISTERS || !(s->known & 1u << cfa->number))
		return false;
	*ret = s->registers[cfa->number] + (uint64_t)cfa->offset;
	return true;
}

/* The caller's value of one register; false if it is lost. */
static bool find_register(const struct fx_cfi_row *row, const struct fx_cfi_state *s, unsigned i,
			  uint64_t cfa, uint64_t *ret)
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
		return evaluate(s, (const uint8_t *)(intptr_t)value, &cfa, &address) &&
		       fx_cfi_read(s, address, ret);
	case FX_CFI_VAL_EXPRESSION:
		return evaluate(s, (const uint8_t *)(intptr_t)value, &cfa, ret);
	case FX_CFI_UNDEFINED:
		break;
	}
	return false;
}

/* Where the caller goes on. */
static bool find_return_address(const struct fx_cfi_row *row, struct fx_cfi_state *caller)
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
		if (find_register(row, s, i, cfa, &caller.registers[i]))
			caller.known |= 1u << i;
	if (row->rules[FX_CFI_SP].kind == FX_CFI_SAME) {
		caller.registers[FX_CFI_SP] = cfa;
		caller.known |= 1u << FX_CFI_SP;
	}
	if (!find_return_address(row, &caller))
		return false;
	*s = caller;
	return true;
}
