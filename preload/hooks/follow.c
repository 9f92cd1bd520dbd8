/* SPDX-License-Identifier: MIT */
#include "preload/hooks/follow.h"

#include <string.h>

#include "engine/provider/string.h"
#include "preload/host/peek.h"

#define INLINE 0x8000u

/* What is said of a value that is not there, and of one that has no words. */
static const char lost_text[] = "<optimised out>", other_text[] = "{...}";

/* --- The machine ------------------------------------------------------------------------------ */

struct machine {
	const struct fx_kept *kept;
	uint64_t bias; /* of the module */
	uint64_t stack[FX_RECIPE_STACK];
	unsigned depth;
	bool is_bad;	    /* the code makes no sense */
	bool is_unreadable; /* what it was to follow cannot be read: `address' */
	uint64_t address;
};

static uint64_t machine_pop(struct machine *m)
{
	if (!m->depth) {
		m->is_bad = true;
		return 0;
	}
	return m->stack[--m->depth];
}

static void machine_push(struct machine *m, uint64_t value)
{
	if (m->depth == FX_RECIPE_STACK)
		m->is_bad = true;
	else
		m->stack[m->depth++] = value;
}

static uint64_t extended(uint64_t value, unsigned size, bool is_signed)
{
	unsigned shift = size && size < 8 ? 64 - 8 * size : 0;

	value <<= shift;
	return is_signed ? (uint64_t)((int64_t)value >> shift) : value >> shift;
}

/* From the function's own stack, where it is close above. */
static uint64_t loaded(struct machine *m, uint64_t address, unsigned size)
{
	uint64_t value = 0;

	size = size <= 8 ? size : 8;
	m->is_bad = fx_peek_copy(&value, (const void *)(uintptr_t)address, size) != size;
	return value;
}

static uint64_t followed(struct machine *m, uint64_t address, unsigned size)
{
	uint64_t value = 0;

	size = size <= 8 ? size : 8;
	if (fx_peek_copy(&value, (const void *)(uintptr_t)address, size) == size)
		return value;
	m->is_unreadable = true;
	m->address = address;
	return 0;
}

static uint64_t of_two(enum fx_recipe_op op, uint64_t a, uint64_t b)
{
	switch (op) {
	case FX_OP_ADD:
		return a + b;
	case FX_OP_SUB:
		return a - b;
	case FX_OP_MUL:
		return a * b;
	case FX_OP_AND:
		return a & b;
	case FX_OP_OR:
		return a | b;
	case FX_OP_XOR:
		return a ^ b;
	case FX_OP_SHL:
		return a << (b & 63);
	case FX_OP_SHR:
		return a >> (b & 63);
	default: /* FX_OP_SAR */
		return (uint64_t)((int64_t)a >> (b & 63));
	}
}

/* Bytes of an operation's operand. */
static unsigned operand_size(enum fx_recipe_op op)
{
	switch (op) {
	case FX_OP_CONST:
	case FX_OP_ADDRESS:
		return 8;
	case FX_OP_ADD_CONST:
		return 4;
	case FX_OP_REGISTER:
	case FX_OP_VECTOR:
	case FX_OP_LOAD:
	case FX_OP_FOLLOW:
	case FX_OP_ZERO_EXTEND:
	case FX_OP_SIGN_EXTEND:
		return 1;
	default:
		return 0;
	}
}

static void machine_step(struct machine *m, enum fx_recipe_op op, uint64_t operand)
{
	uint64_t b;

	switch (op) {
	case FX_OP_REGISTER:
		machine_push(m, operand < FX_KEPT_REGISTERS ? m->kept->registers[operand] : 0);
		return;
	case FX_OP_VECTOR:
		machine_push(m, operand < FX_KEPT_VECTORS ? m->kept->vectors[operand] : 0);
		return;
	case FX_OP_CONST:
		machine_push(m, operand);
		return;
	case FX_OP_ADDRESS:
		machine_push(m, operand + m->bias);
		return;
	case FX_OP_ADD_CONST:
		machine_push(m, machine_pop(m) + (uint64_t)(int64_t)(int32_t)operand);
		return;
	case FX_OP_LOAD:
		machine_push(m, loaded(m, machine_pop(m), (unsigned)operand));
		return;
	case FX_OP_FOLLOW:
		machine_push(m, followed(m, machine_pop(m), (unsigned)operand));
		return;
	case FX_OP_ZERO_EXTEND:
	case FX_OP_SIGN_EXTEND:
		machine_push(m,
			     extended(machine_pop(m), (unsigned)operand, op == FX_OP_SIGN_EXTEND));
		return;
	default:
		b = machine_pop(m);
		machine_push(m, of_two(op, machine_pop(m), b));
	}
}

