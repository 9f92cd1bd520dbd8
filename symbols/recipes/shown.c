/* SPDX-License-Identifier: MIT */
#include "symbols/recipes/shown.h"

#include <dwarf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Names of one enum. */
#define ENUM_MAX 4096u

/* --- Code ------------------------------------------------------------------------------------- */

static bool source_is_stack(const struct fx_whence *source, fx_node address)
{
	int64_t offset;

	return fx_node_base(source->seen->nodes, address, &offset) == source->seen->stack;
}

bool fx_whence_code(const struct fx_whence *source, unsigned offset, unsigned size,
		    struct fx_code *code)
{
	uint8_t bytes = (uint8_t)size;
	fx_node node, address;

	if (!source->spot)
		return false;
	node = fx_spot_get(source->spot, source->seen, offset, size, &address);
	if (node != FX_NODE_UNKNOWN)
		return fx_code_make(source->at_hook, node, size, code);
	if (address == FX_NODE_UNKNOWN || !fx_code_make(source->at_hook, address, 8, code))
		return false;
	if (!source_is_stack(source, address))
		return fx_code_follow(code, bytes);
	return fx_state_has_stored(source->at_hook, address, size) && fx_code_load(code, bytes);
}

/* Of what is no value but lies in memory: its address. */
static bool source_address(const struct fx_whence *source, struct fx_code *code)
{
	const struct fx_spot *spot = source->spot;

	return spot && spot->count == 1 && spot->pieces[0].is_memory &&
	       fx_code_make(source->at_hook, spot->pieces[0].node, 8, code);
}

/* --- Values ----------------------------------------------------------------------------------- */

static struct fx_recipe_value *value_new(struct fx_shown *values, const char *name)
{
	struct fx_recipe_value *v;

	if (values->count == values->limit) {
		values->more++;
		return NULL;
	}
	v = &values->list[values->count++];
	*v = (struct fx_recipe_value){.name = fx_blob_text(values->blob, name)};
	return v;
}

static void value_code(struct fx_shown *values, struct fx_recipe_value *v,
		       const struct fx_code *code)
{
	v->code_size = (uint16_t)code->size;
	v->code = fx_blob_put(values->blob, code->bytes, code->size);
}

/* `known': whether the code is any. NULL: there is no room for it. */
static struct fx_recipe_value *value_add(struct fx_shown *values, const char *name,
					 enum fx_recipe_shape shape, unsigned size,
					 const struct fx_code *code, bool known)
{
	struct fx_recipe_value *v = value_new(values, name);

	if (!v)
		return NULL;
	v->shape = (uint8_t)(known ? shape : FX_SHAPE_LOST);
	v->size = (uint8_t)size;
	if (known)
		value_code(values, v, code);
	return v;
}

void fx_shown_add_plain(struct fx_shown *values, const char *name, enum fx_recipe_shape shape,
			unsigned size, const struct fx_code *code)
{
	value_add(values, name, shape, size, code, code != NULL);
}

static bool is_small(unsigned size)
{
	return size == 1 || size == 2 || size == 4 || size == 8;
}

/* --- Enums ------------------------------------------------------------------------------------ */

struct enum_name {
	int64_t value;
	uint32_t name, reserved;
};

_Static_assert(sizeof(struct enum_name) == sizeof(((struct fx_recipe_names *)NULL)->names[0]),
	       "names of an enum");

static int enum_compare(const void *left, const void *right)
{
	const struct enum_name *a = left, *b = right;

	return a->value < b->value ? -1 : a->value > b->value;
}

static bool enum_value(Dwarf_Die *die, bool is_signed, int64_t *ret)
{
	Dwarf_Attribute attribute;
	Dwarf_Word value = 0;
	Dwarf_Sword number = 0;

	if (!dwarf_attr(die, DW_AT_const_value, &attribute))
		return false;
	if (is_signed ? dwarf_formsdata(&attribute, &number) : dwarf_formudata(&attribute, &value))
		return false;
	*ret = is_signed ? number : (int64_t)value;
	return true;
}

