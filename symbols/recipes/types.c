/* SPDX-License-Identifier: MIT */
#include "symbols/recipes/types.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

/* How long a chain of aliases and how deep a struct is followed. */
#define CHAIN_MAX 64u
#define NEST_MAX  8u

/* Members of one struct that are looked at, and elements of an array. */
#define MEMBERS_MAX 4096u

/* --- What they are shown as ------------------------------------------------------------------- */

static unsigned type_size_of(Dwarf_Die *die)
{
	Dwarf_Word size;

	return dwarf_aggregate_size(die, &size) == 0 && size <= UINT32_MAX ? (unsigned)size : 0;
}

static bool type_has_name(Dwarf_Die *die, const char *name)
{
	const char *own = dwarf_diename(die);

	return own && strcmp(own, name) == 0;
}

static void type_base(struct fx_type *t)
{
	Dwarf_Attribute attribute;
	Dwarf_Word encoding = 0;

	if (!dwarf_attr_integrate(&t->die, DW_AT_encoding, &attribute) ||
	    dwarf_formudata(&attribute, &encoding) != 0)
		encoding = 0;
	switch (encoding) {
	case DW_ATE_boolean:
		t->kind = FX_TYPE_BOOL;
		break;
	case DW_ATE_signed:
		t->kind = FX_TYPE_SIGNED;
		break;
	case DW_ATE_unsigned:
		t->kind = FX_TYPE_UNSIGNED;
		break;
	case DW_ATE_signed_char:
		t->kind = type_has_name(&t->die, "char") ? FX_TYPE_CHARACTER : FX_TYPE_SIGNED;
		break;
	case DW_ATE_unsigned_char:
		t->kind = type_has_name(&t->die, "char") ? FX_TYPE_CHARACTER : FX_TYPE_UNSIGNED;
		break;
	case DW_ATE_UTF:
		t->kind = FX_TYPE_UNSIGNED;
		break;
	case DW_ATE_float:
		t->kind = FX_TYPE_FLOAT;
		/* A long double is told from a number of 128 bits by its name alone. */
		if (t->size > 8 && !type_has_name(&t->die, "long double"))
			t->kind = FX_TYPE_OTHER;
		break;
	default:
		t->kind = FX_TYPE_OTHER;
	}
	if (t->size > 8 && t->kind != FX_TYPE_FLOAT)
		t->kind = FX_TYPE_OTHER;
}

/* Whether a pointer's target is a plain character. */
static bool type_is_of_text(Dwarf_Die *pointer)
{
	struct fx_type target;

	fx_type_of(pointer, &target);
	return target.size == 1 && target.kind == FX_TYPE_CHARACTER;
}

/* The type around it, or its namespace, has this name. `scope': the text before the last double colon. */
static bool type_is_in(Dwarf_Die *die, const char *const *scope, size_t depth)
{
	Dwarf_Die *scopes = NULL;
	int count = dwarf_getscopes_die(die, &scopes);
	bool same = count > (int)depth;

	for (size_t i = 0; same && i < depth; i++)
		same = dwarf_tag(&scopes[i + 1]) == DW_TAG_namespace &&
		       type_has_name(&scopes[i + 1], scope[i]);
	free(scopes);
	return same;
}

/* Strings of GNU's library; others have them as it likes. */
static void type_class(struct fx_type *t)
{
	static const char string[] =
	    "basic_string<char, std::char_traits<char>, std::allocator<char> >";
	static const char view[] = "basic_string_view<char, std::char_traits<char> >";
	static const char *const of_string[] = {"__cxx11", "std"}, *const of_view[] = {"std"};
	const char *name = dwarf_diename(&t->die);

	t->kind = FX_TYPE_STRUCT;
	if (!name)
		return;
	if (t->size == 32 &&
	    (strcmp(name, string) == 0 || strcmp(name, "basic_string<char>") == 0) &&
	    type_is_in(&t->die, of_string, 2))
		t->kind = FX_TYPE_STRING;
	if (t->size == 16 &&
	    (strcmp(name, view) == 0 || strcmp(name, "basic_string_view<char>") == 0) &&
	    type_is_in(&t->die, of_view, 1))
		t->kind = FX_TYPE_VIEW;
}

