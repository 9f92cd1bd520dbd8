/* SPDX-License-Identifier: MIT */
#include "symbols/recipes/cook.h"

#include <dwarf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "symbols/recipes/order.h"
#include "symbols/recipes/wish.h"
#include "symbols/recipes/step.h"
#include "symbols/recipes/shown.h"

/* Of DWARF 6, which compilers use already. */
#define LANG_CXX_17 0x2b
#define LANG_CXX_20 0x2c
#define LANG_C_17   0x2d

/* Places of one function. */
#define PLACES_MAX 128u

/* How a result is called. */
#define RESULT "ret"

/* A function while its recipes are made. */
struct cooking {
	struct fx_cook *cook;
	struct fx_wanted_function *function;
	enum fx_convention convention;
	struct fx_recipe_place places[PLACES_MAX];
	unsigned count;
};

int fx_cook_init(struct fx_cook *ret, const struct fx_image *image)
{
	*ret = (struct fx_cook){.image = image};
	fx_blob_init(&ret->blob, FX_RECIPE_TABLE_MAX);
	return fx_nodes_init(&ret->nodes);
}

void fx_cook_clear(struct fx_cook *cook)
{
	fx_nodes_destroy(&cook->nodes);
	fx_blob_clear(&cook->blob);
}

static void place_add(struct cooking *c, uint64_t address, unsigned kind,
		      const struct fx_shown *values)
{
	uint32_t recipe = fx_shown_put(values);

	if (recipe && c->count < PLACES_MAX)
		c->places[c->count++] =
		    (struct fx_recipe_place){.address = address, .recipe = recipe, .kind = kind};
}

static struct fx_shown values_begin(struct cooking *c, unsigned kind)
{
	return (struct fx_shown){.blob = &c->cook->blob,
				 .limit = kind == FX_RECIPE_ARGS ? FX_RECIPE_VALUES - 1
								 : FX_RECIPE_VALUES};
}

static unsigned count_lost(const struct fx_shown *values, unsigned from)
{
	unsigned lost = 0;

	for (unsigned i = from; i < values->count; i++)
		lost += values->list[i].shape == FX_SHAPE_LOST;
	return lost;
}

/* --- The compiler ----------------------------------------------------------------------------- */

/* Whether the debug information says of a function that all its calls are described, which LLVM does of what it optimises. */
static bool is_described(Dwarf_Die *die)
{
	return dwarf_hasattr(die, DW_AT_call_all_calls) ||
	       dwarf_hasattr(die, DW_AT_call_all_source_calls) ||
	       dwarf_hasattr(die, DW_AT_GNU_all_call_sites) ||
	       dwarf_hasattr(die, DW_AT_GNU_all_source_call_sites);
}

/* Whether a function's frame is found by a frame pointer. */
static bool has_frame_pointer(Dwarf_Die *die, uint64_t pc)
{
	Dwarf_Attribute attribute;
	size_t count = 0;
	Dwarf_Op *ops;

	return dwarf_attr_integrate(die, DW_AT_frame_base, &attribute) &&
	       dwarf_getlocation_addr(&attribute, pc, &ops, &count, 1) == 1 && count == 1 &&
	       ops[0].atom == DW_OP_reg0 + fx_step_frame_register();
}

/*
 * Whether callers may leave out what the function does not use: LLVM has them hand on anything in its place, where it
 * optimises.
 */
static bool is_left_out_of(struct fx_wanted_function *f)
{
	const char *producer = NULL;
	Dwarf_Attribute attribute;
	Dwarf_Die unit;

	if (!f->has_die || !dwarf_diecu(&f->die, &unit, NULL, NULL) ||
	    !dwarf_attr(&unit, DW_AT_producer, &attribute))
		return true;
	producer = dwarf_formstring(&attribute);
	if (producer && strncmp(producer, "GNU ", 4) == 0)
		return false;
	return is_described(&f->die) || !has_frame_pointer(&f->die, f->address);
}

/* --- Arguments, by the debug information ------------------------------------------------------ */

static bool is_parameter(Dwarf_Die *die)
{
	const char *name = dwarf_diename(die);

	/* What the compiler hands on for itself is none, but for the object of a method. */
	return dwarf_tag(die) == DW_TAG_formal_parameter &&
	       (!dwarf_hasattr_integrate(die, DW_AT_artificial) ||
		(name && strcmp(name, "this") == 0));
}

/* Adds the parameter from each of the sources, and keeps that of which the least is lost: the first of equal ones. */
static void parameter_add(struct fx_shown *values, const char *name, const struct fx_type *type,
			  const struct fx_whence *sources, unsigned count)
{
	const struct fx_shown before = *values;
	struct fx_shown best = before;
	unsigned least = UINT32_MAX;

	for (unsigned i = 0; i < count && least; i++) {
		unsigned lost;

		*values = before;
		fx_shown_add(values, name, type, &sources[i]);
		lost = count_lost(values, before.count);
		if (lost < least) {
			least = lost;
			best = *values;
		}
	}
	*values = best;
}

