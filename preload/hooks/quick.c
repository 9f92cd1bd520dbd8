/* SPDX-License-Identifier: MIT */
#include "preload/hooks/quick.h"

#include <string.h>

#include "engine/provider/function.h"
#include "preload/hooks/follow.h"

/* For the hooks of so many functions; others take the slow half. */
#define ENTRIES 2048u

const struct fx_quick *fx_quick_table[1u << FX_QUICK_LOG2] FX_LARGE;
static struct fx_quick quick_entries[ENTRIES] FX_LARGE;
static uint32_t quick_used;

fx_cold const struct fx_quick *fx_quick_find_beside(uint64_t function, uint32_t place,
						    uint64_t state)
{
	const struct fx_quick *q =
	    fx_load_acquire(&fx_quick_table[fx_quick_slot(function, place) ^ 1]); /* as there */

	return fx_quick_is(q, function, place, state) ? q : NULL;
}

/* Names of enums' values, one enum behind the other. */
#define NAMES	  4096u
#define NAMES_MAX 64u /* of one */
static struct {
	int64_t value;
	uint64_t index;
} quick_names[NAMES] FX_LARGE;
static uint32_t quick_names_used;

/* Where those of one are, in the upper half of its header. */
#define NAMES_FIRST_SHIFT 32
#define NAMES_COUNT_SHIFT 48
_Static_assert(NAMES <= 1u << (NAMES_COUNT_SHIFT - NAMES_FIRST_SHIFT), "places of names");

uint64_t fx_quick_name(const struct fx_quick_value *v, uint64_t value)
{
	uint32_t at = (uint32_t)(v->header >> NAMES_FIRST_SHIFT & (NAMES - 1));
	uint32_t end = at + (uint32_t)(v->header >> NAMES_COUNT_SHIFT);

	value <<= v->cut;
	value =
	    v->way == FX_QUICK_ENUM_SIGNED ? (uint64_t)((int64_t)value >> v->cut) : value >> v->cut;
	while (at < end && (uint64_t)quick_names[at].value != value)
		at++;
	return at < end ? (uint32_t)v->header | quick_names[at & (NAMES - 1)].index << 32 : 0;
}

static bool names_learn(const struct fx_thread *t, const struct fx_recipes_of *of,
			const struct fx_recipe_value *v, struct fx_quick_value *ret)
{
	const struct fx_recipe_names *names =
	    v->names ? fx_recipe_at(of, v->names, sizeof *names) : NULL;
	uint32_t first;

	if (!names || !names->count || names->count > NAMES_MAX ||
	    !fx_recipe_at(of, v->names, sizeof *names + names->count * sizeof names->names[0]) ||
	    fx_load_relaxed(&quick_names_used) >= NAMES)
		return false;
	/* Relaxed: as for entries. */
	first = fx_add_relaxed(&quick_names_used, names->count);
	if (first + names->count > NAMES)
		return false;
	for (uint32_t i = 0; i < names->count; i++) {
		quick_names[first + i].value = names->names[i].value;
		quick_names[first + i].index = fx_follow_name(t, of, names->names[i].name);
		if (!quick_names[first + i].index)
			return false;
	}
	ret->way = names->is_signed ? FX_QUICK_ENUM_SIGNED : FX_QUICK_ENUM;
	ret->header |= FX_ARG_STRING | (uint64_t)first << NAMES_FIRST_SHIFT |
		       (uint64_t)names->count << NAMES_COUNT_SHIFT;
	return true;
}

static bool size_is_plain(unsigned size)
{
	return size == 1 || size == 2 || size == 4 || size == 8;
}

/* The operation that stands there; 0: none. */
static unsigned op_at(const uint8_t *code, unsigned size, unsigned at)
{
	return at < size ? code[at] : 0;
}

/*
 * Where a value of so many bytes is: a register, a sum of it and a number, or what is loaded from there. Extensions behind it
 * change nothing of those bytes. What the frame pointer leads to is read only where it is on the stack, as all is. False:
 * anything else.
 */
static bool place_of_value(const uint8_t *code, unsigned size, unsigned bytes,
			   struct fx_quick_value *ret)
{
	unsigned at = 2;