static void type_enum(struct fx_type *t)
{
	struct fx_type under;

	fx_type_of(&t->die, &under);
	t->kind = t->size && t->size <= 8 ? FX_TYPE_ENUM : FX_TYPE_OTHER;
	t->is_signed = under.kind == FX_TYPE_SIGNED;
}

static void type_show(struct fx_type *t)
{
	t->size = type_size_of(&t->die);
	switch (dwarf_tag(&t->die)) {
	case DW_TAG_base_type:
		type_base(t);
		break;
	case DW_TAG_enumeration_type:
		type_enum(t);
		break;
	case DW_TAG_pointer_type:
		t->size = t->size ? t->size : 8;
		t->kind = type_is_of_text(&t->die) ? FX_TYPE_TEXT : FX_TYPE_POINTER;
		break;
	case DW_TAG_reference_type:
	case DW_TAG_rvalue_reference_type:
		t->size = t->size ? t->size : 8;
		t->kind = FX_TYPE_REFERENCE;
		break;
	case DW_TAG_structure_type:
	case DW_TAG_class_type:
		type_class(t);
		break;
	default:
		t->kind = FX_TYPE_OTHER;
	}
}

void fx_type_of(Dwarf_Die *die, struct fx_type *ret)
{
	Dwarf_Attribute attribute;
	Dwarf_Die at = *die;

	*ret = (struct fx_type){.kind = FX_TYPE_OTHER};
	for (unsigned i = 0; i < CHAIN_MAX; i++) {
		if (!dwarf_attr_integrate(&at, DW_AT_type, &attribute)) {
			ret->kind = FX_TYPE_NOTHING;
			return;
		}
		if (!dwarf_formref_die(&attribute, &at))
			return;
		switch (dwarf_tag(&at)) {
		case DW_TAG_typedef:
		case DW_TAG_const_type:
		case DW_TAG_volatile_type:
		case DW_TAG_restrict_type:
		case DW_TAG_atomic_type:
		case DW_TAG_immutable_type:
			continue;
		default:
			ret->die = at;
			type_show(ret);
			return;
		}
	}
}

/* --- Members ---------------------------------------------------------------------------------- */

static bool type_number(Dwarf_Die *die, unsigned name, Dwarf_Word *ret)
{
	Dwarf_Attribute attribute;

	return dwarf_attr(die, name, &attribute) && dwarf_formudata(&attribute, ret) == 0;
}

/*
 * Where a bit field begins, in bits. Before DWARF 4 it was counted from the highest bit of a unit of so many bytes.
 */
static bool type_first_bit(Dwarf_Die *die, Dwarf_Word bits, Dwarf_Word *ret)
{
	Dwarf_Word offset = 0, from_top, size = 0;
	struct fx_type type;

	if (type_number(die, DW_AT_data_bit_offset, ret))
		return true;
	if (!type_number(die, DW_AT_bit_offset, &from_top))
		return false;
	type_number(die, DW_AT_data_member_location, &offset);
	if (!type_number(die, DW_AT_byte_size, &size)) {
		fx_type_of(die, &type);
		size = type.size;
	}
	*ret = 8 * (offset + size) - from_top - bits;
	return from_top + bits <= 8 * (offset + size);
}

/* A bit field, by where its first bit is: what is loaded is one of its type, or the bytes that it lies in. */
static bool member_of_bits(struct fx_member *m, Dwarf_Word first, Dwarf_Word bits)
{
	unsigned unit = m->type.size ? 8 * m->type.size : 8;

	m->offset = (unsigned)(first / unit * m->type.size);
	m->shift = (unsigned)(first % unit);
	m->bits = (unsigned)bits;
	return bits && m->shift + bits <= unit && unit <= 64;
}