static void machine_run(struct machine *m, const uint8_t *code, unsigned size)
{
	unsigned at = 0;

	while (at < size && !m->is_bad && !m->is_unreadable) {
		enum fx_recipe_op op = code[at++];
		unsigned bytes = operand_size(op);
		uint64_t operand = 0;

		if (op < FX_OP_REGISTER || op > FX_OP_SAR || bytes > size - at) {
			m->is_bad = true;
			return;
		}
		memcpy(&operand, code + at, bytes);
		at += bytes;
		machine_step(m, op, operand);
	}
}

/* --- Arguments -------------------------------------------------------------------------------- */

static unsigned text_words(size_t length)
{
	return (unsigned)((length + 7) / 8);
}

/* A text of the table with its length; NULL: it is none. */
static const char *table_text(const struct fx_recipes_of *of, uint32_t offset, size_t *ret_length)
{
	const char *text = fx_recipe_at(of, offset, 1);
	size_t room = text ? of->size - offset : 0;

	if (!text)
		return NULL;
	*ret_length = strnlen(text, room < FX_RECIPE_TEXT_MAX ? room : FX_RECIPE_TEXT_MAX);
	return text;
}

/* A name by its index, or, if there is none any more, inline. */
struct argument_name {
	const char *text; /* if it is inline */
	size_t length;
	uint32_t ref;
};

static bool name_find(const struct fx_thread *t, const struct fx_recipes_of *of, uint32_t offset,
		      struct argument_name *ret)
{
	ret->text = table_text(of, offset, &ret->length);
	if (!ret->text || !ret->length)
		return false;
	ret->ref = fx_string_literal(t, ret->text);
	if (ret->ref)
		ret->length = 0;
	else
		ret->ref = INLINE | (uint32_t)ret->length;
	return true;
}

uint32_t fx_follow_name(const struct fx_thread *t, const struct fx_recipes_of *of, uint32_t offset)
{
	struct argument_name name;

	return name_find(t, of, offset, &name) && !name.length ? name.ref : 0;
}

uint32_t fx_follow_words(const struct fx_thread *t, unsigned shape)
{
	return fx_string_literal(t, shape == FX_SHAPE_OTHER ? other_text : lost_text);
}

/* Begins an argument with so many words behind its name. NULL: there is no room. */
static uint64_t *argument_begin(struct fx_followed *to, const struct argument_name *name,
				unsigned type, uint32_t upper, unsigned words)
{
	unsigned own = 1 + text_words(name->length);
	uint64_t *p = to->words + to->size;

	if (own + words > to->room - to->size)
		return NULL;
	memset(p, 0, 8ull * (own + words));
	memcpy(p + 1, name->text, name->length);
	p[0] =
	    type | (uint64_t)(own + words) << 4 | (uint64_t)name->ref << 16 | (uint64_t)upper << 32;
	to->size += own + words;
	to->count++;
	return p + own;
}

static bool value_put_word(struct fx_followed *to, const struct argument_name *name, unsigned type,
			   uint64_t value)
{
	uint64_t *p = argument_begin(to, name, type, 0, 1);

	if (p)
		*p = value;
	return p;
}

static bool value_put_text(struct fx_followed *to, const struct argument_name *name,
			   const char *text, size_t length)
{
	uint64_t *p = argument_begin(to, name, FX_ARG_STRING,
				     length ? INLINE | (uint32_t)length : 0, text_words(length));

	if (p)
		memcpy(p, text, length);
	return p;
}

/* A text that is the same each time. */
static bool value_put_literal(const struct fx_thread *t, struct fx_followed *to,
			      const struct argument_name *name, const char *text, size_t length)
{
	uint32_t ref = fx_string_literal(t, text);

	return ref ? argument_begin(to, name, FX_ARG_STRING, ref, 0) != NULL
		   : value_put_text(to, name, text, length);
}

static bool value_put_number(struct fx_followed *to, const struct argument_name *name,
			     uint64_t value, unsigned size, bool is_signed)
{
	value = extended(value, size, is_signed);
	if (size == 8)
		return value_put_word(to, name, is_signed ? FX_ARG_INT64 : FX_ARG_UINT64, value);
	return argument_begin(to, name, is_signed ? FX_ARG_INT32 : FX_ARG_UINT32, (uint32_t)value,
			      0) != NULL;
}

/* --- Numbers with a point, without the unit for them, which the program may have told to raise signals -------------------- */