/* Where an argument is at a place, unless that cannot be: an object of which the address is handed on is in no frame that the
 * function knows, and what is said to be there is its address. */
static void parameter_find(struct cooking *c, const struct fx_order_place *place, Dwarf_Die *die,
			   uint64_t pc, const struct fx_state *state, struct fx_spot *ret)
{
	int64_t offset;

	fx_spot_find(die, &c->function->die, pc, state, ret);
	if (place->classes[0] == FX_CLASS_ADDRESS && ret->count && ret->pieces[0].is_memory &&
	    fx_node_base(state->nodes, ret->pieces[0].node, &offset) == state->stack)
		ret->count = 0;
}

/*
 * What was handed on. The debug information says where it is as the function begins: that is believed. Of what it says of the
 * hook's call, and of places that the argument has in all of the function, that alone which was stored there before the hook, or
 * which is found to be what the machine's convention hands on: compilers say wrong things of values that they have changed.
 */
static void parameter_of_die(struct cooking *c, struct fx_shown *values, const char *name,
			     const struct fx_type *type, Dwarf_Die *die, struct fx_order *order)
{
	const struct fx_flow_entry *entry = &c->cook->entry;
	struct fx_order_place place;
	struct fx_whence sources[3];
	struct fx_spot spots[3];
	struct fx_state first;
	unsigned count = 0;

	fx_order_next(order, type, c->convention, &place);
	if (!c->cook->has_entry) {
		parameter_add(values, name, type, &(struct fx_whence){0}, 1);
		return;
	}
	fx_flow_begin(&first, c->cook->image, &c->cook->nodes, FX_MEMORY_ABOVE);
	parameter_find(c, &place, die, c->function->address, &first, &spots[0]);
	if (spots[0].count && !spots[0].is_everywhere)
		sources[count++] =
		    (struct fx_whence){.spot = &spots[0], .seen = &first, .at_hook = &entry->state};
	/* In the call itself: behind it, registers may be lost that the hook still finds. */
	parameter_find(c, &place, die, entry->place - 2, &entry->state, &spots[1]);
	if (spots[1].count &&
	    (spots[1].is_everywhere || fx_order_is(&place, &spots[1], &entry->state)))
		sources[count++] = (struct fx_whence){
		    .spot = &spots[1], .seen = &entry->state, .at_hook = &entry->state};
	/* Some compilers put arguments into their places behind the hook. */
	parameter_find(c, &place, die, entry->place, &entry->after, &spots[2]);
	if (spots[2].is_everywhere && fx_order_is(&place, &spots[2], &entry->after))
		sources[count++] = (struct fx_whence){
		    .spot = &spots[2], .seen = &entry->after, .at_hook = &entry->state};
	if (!count)
		sources[count++] = (struct fx_whence){0};
	parameter_add(values, name, type, sources, count);
}

/* The die whose children are the parameters: of a copy without any, that of which it is one. */
static bool die_with_parameters(Dwarf_Die *die, Dwarf_Die *ret)
{
	Dwarf_Attribute attribute;
	Dwarf_Die child;

	*ret = *die;
	for (unsigned i = 0; i < 4; i++) {
		for (int more = dwarf_child(ret, &child); more == 0;
		     more = dwarf_siblingof(&child, &child)) {
			if (dwarf_tag(&child) == DW_TAG_formal_parameter)
				return true;
		}
		if (!dwarf_attr(ret, DW_AT_abstract_origin, &attribute) &&
		    !dwarf_attr(ret, DW_AT_specification, &attribute))
			return false;
		if (!dwarf_formref_die(&attribute, ret))
			return false;
	}
	return false;
}

/* With `lost', none of them is known. */
static void arguments_of_die(struct cooking *c, struct fx_shown *values, bool lost)
{
	Dwarf_Die with, child;
	struct fx_order order;
	unsigned number = 0;

	if (!die_with_parameters(&c->function->die, &with))
		return;
	fx_order_begin(&c->function->die, c->convention, &order);
	for (int more = dwarf_child(&with, &child); more == 0;
	     more = dwarf_siblingof(&child, &child)) {
		const char *name = dwarf_diename(&child);
		char unnamed[16];
		struct fx_type type;

		if (!is_parameter(&child)) {
			order.is_unsure =
			    order.is_unsure || dwarf_tag(&child) == DW_TAG_formal_parameter;
			continue;
		}
		snprintf(unnamed, sizeof(unnamed), "arg%u", ++number);
		fx_type_of(&child, &type);
		if (lost)
			parameter_add(values, name ? name : unnamed, &type, &(struct fx_whence){0},
				      1);
		else
			parameter_of_die(c, values, name ? name : unnamed, &type, &child, &order);
	}
}