/* 0: there are none, or there is no room. */
static uint32_t enum_names_put(struct fx_shown *values, const struct fx_type *type)
{
	struct enum_name *names = calloc(ENUM_MAX, sizeof(*names));
	struct fx_recipe_names head = {.is_signed = type->is_signed};
	Dwarf_Die die = type->die, child;
	uint32_t at = 0;

	if (!names)
		return 0;
	for (int more = dwarf_child(&die, &child); more == 0 && head.count < ENUM_MAX;
	     more = dwarf_siblingof(&child, &child)) {
		const char *name = dwarf_diename(&child);

		if (dwarf_tag(&child) != DW_TAG_enumerator || !name ||
		    !enum_value(&child, type->is_signed, &names[head.count].value))
			continue;
		names[head.count++].name = fx_blob_text(values->blob, name);
	}
	qsort(names, head.count, sizeof(*names), enum_compare);
	if (head.count)
		at = fx_blob_put(values->blob, NULL, sizeof(head) + head.count * sizeof(*names));
	if (at) {
		memcpy(fx_blob_at(values->blob, at), &head, sizeof(head));
		memcpy((uint8_t *)fx_blob_at(values->blob, at) + sizeof(head), names,
		       head.count * sizeof(*names));
	}
	free(names);
	return at;
}

/* The same, once for each enum. */
static uint32_t enum_names(struct fx_shown *values, const struct fx_type *type)
{
	uint32_t *memo = fx_blob_memo(values->blob, (uint64_t)(uintptr_t)type->die.addr);

	if (!memo)
		return 0;
	if (!*memo)
		*memo = enum_names_put(values, type);
	return *memo;
}

/* --- By types --------------------------------------------------------------------------------- */

/* How a value of at most 8 bytes is shown. */
static enum fx_recipe_shape shape_of(const struct fx_type *type)
{
	switch (type->kind) {
	case FX_TYPE_SIGNED:
		return FX_SHAPE_SIGNED;
	case FX_TYPE_UNSIGNED:
		return FX_SHAPE_UNSIGNED;
	case FX_TYPE_BOOL:
		return FX_SHAPE_BOOL;
	case FX_TYPE_CHARACTER:
		return FX_SHAPE_CHARACTER;
	case FX_TYPE_FLOAT:
		return FX_SHAPE_FLOAT;
	case FX_TYPE_ENUM:
		return FX_SHAPE_ENUM;
	case FX_TYPE_TEXT:
		return FX_SHAPE_TEXT;
	default:
		return FX_SHAPE_POINTER;
	}
}

/* Whether it is one number, an address among them. */
static bool type_is_one(const struct fx_type *type)
{
	return type->kind >= FX_TYPE_SIGNED && type->kind <= FX_TYPE_REFERENCE;
}

static void shown_one(struct fx_shown *values, const char *name, const struct fx_type *type,
		      const struct fx_code *code, bool known)
{
	struct fx_recipe_value *v =
	    value_add(values, name, shape_of(type), type->size, code, known);

	if (v && known && type->kind == FX_TYPE_ENUM)
		v->names = enum_names(values, type);
}

/* A text whose pointer and length stand in memory; `code' leaves its address. */
static void shown_string(struct fx_shown *values, const char *name, const struct fx_code *address,
			 unsigned length_at, unsigned pointer_at, bool known)
{
	struct fx_code code = *address, pointer = *address;

	known = known && fx_code_add(&code, length_at) && fx_code_follow(&code, 8) &&
		fx_code_add(&pointer, pointer_at) && fx_code_follow(&pointer, 8) &&
		fx_code_append(&code, &pointer);
	value_add(values, name, FX_SHAPE_BYTES, 8, &code, known);
}

/* What is referred to is shown if it is one number or a text; else its address is. `code' leaves that. */
static void shown_referred(struct fx_shown *values, const char *name, const struct fx_type *type,
			   const struct fx_code *code, bool known)
{
	struct fx_type target, reference = *type;
	struct fx_code whole = *code;

	fx_type_of(&reference.die, &target);
	if (target.kind == FX_TYPE_STRING)
		shown_string(values, name, code, 8, 0, known);
	else if (target.kind == FX_TYPE_VIEW)
		shown_string(values, name, code, 0, 8, known);
	else if (type_is_one(&target) && target.kind != FX_TYPE_REFERENCE && is_small(target.size))
		shown_one(values, name, &target, &whole,
			  known && fx_code_follow(&whole, target.size));
	else
		value_add(values, name, FX_SHAPE_POINTER, 8, code, known);
}