/* From `mantissa', in which the highest bit of 64 counts 2^exponent, to a double's bits, to the nearest even. */
static uint64_t double_of(bool negative, int exponent, uint64_t mantissa)
{
	const uint64_t sign = (uint64_t)negative << 63;
	int shift = 11; /* of 64 bits 53 are left */
	uint64_t rest, half, bits;

	if (!mantissa)
		return sign;
	while (!(mantissa >> 63)) {
		mantissa <<= 1;
		exponent--;
	}
	if (exponent < -1022)
		shift += -1022 - exponent;
	if (shift > 64)
		return sign;
	rest = shift == 64 ? mantissa : mantissa & ((UINT64_C(1) << shift) - 1);
	half = UINT64_C(1) << (shift - 1);
	bits = shift == 64 ? 0 : mantissa >> shift;
	bits += rest > half || (rest == half && (bits & 1));
	/* The first bit is understood, and carries into the exponent. */
	if (exponent >= -1022)
		bits += (uint64_t)(exponent + 1022) << 52;
	return sign | (bits >> 52 < 2047 ? bits : UINT64_C(2047) << 52);
}

static uint64_t double_of_float(uint32_t bits)
{
	unsigned exponent = bits >> 23 & 0xff;
	uint64_t mantissa = (uint64_t)(bits & 0x7fffff) << 40, sign = (uint64_t)(bits >> 31) << 63;

	if (exponent == 0xff)
		return sign | UINT64_C(2047) << 52 | (uint64_t)(bits & 0x7fffff) << 29;
	if (exponent)
		return double_of(bits >> 31, (int)exponent - 127, mantissa | UINT64_C(1) << 63);
	return double_of(bits >> 31, -126, mantissa);
}

/* `upper': sign and exponent of a number of 80 bits. */
static uint64_t double_of_long(uint64_t upper, uint64_t mantissa)
{
	int exponent = (int)(upper & 0x7fff) - 16383;
	bool negative = upper >> 15 & 1;

	if (exponent == 16384)
		return (uint64_t)negative << 63 | UINT64_C(2047) << 52 |
		       (mantissa << 1 ? mantissa << 1 >> 12 | UINT64_C(1) << 51 : 0);
	if (exponent > 1023 && mantissa)
		return (uint64_t)negative << 63 | UINT64_C(2047) << 52;
	return double_of(negative, exponent, mantissa);
}

static bool value_put_float(struct fx_followed *to, const struct argument_name *name, unsigned size,
			    struct machine *m)
{
	uint64_t value = machine_pop(m);

	if (size == 4)
		value = double_of_float((uint32_t)value);
	else if (size == 16)
		value = double_of_long(machine_pop(m), value);
	return value_put_word(to, name, FX_ARG_DOUBLE, value);
}

/* --- Texts ------------------------------------------------------------------------------------ */

/* Where to cut a text so that no character of UTF-8 is split. */
static size_t text_cut(const char *text, size_t length, size_t max)
{
	size_t cut = max;

	if (length <= max)
		return length;
	while (cut > max - 3 && cut && ((unsigned char)text[cut] & 0xc0) == 0x80)
		cut--;
	return ((unsigned char)text[cut] & 0xc0) == 0x80 ? max : cut;
}

/* What is longer ends in dots. */
static bool value_put_text_of(struct fx_followed *to, const struct argument_name *name, char *text,
			      size_t length)
{
	static const char dots[] = "...";

	if (length > FX_RECIPE_TEXT_MAX) {
		length = text_cut(text, length, FX_RECIPE_TEXT_MAX - (sizeof dots - 1));
		memcpy(text + length, dots, sizeof dots - 1);
		length += sizeof dots - 1;
	}
	return value_put_text(to, name, text, length);
}

/* A text that ends with a NUL. One that has none as far as it can be read is none. */
static bool value_put_string(struct fx_followed *to, const struct argument_name *name,
			     uint64_t address)
{
	char text[FX_RECIPE_TEXT_MAX + 1 + 4];
	size_t n, length;

	if (!address)
		return value_put_word(to, name, FX_ARG_POINTER, 0);
	n = fx_peek_copy(text, (const void *)(uintptr_t)address, FX_RECIPE_TEXT_MAX + 1);
	length = strnlen(text, n);
	if (length == n && n <= FX_RECIPE_TEXT_MAX)
		return value_put_word(to, name, FX_ARG_POINTER, address);
	return value_put_text_of(to, name, text, length);
}

static bool value_put_bytes(struct fx_followed *to, const struct argument_name *name,
			    uint64_t address, uint64_t length)
{
	char text[FX_RECIPE_TEXT_MAX + 1 + 4];
	size_t n = length < FX_RECIPE_TEXT_MAX + 1 ? (size_t)length : FX_RECIPE_TEXT_MAX + 1;

	if (n && fx_peek_copy(text, (const void *)(uintptr_t)address, n) != n)
		return value_put_word(to, name, FX_ARG_POINTER, address);
	return value_put_text_of(to, name, text, n);
}

static bool value_put_character(struct fx_followed *to, const struct argument_name *name,
				uint64_t value)
{
	char text[3] = {'\'', (char)value, '\''};

	if ((value & 0xff) >= 0x20 && (value & 0xff) < 0x7f)
		return value_put_text(to, name, text, sizeof text);
	return value_put_number(to, name, value, 1, true);
}