/* False: where it is is not told, or not known here. */
static bool member_place(Dwarf_Die *die, struct fx_member *m)
{
	Dwarf_Word offset = 0, bits = 0, first = 0;

	if (!type_number(die, DW_AT_data_member_location, &offset) &&
	    dwarf_hasattr(die, DW_AT_data_member_location))
		return false;
	m->offset = (unsigned)offset;
	if (!type_number(die, DW_AT_bit_size, &bits))
		return true;
	return type_first_bit(die, bits, &first) && member_of_bits(m, first, bits);
}

bool fx_type_next_member(const struct fx_type *type, Dwarf_Die *at, bool *begun,
			 struct fx_member *ret)
{
	Dwarf_Die struct_die = type->die, next;
	int more = *begun ? dwarf_siblingof(at, &next) : dwarf_child(&struct_die, &next);

	*begun = true;
	for (; more == 0; more = dwarf_siblingof(at, &next)) {
		*at = next;
		if (dwarf_tag(at) != DW_TAG_member || dwarf_hasattr(at, DW_AT_external))
			continue;
		*ret = (struct fx_member){.name = dwarf_diename(at)};
		fx_type_of(at, &ret->type);
		if (ret->name && member_place(at, ret))
			return true;
	}
	return false;
}

/* --- How they are handed on ------------------------------------------------------------------- */

#if defined(__x86_64__)

static void class_merge(enum fx_class *to, enum fx_class with)
{
	if (*to == FX_CLASS_UNSURE || with == FX_CLASS_NONE)
		return;
	if (with == FX_CLASS_UNSURE || *to == FX_CLASS_NONE)
		*to = with;
	else if (*to >= FX_CLASS_MEMORY || with >= FX_CLASS_MEMORY)
		*to = *to > with ? *to : with;
	else if (*to == FX_CLASS_GENERAL || with == FX_CLASS_GENERAL)
		*to = FX_CLASS_GENERAL;
}

static void class_set_all(enum fx_class ret[2], enum fx_class class)
{
	ret[0] = ret[1] = class;
}

static bool is_plain_method(Dwarf_Die *die)
{
	Dwarf_Word defaulted = 0;

	return dwarf_hasattr(die, DW_AT_artificial) ||
	       (type_number(die, DW_AT_defaulted, &defaulted) &&
		defaulted == DW_DEFAULTED_in_class);
}

/* Whether the first thing that a method is told is another object of its class. */
static bool takes_another(Dwarf_Die *method, Dwarf_Die *class)
{
	Dwarf_Die child;

	for (int more = dwarf_child(method, &child); more == 0;
	     more = dwarf_siblingof(&child, &child)) {
		struct fx_type type, target;

		if (dwarf_tag(&child) != DW_TAG_formal_parameter ||
		    dwarf_hasattr(&child, DW_AT_artificial))
			continue;
		fx_type_of(&child, &type);
		if (type.kind != FX_TYPE_REFERENCE)
			return false;
		fx_type_of(&type.die, &target);
		return dwarf_dieoffset(&target.die) == dwarf_dieoffset(class);
	}
	return false;
}

/* Whether it copies or moves an object of its class, or ends one. */
static bool is_of_life(Dwarf_Die *method, Dwarf_Die *class)
{
	const char *name = dwarf_diename(method), *class_name = dwarf_diename(class);
	size_t bare = class_name ? strcspn(class_name, "<") : 0;

	if (!name)
		return false;
	return *name == '~' || (bare && strncmp(name, class_name, bare) == 0 &&
				(!name[bare] || name[bare] == '<') && takes_another(method, class));
}

/*
 * Whether an object may be one that is told by its address alone: it has a life of its own (constructors that copy,
 * destructors, virtual functions). Some have it that do not say so here: those of bases and members are looked at as well.
 */
static bool may_live(Dwarf_Die *die)
{
	Dwarf_Die child;

	for (int more = dwarf_child(die, &child); more == 0;
	     more = dwarf_siblingof(&child, &child)) {
		if (dwarf_tag(&child) == DW_TAG_inheritance &&
		    dwarf_hasattr(&child, DW_AT_virtuality))
			return true;
		if (dwarf_tag(&child) != DW_TAG_subprogram)
			continue;
		if (dwarf_hasattr(&child, DW_AT_virtuality) ||
		    (is_of_life(&child, die) && !is_plain_method(&child)))
			return true;
	}
	return false;
}