/* A number of 10 bytes: the lower 8 on top of the others. */
static void shown_long(struct fx_shown *values, const char *name, const struct fx_whence *source)
{
	struct fx_code code = {0};
	bool known = fx_whence_code(source, 8, 2, &code) && fx_whence_code(source, 0, 8, &code);

	value_add(values, name, FX_SHAPE_FLOAT, 16, &code, known);
}

/* A text whose length and pointer are the value itself. */
static void shown_view(struct fx_shown *values, const char *name, const struct fx_whence *source)
{
	struct fx_code code = {0};
	bool known = fx_whence_code(source, 0, 8, &code) && fx_whence_code(source, 8, 8, &code);

	value_add(values, name, FX_SHAPE_BYTES, 8, &code, known);
}

/* A bit field: its bits to the top, and down again. */
static bool source_bits(const struct fx_whence *source, unsigned offset, const struct fx_member *m,
			struct fx_code *code)
{
	bool is_signed =
	    m->type.kind == FX_TYPE_SIGNED || (m->type.kind == FX_TYPE_ENUM && m->type.is_signed);

	return fx_whence_code(source, offset, m->type.size, code) &&
	       fx_code_shift(code, FX_OP_SHL, 64 - m->bits - m->shift) &&
	       fx_code_shift(code, is_signed ? FX_OP_SAR : FX_OP_SHR, 64 - m->bits);
}

static void shown_member(struct fx_shown *values, const char *name, const struct fx_member *m,
			 const struct fx_whence *source)
{
	struct fx_code code = {0};
	bool known;

	if (m->bits)
		known = source_bits(source, m->offset, m, &code);
	else
		known = fx_whence_code(source, m->offset, m->type.size, &code);
	shown_one(values, name, &m->type, &code, known);
}

/* One level deep: members that are structs themselves are left out. */
static void shown_struct(struct fx_shown *values, const char *name, const struct fx_type *type,
			 const struct fx_whence *source)
{
	char of_member[256];
	struct fx_member m;
	bool begun = false, any = false;
	Dwarf_Die at;

	while (fx_type_next_member(type, &at, &begun, &m)) {
		if (!type_is_one(&m.type) || !is_small(m.type.size))
			continue;
		snprintf(of_member, sizeof(of_member), "%s.%s", name, m.name);
		shown_member(values, of_member, &m, source);
		any = true;
	}
	if (!any)
		value_add(values, name, FX_SHAPE_OTHER, 0, &(struct fx_code){0}, true);
}

void fx_shown_add(struct fx_shown *values, const char *name, const struct fx_type *type,
		  const struct fx_whence *source)
{
	struct fx_code code = {0};
	bool known;

	switch (type->kind) {
	case FX_TYPE_STRUCT:
		shown_struct(values, name, type, source);
		return;
	case FX_TYPE_STRING:
		known = source_address(source, &code);
		shown_string(values, name, &code, 8, 0, known);
		return;
	case FX_TYPE_VIEW:
		shown_view(values, name, source);
		return;
	case FX_TYPE_REFERENCE:
		known = fx_whence_code(source, 0, 8, &code);
		shown_referred(values, name, type, &code, known);
		return;
	case FX_TYPE_NOTHING:
	case FX_TYPE_OTHER:
		value_add(values, name, FX_SHAPE_OTHER, 0, &code, true);
		return;
	default:
		break;
	}
	if (type->kind == FX_TYPE_FLOAT && type->size > 8) {
		shown_long(values, name, source);
		return;
	}
	known = is_small(type->size) && fx_whence_code(source, 0, type->size, &code);
	shown_one(values, name, type, &code, known);
}

uint32_t fx_shown_put(const struct fx_shown *values)
{
	struct fx_recipe head = {.count = values->count, .more = values->more};
	size_t bytes = values->count * sizeof(values->list[0]);
	uint32_t at = fx_blob_put(values->blob, NULL, sizeof(head) + bytes);

	if (!at)
		return 0;
	memcpy(fx_blob_at(values->blob, at), &head, sizeof(head));
	memcpy((uint8_t *)fx_blob_at(values->blob, at) + sizeof(head), values->list, bytes);
	return at;
}