/* By its name, or, if it has none, its number. */
static bool value_put_enum(const struct fx_thread *t, const struct fx_recipes_of *of,
			   struct fx_followed *to, const struct argument_name *name,
			   const struct fx_recipe_value *v, uint64_t value)
{
	const struct fx_recipe_names *names =
	    v->names ? fx_recipe_at(of, v->names, sizeof *names) : NULL;
	bool is_signed = names && names->is_signed;
	int64_t number = (int64_t)extended(value, v->size, is_signed);
	uint32_t low = 0, high = names ? names->count : 0;
	size_t length;

	if (names && !fx_recipe_at(of, v->names,
				   sizeof *names + (uint64_t)names->count * sizeof names->names[0]))
		high = 0;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (names->names[middle].value < number)
			low = middle + 1;
		else
			high = middle;
	}
	if (names && low < names->count && names->names[low].value == number) {
		const char *text = table_text(of, names->names[low].name, &length);

		if (text && length)
			return value_put_literal(t, to, name, text, length);
	}
	return value_put_number(to, name, value, v->size, is_signed);
}

/* --- Values ----------------------------------------------------------------------------------- */

static bool value_put_shape(const struct fx_thread *t, const struct fx_recipes_of *of,
			    const struct fx_recipe_value *v, const struct argument_name *name,
			    struct machine *m, struct fx_followed *to)
{
	uint64_t value;

	if (m->is_unreadable)
		return value_put_word(to, name, FX_ARG_POINTER, m->address);
	if (v->shape == FX_SHAPE_OTHER)
		return value_put_literal(t, to, name, other_text, sizeof other_text - 1);
	if (m->is_bad || !m->depth || v->shape == FX_SHAPE_LOST)
		return value_put_literal(t, to, name, lost_text, sizeof lost_text - 1);
	switch ((enum fx_recipe_shape)v->shape) {
	case FX_SHAPE_SIGNED:
	case FX_SHAPE_UNSIGNED:
		return value_put_number(to, name, machine_pop(m), v->size,
					v->shape == FX_SHAPE_SIGNED);
	case FX_SHAPE_BOOL:
		value = extended(machine_pop(m), v->size, false);
		return argument_begin(to, name, FX_ARG_BOOL, value != 0, 0) != NULL;
	case FX_SHAPE_FLOAT:
		return value_put_float(to, name, v->size, m);
	case FX_SHAPE_TEXT:
		return value_put_string(to, name, machine_pop(m));
	case FX_SHAPE_BYTES:
		value = machine_pop(m);
		return value_put_bytes(to, name, value, machine_pop(m));
	case FX_SHAPE_ENUM:
		return value_put_enum(t, of, to, name, v, machine_pop(m));
	case FX_SHAPE_CHARACTER:
		return value_put_character(to, name, machine_pop(m));
	default:
		return value_put_word(to, name, FX_ARG_POINTER, machine_pop(m));
	}
}

static bool value_follow(const struct fx_thread *t, const struct fx_recipes_of *of,
			 const struct fx_recipe_value *v, const struct fx_kept *kept,
			 struct fx_followed *to)
{
	struct machine m = {.kept = kept, .bias = of->bias};
	struct argument_name name;
	const uint8_t *code = v->code_size ? fx_recipe_at(of, v->code, v->code_size) : NULL;

	if (!name_find(t, of, v->name, &name))
		return true;
	if (code)
		machine_run(&m, code, v->code_size);
	return value_put_shape(t, of, v, &name, &m, to);
}

/* Room for the argument that says how many there are beyond. */
#define MORE_WORDS 1u

/* Whether the values from index `i' on have room; one place may be needed to say how many have none. */
static bool has_place(const struct fx_followed *to, const struct fx_recipe *recipe, uint32_t i)
{
	uint32_t left = recipe->count - i + (recipe->more != 0);

	return to->count + (left > 1) < to->most;
}

void fx_follow(const struct fx_thread *t, const struct fx_recipes_of *of,
	       const struct fx_recipe *recipe, const struct fx_kept *kept, struct fx_followed *to)
{
	static const char text[] = "more";
	struct argument_name more = {.text = text, .ref = fx_string_literal(t, text)};
	uint32_t i;

	to->room -= MORE_WORDS;
	for (i = 0; i < recipe->count && i < FX_RECIPE_VALUES && has_place(to, recipe, i); i++) {
		if (!value_follow(t, of, &recipe->values[i], kept, to))
			break;
	}
	to->room += MORE_WORDS;
	if ((i < recipe->count || recipe->more) && more.ref && to->count < to->most)
		argument_begin(to, &more, FX_ARG_UINT32, recipe->count - i + recipe->more, 0);
}