	if (size < 2 || code[0] != FX_OP_REGISTER || code[1] >= FX_KEPT_REGISTERS)
		return false;
	ret->base = code[1];
	if (op_at(code, size, at) == FX_OP_ADD_CONST) {
		if (size - at < 1 + sizeof ret->offset)
			return false;
		memcpy(&ret->offset, code + at + 1, sizeof ret->offset);
		at += 1 + sizeof ret->offset;
	}
	if (op_at(code, size, at) == FX_OP_LOAD ||
	    (op_at(code, size, at) == FX_OP_FOLLOW && ret->base == FX_KEPT_FRAME)) {
		if (size - at < 2)
			return false;
		ret->load = code[at + 1];
		if (!size_is_plain(ret->load))
			return false;
		at += 2;
	}
	while ((op_at(code, size, at) == FX_OP_ZERO_EXTEND ||
		op_at(code, size, at) == FX_OP_SIGN_EXTEND) &&
	       size - at >= 2 && code[at + 1] >= bytes)
		at += 2;
	return at == size;
}

/* How the value is shown. False: not by so little. */
static bool way_of_value(const struct fx_thread *t, const struct fx_recipes_of *of,
			 const struct fx_recipe_value *v, struct fx_quick_value *ret)
{
	const bool is_whole = v->size == 8, is_half = v->size == 4;

	if (!size_is_plain(v->size) || (ret->load && ret->load < v->size))
		return false;
	ret->cut = (uint8_t)(64 - 8 * v->size);
	switch ((enum fx_recipe_shape)v->shape) {
	case FX_SHAPE_SIGNED:
		ret->way = is_whole ? FX_QUICK_WORD : is_half ? FX_QUICK_HALF : FX_QUICK_SIGNED;
		ret->header |= is_whole ? FX_ARG_INT64 : FX_ARG_INT32;
		break;
	case FX_SHAPE_UNSIGNED:
		ret->way = is_whole ? FX_QUICK_WORD : is_half ? FX_QUICK_HALF : FX_QUICK_UNSIGNED;
		ret->header |= is_whole ? FX_ARG_UINT64 : FX_ARG_UINT32;
		break;
	case FX_SHAPE_BOOL:
		ret->way = FX_QUICK_BOOL;
		ret->header |= FX_ARG_BOOL;
		break;
	case FX_SHAPE_POINTER:
		if (!is_whole)
			return false;
		ret->way = FX_QUICK_WORD;
		ret->header |= FX_ARG_POINTER;
		break;
	case FX_SHAPE_ENUM:
		if (!names_learn(t, of, v, ret))
			return false;
		break;
	default:
		return false;
	}
	ret->header |= (ret->way == FX_QUICK_WORD ? 2ull : 1ull) << 4;
	return true;
}

static bool value_learn(const struct fx_thread *t, const struct fx_recipes_of *of,
			const struct fx_recipe_value *v, struct fx_quick_value *ret)
{
	const uint8_t *code = v->code_size ? fx_recipe_at(of, v->code, v->code_size) : NULL;
	uint32_t name = fx_follow_name(t, of, v->name), text;

	*ret = (struct fx_quick_value){.header = (uint64_t)name << 16};
	if (!name)
		return false;
	if (code && v->shape != FX_SHAPE_LOST)
		return place_of_value(code, v->code_size, v->size, ret) &&
		       way_of_value(t, of, v, ret);
	text = fx_follow_words(t, v->shape);
	ret->way = FX_QUICK_FIXED;
	ret->header |= FX_ARG_STRING | 1ull << 4 | (uint64_t)text << 32;
	return text != 0;
}

static bool quick_fill(const struct fx_thread *t, const struct fx_recipes_of *of,
		       const struct fx_recipe *recipe, struct fx_quick *ret)
{
	if (!recipe)
		return true;
	if (recipe->more || recipe->count > FX_QUICK_VALUES)
		return false;
	for (uint32_t i = 0; i < recipe->count; i++) {
		if (!value_learn(t, of, &recipe->values[i], &ret->values[i]))
			return false;
	}
	ret->count = (uint16_t)recipe->count;
	return true;
}