/* --- As they were spelt ----------------------------------------------------------------------- */

/* What the caller has left: in a register, or on the stack. */
static fx_node wished_node(struct fx_cook *cook, const struct fx_state *first,
			   const struct fx_wish *wish)
{
	int number = wish->kind == FX_WISH_VECTOR ? fx_step_vector_argument(wish->index)
						  : fx_step_argument(wish->index);
	unsigned in_registers = 0;

	if (number >= 0)
		return fx_node_register(&cook->nodes, (unsigned)number);
	if (wish->kind == FX_WISH_VECTOR)
		return FX_NODE_UNKNOWN;
	while (fx_step_argument(in_registers) >= 0)
		in_registers++;
	return fx_state_load(first,
			     fx_node_sum(&cook->nodes, first->stack,
					 first->above + 8 * (int64_t)(wish->index - in_registers)),
			     8);
}

static void wished_add(struct fx_shown *values, const struct fx_wish *wish, const char *name,
		       const struct fx_state *at_hook, fx_node node)
{
	struct fx_code code = {0}, pointer;
	bool known = fx_code_make(at_hook, node, wish->size, &code);

	if (known && wish->is_string) {
		pointer = code;
		known = fx_code_add(&code, 8) && fx_code_follow(&code, 8) &&
			fx_code_follow(&pointer, 8) && fx_code_append(&code, &pointer);
	}
	fx_shown_add_plain(values, name, wish->shape, wish->size, known ? &code : NULL);
}

static void arguments_wished(struct cooking *c, struct fx_shown *values, bool lost)
{
	const char *at = c->function->specs;
	struct fx_state first;
	struct fx_wish wish;
	char name[24];

	fx_flow_begin(&first, c->cook->image, &c->cook->nodes, FX_MEMORY_ABOVE);
	while (*at && fx_wish_next(&at, &wish)) {
		if (wish.kind == FX_WISH_RESULT)
			continue;
		snprintf(name, sizeof(name), "%s%u", wish.kind == FX_WISH_VECTOR ? "fparg" : "arg",
			 wish.index + 1);
		if (lost || !c->cook->has_entry)
			fx_shown_add_plain(values, name, wish.shape, wish.size, NULL);
		else
			wished_add(values, &wish, name, &c->cook->entry.state,
				   wished_node(c->cook, &first, &wish));
	}
}

/* --- Results ---------------------------------------------------------------------------------- */

/* The result as it is spelt, or as its type says. */
static bool result_wish(const struct cooking *c, struct fx_wish *ret)
{
	const char *at = c->function->specs;

	while (at && *at && fx_wish_next(&at, ret)) {
		if (ret->kind == FX_WISH_RESULT)
			return true;
	}
	return false;
}

/* Where a result is that the function is about to return: NULL if it is not known. */
static const struct fx_spot *result_spot(const struct fx_flow_exit *e, const struct fx_type *type,
					 enum fx_convention convention, struct fx_spot *ret)
{
	unsigned general = 0, vectors = 0;
	enum fx_class classes[2];

	*ret = (struct fx_spot){0};
	fx_type_classify(type, convention, classes);
	if (fx_type_is_returned_in_memory(type, convention)) {
		ret->pieces[ret->count++] =
		    (struct fx_spot_piece){.is_memory = true, .node = e->results[0]};
		return e->has_stored ? NULL : ret;
	}
	for (unsigned i = 0; i < 2; i++) {
		if (classes[i] == FX_CLASS_UNSURE)
			return NULL;
		if (classes[i] == FX_CLASS_NONE)
			continue;
		ret->pieces[ret->count++] = (struct fx_spot_piece){
		    .node = classes[i] == FX_CLASS_GENERAL ? e->results[general++]
							   : e->vectors[vectors++],
		    .size = 8};
	}
	return ret->count ? ret : NULL;
}

static void result_by_type(struct cooking *c, const struct fx_type *type,
			   const struct fx_flow_exit *e, struct fx_shown *values)
{
	struct fx_whence source = {0};
	struct fx_spot spot;

	if (e)
		source = (struct fx_whence){.spot = result_spot(e, type, c->convention, &spot),
					    .seen = &e->state,
					    .at_hook = &e->state};
	fx_shown_add(values, RESULT, type, &source);
}