static void class_of(const struct fx_type *type, enum fx_convention convention, unsigned offset,
		     unsigned depth, enum fx_class ret[2]);

static void class_of_member(Dwarf_Die *die, enum fx_convention convention, unsigned offset,
			    unsigned depth, enum fx_class ret[2])
{
	Dwarf_Word at = 0, bits = 0, first = 0;
	struct fx_type type;

	if (!type_number(die, DW_AT_data_member_location, &at) &&
	    dwarf_hasattr(die, DW_AT_data_member_location)) {
		class_set_all(ret, FX_CLASS_UNSURE);
		return;
	}
	if (type_number(die, DW_AT_bit_size, &bits)) {
		if (!type_first_bit(die, bits, &first))
			class_set_all(ret, FX_CLASS_UNSURE);
		else if (first / 64 < 2 && (first + bits - 1) / 64 < 2) {
			class_merge(&ret[(offset * 8 + first) / 64 & 1], FX_CLASS_GENERAL);
			class_merge(&ret[(offset * 8 + first + bits - 1) / 64 & 1],
				    FX_CLASS_GENERAL);
		}
		return;
	}
	fx_type_of(die, &type);
	class_of(&type, convention, offset + (unsigned)at, depth + 1, ret);
}

static void class_of_members(const struct fx_type *type, enum fx_convention convention,
			     unsigned offset, unsigned depth, enum fx_class ret[2])
{
	Dwarf_Die die = type->die, child;
	unsigned seen = 0;

	for (int more = dwarf_child(&die, &child); more == 0;
	     more = dwarf_siblingof(&child, &child)) {
		int tag = dwarf_tag(&child);

		if ((tag != DW_TAG_member && tag != DW_TAG_inheritance) ||
		    dwarf_hasattr(&child, DW_AT_external))
			continue;
		if (++seen > MEMBERS_MAX) {
			class_set_all(ret, FX_CLASS_UNSURE);
			return;
		}
		class_of_member(&child, convention, offset, depth, ret);
	}
}

static void class_of_array(const struct fx_type *type, enum fx_convention convention,
			   unsigned offset, unsigned depth, enum fx_class ret[2])
{
	Dwarf_Die die = type->die;
	struct fx_type element;

	fx_type_of(&die, &element);
	/* A vector of the machine's, whose registers are larger. */
	if (dwarf_hasattr(&die, DW_AT_GNU_vector) || !element.size ||
	    type->size / element.size > MEMBERS_MAX) {
		class_set_all(ret, FX_CLASS_UNSURE);
		return;
	}
	for (unsigned at = 0; at + element.size <= type->size; at += element.size)
		class_of(&element, convention, offset + at, depth + 1, ret);
}

static void class_put(enum fx_class class, unsigned offset, unsigned size, enum fx_class ret[2])
{
	/* What is not aligned makes all of it go to memory. */
	if (offset + size > 16 || (size && offset % size)) {
		class_set_all(ret, FX_CLASS_MEMORY);
		return;
	}
	class_merge(&ret[offset / 8], class);
	if (size > 8)
		class_merge(&ret[1], class);
}

static void class_of_object(const struct fx_type *type, enum fx_convention convention,
			    unsigned offset, unsigned depth, enum fx_class ret[2])
{
	Dwarf_Die die = type->die;
	Dwarf_Word told = 0;

	if (type_number(&die, DW_AT_calling_convention, &told) && told == DW_CC_pass_by_reference) {
		class_set_all(ret, FX_CLASS_ADDRESS);
		return;
	}
	if (told != DW_CC_pass_by_value && convention == FX_CONVENTION_CXX && may_live(&die)) {
		class_set_all(ret, FX_CLASS_UNSURE);
		return;
	}
	class_of_members(type, convention, offset, depth, ret);
}