/* Of the record, with its values. */
static uint64_t quick_header(const struct fx_quick *q)
{
	uint64_t words = 0;

	for (uint32_t i = 0; i < q->count; i++)
		words += q->values[i].way == FX_QUICK_WORD ? 2 : 1;
	return fx_function_header +
	       (words << 4 | (uint64_t)q->count << 20 | (uint64_t)q->index << 48);
}

static bool quick_is_plain(const struct fx_quick *q)
{
	for (uint32_t i = 0; i < q->count; i++) {
		const struct fx_quick_value *v = &q->values[i];

		if ((v->way > FX_QUICK_WORD && v->way != FX_QUICK_FIXED) ||
		    (v->load && v->load != 4 && v->load != 8))
			return false;
	}
	return q->count;
}

static bool quick_is_of_registers(const struct fx_quick *q)
{
	for (uint32_t i = 0; i < q->count; i++) {
		const struct fx_quick_value *v = &q->values[i];

		if (v->way != FX_QUICK_HALF || v->load || v->offset)
			return false;
	}
	return true;
}

/* Whether all values of a plain one are on the stack, beside the frame pointer. */
static bool quick_is_of_frame(struct fx_quick *q)
{
	int32_t low = INT32_MAX, high = INT32_MIN;

	for (uint32_t i = 0; i < q->count; i++) {
		const struct fx_quick_value *v = &q->values[i];

		if (v->way > FX_QUICK_WORD || v->base != FX_KEPT_FRAME || !v->load)
			return false;
		low = v->offset < low ? v->offset : low;
		high = v->offset > high ? v->offset : high;
	}
	if ((int64_t)high - low > FX_QUICK_NEAR)
		return false;
	q->low = low;
	q->near = FX_QUICK_NEAR - (uint32_t)(high - low);
	return true;
}

static enum fx_quick_form quick_form(struct fx_quick *q)
{
	if (!quick_is_plain(q))
		return FX_QUICK_ANY;
	/* What is read beside the last value is as near. */
	if (q->count % 2)
		q->values[q->count] = (struct fx_quick_value){.offset = q->values[0].offset};
	if (quick_is_of_frame(q))
		return FX_QUICK_FRAME;
	return quick_is_of_registers(q) ? FX_QUICK_REGISTERS : FX_QUICK_PLAIN;
}

/* An entry that says that nothing can be quick is of no state. */
static bool is_of_state(const struct fx_quick *q, uint64_t state)
{
	return q->state == state || q->state == ~state;
}

/* Where an entry may stand: not in place of another that holds as well. NULL: nowhere, or it is there. */
static const struct fx_quick **slot_for(const struct fx_quick *e)
{
	uint32_t slot = fx_quick_slot(e->function, e->place);
	const struct fx_quick **found = NULL;

	for (uint32_t i = 0; i < 2; i++) {
		const struct fx_quick **at = &fx_quick_table[slot ^ i];
		const struct fx_quick *q = fx_load_acquire(at); /* pairs with the release below */

		if (!q || !is_of_state(q, e->state) || q->serial != e->serial)
			found = found ? found : at;
		else if (q->function == e->function && q->place == e->place)
			return NULL;
	}
	return found;
}

fx_cold void fx_quick_learn(struct fx_thread *t, const struct fx_recipes_of *of, uint64_t function,
			    uint32_t place, const struct fx_recipe *recipe, bool is_entry)
{
	/* Before all that it holds for. */
	struct fx_quick e = {.function = function,
			     .state = t->state,
			     .place = place,
			     .serial = fx_load_acquire(&fx_callers_serial)};
	const struct fx_quick **slot = slot_for(&e);
	uint32_t i;

	if (!slot || fx_load_relaxed(&quick_used) >= ENTRIES)
		return;
	/* Relaxed: the numbers need only be distinct. */
	i = fx_add_relaxed(&quick_used, 1);
	if (i >= ENTRIES)
		return;
	e.index = (uint32_t)fx_function_index(t, function);
	if (!e.index || !quick_fill(t, of, recipe, &e))
		e.state = ~e.state;
	e.header = quick_header(&e);
	e.form = (uint16_t)quick_form(&e);
	if (is_entry && (of->function->flags & FX_RECIPE_RESULT))
		e.header &= ~FX_QUICK_COMPLETE;
	quick_entries[i] = e;
	fx_store_release(slot, &quick_entries[i]);
}