/* With `e' NULL it is lost. */
static void result_add(struct cooking *c, uint64_t place, const struct fx_type *type,
		       const struct fx_flow_exit *e)
{
	struct fx_shown values = values_begin(c, FX_RECIPE_RESULT);
	struct fx_wish wish;

	values.limit = FX_RECIPE_VALUES;
	if (e && e->by_exception) {
		place_add(c, place, FX_RECIPE_RESULT, &values);
		return;
	}
	if (!result_wish(c, &wish))
		result_by_type(c, type, e, &values);
	else if (e)
		wished_add(&values, &wish, RESULT, &e->state,
			   wish.shape == FX_SHAPE_FLOAT ? e->vectors[0] : e->results[0]);
	else
		fx_shown_add_plain(&values, RESULT, wish.shape, wish.size, NULL);
	place_add(c, place, FX_RECIPE_RESULT, &values);
}

struct exits {
	struct cooking *c;
	const struct fx_type *type;
};

static void exit_take(void *opaque, uint64_t place)
{
	const struct exits *exits = opaque;
	struct fx_cook *cook = exits->c->cook;
	struct fx_flow_exit found;

	fx_nodes_clear(&cook->nodes);
	if (exits->c->count + 1 < PLACES_MAX &&
	    fx_flow_leave(cook->image, &cook->nodes, place, &found))
		result_add(exits->c, place, exits->type, &found);
}

static void results_cook(struct cooking *c, const struct fx_type *type)
{
	struct exits exits = {c, type};
	Dwarf_Addr base, start, end;
	ptrdiff_t at = 0;

	if (!c->function->has_die) {
		fx_flow_exits(c->cook->image, c->function->address, c->function->end, exit_take,
			      &exits);
	} else {
		while ((at = dwarf_ranges(&c->function->die, at, &base, &start, &end)) > 0)
			fx_flow_exits(c->cook->image, start, end, exit_take, &exits);
	}
	result_add(c, 0, type, NULL);
}

/* ---------------------------------------------------------------------------------------------- */

static enum fx_convention convention_of(Dwarf_Die *die)
{
	Dwarf_Die unit;

	switch (dwarf_diecu(die, &unit, NULL, NULL) ? dwarf_srclang(&unit) : -1) {
	case DW_LANG_C:
	case DW_LANG_C89:
	case DW_LANG_C99:
	case DW_LANG_C11:
	case LANG_C_17:
		return FX_CONVENTION_C;
	case DW_LANG_C_plus_plus:
	case DW_LANG_C_plus_plus_03:
	case DW_LANG_C_plus_plus_11:
	case DW_LANG_C_plus_plus_14:
	case LANG_CXX_17:
	case LANG_CXX_20:
		return FX_CONVENTION_CXX;
	default:
		return FX_CONVENTION_OTHER;
	}
}

static void arguments_cook(struct cooking *c)
{
	struct fx_cook *cook = c->cook;
	struct fx_shown values = values_begin(c, FX_RECIPE_ARGS);
	void (*add)(struct cooking * c, struct fx_shown * values, bool lost) =
	    c->function->specs ? arguments_wished : arguments_of_die;

	fx_nodes_clear(&cook->nodes);
	cook->has_entry =
	    fx_flow_enter(cook->image, &cook->nodes, c->function->address, &cook->entry);
	cook->entry.state.has_copies_alone = !c->function->specs && is_left_out_of(c->function);
	if (cook->has_entry) {
		add(c, &values, false);
		if (values.count)
			place_add(c, cook->entry.place, FX_RECIPE_ARGS, &values);
	}
	values = values_begin(c, FX_RECIPE_ARGS);
	add(c, &values, true);
	if (values.count)
		place_add(c, 0, FX_RECIPE_ARGS, &values);
}

uint32_t fx_cook_function(struct fx_cook *cook, struct fx_wanted_function *function)
{
	struct cooking *c = calloc(1, sizeof(*c));
	struct fx_type type = {.kind = FX_TYPE_NOTHING};
	struct fx_recipe_function head = {.address = function->address};
	size_t bytes;
	struct fx_wish wish;
	uint32_t at = 0;

	if (!c)
		return 0;
	c->cook = cook;
	c->function = function;
	c->convention = function->has_die ? convention_of(&function->die) : FX_CONVENTION_OTHER;
	if ((function->flags & FX_RECIPE_ARGS) && (function->has_die || function->specs))
		arguments_cook(c);
	if (function->has_die)
		fx_type_of(&function->die, &type);
	if ((function->flags & FX_RECIPE_RESULT) &&
	    (result_wish(c, &wish) || type.kind != FX_TYPE_NOTHING))
		results_cook(c, &type);
	for (unsigned i = 0; i < c->count; i++)
		head.flags |= c->places[i].kind;
	head.count = c->count;
	bytes = c->count * sizeof(c->places[0]);
	if (c->count)
		at = fx_blob_put(&cook->blob, NULL, sizeof(head) + bytes);
	if (at) {
		memcpy(fx_blob_at(&cook->blob, at), &head, sizeof(head));
		memcpy((uint8_t *)fx_blob_at(&cook->blob, at) + sizeof(head), c->places, bytes);
	}
	free(c);
	return at;
}