static void class_of(const struct fx_type *type, enum fx_convention convention, unsigned offset,
		     unsigned depth, enum fx_class ret[2])
{
	Dwarf_Die die = type->die;

	if (depth > NEST_MAX) {
		class_set_all(ret, FX_CLASS_UNSURE);
		return;
	}
	switch (type->kind) {
	case FX_TYPE_SIGNED:
	case FX_TYPE_UNSIGNED:
	case FX_TYPE_BOOL:
	case FX_TYPE_CHARACTER:
	case FX_TYPE_ENUM:
	case FX_TYPE_POINTER:
	case FX_TYPE_TEXT:
	case FX_TYPE_REFERENCE:
		class_put(FX_CLASS_GENERAL, offset, type->size, ret);
		return;
	case FX_TYPE_FLOAT:
		/* What is longer is returned in another unit. */
		if (type->size > 8)
			class_set_all(ret, FX_CLASS_UNSURE);
		else
			class_put(FX_CLASS_VECTOR, offset, type->size, ret);
		return;
	case FX_TYPE_STRING:
		class_set_all(ret, FX_CLASS_ADDRESS);
		return;
	case FX_TYPE_VIEW:
		class_put(FX_CLASS_GENERAL, offset, 8, ret);
		class_put(FX_CLASS_GENERAL, offset + 8, 8, ret);
		return;
	case FX_TYPE_STRUCT:
		class_of_object(type, convention, offset, depth, ret);
		return;
	case FX_TYPE_NOTHING:
		return;
	case FX_TYPE_OTHER:
		break;
	}
	if (dwarf_tag(&die) == DW_TAG_array_type && depth)
		class_of_array(type, convention, offset, depth, ret);
	else if (dwarf_tag(&die) == DW_TAG_union_type)
		class_of_object(type, convention, offset, depth, ret);
	else
		class_set_all(ret, FX_CLASS_UNSURE);
}

/* A large object, whose members do not matter. */
static enum fx_class class_of_large(const struct fx_type *type, enum fx_convention convention)
{
	Dwarf_Die die = type->die;
	Dwarf_Word told = 0;

	if (type->kind == FX_TYPE_STRING)
		return FX_CLASS_ADDRESS;
	if (type_number(&die, DW_AT_calling_convention, &told))
		return told == DW_CC_pass_by_reference ? FX_CLASS_ADDRESS : FX_CLASS_MEMORY;
	/* The one or the other. */
	return convention == FX_CONVENTION_C ? FX_CLASS_MEMORY : FX_CLASS_UNSURE;
}

void fx_type_classify(const struct fx_type *type, enum fx_convention convention,
		      enum fx_class ret[2])
{
	ret[0] = ret[1] = FX_CLASS_NONE;
	if (convention == FX_CONVENTION_OTHER)
		class_set_all(ret, FX_CLASS_UNSURE);
	else if (type->size > 16)
		class_set_all(ret, class_of_large(type, convention));
	else
		class_of(type, convention, 0, 0, ret);
	for (unsigned i = 0; i < 2; i++) {
		if (ret[i] >= FX_CLASS_MEMORY)
			class_set_all(ret, ret[i] > ret[1 - i] ? ret[i] : ret[1 - i]);
	}
}

bool fx_type_is_returned_in_memory(const struct fx_type *type, enum fx_convention convention)
{
	enum fx_class classes[2];

	fx_type_classify(type, convention, classes);
	return classes[0] == FX_CLASS_MEMORY || classes[0] == FX_CLASS_ADDRESS ||
	       (type->size > 16 && convention != FX_CONVENTION_OTHER);
}

#else

void fx_type_classify(const struct fx_type *type, enum fx_convention convention,
		      enum fx_class ret[2])
{
	(void)type;
	(void)convention;
	ret[0] = ret[1] = FX_CLASS_UNSURE;
}

bool fx_type_is_returned_in_memory(const struct fx_type *type, enum fx_convention convention)
{
	(void)type;
	(void)convention;
	return false;
}

#endif
