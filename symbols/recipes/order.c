/* SPDX-License-Identifier: MIT */
#include "symbols/recipes/order.h"

#include "symbols/recipes/step.h"

void fx_order_begin(Dwarf_Die *function, enum fx_convention convention, struct fx_order *ret)
{
	enum fx_class classes[2];
	struct fx_type result;

	*ret = (struct fx_order){0};
	fx_type_of(function, &result);
	if (result.kind == FX_TYPE_FLOAT && result.size > 8)
		return; /* in a unit of its own */
	if (fx_type_is_returned_in_memory(&result, convention)) {
		ret->general = 1;
		return;
	}
	fx_type_classify(&result, convention, classes);
	ret->is_unsure = classes[0] == FX_CLASS_UNSURE;
}

static int order_take(struct fx_order *order, enum fx_class class)
{
	return class == FX_CLASS_VECTOR ? fx_step_vector_argument(order->vectors++)
					: fx_step_argument(order->general++);
}

/* Whether a value is what was in the register, or the one bit of it that a truth value is. */
static bool is_of_register(const struct fx_state *s, fx_node n, unsigned size, int number)
{
	const struct fx_node_entry *e;
	int64_t mask;

	if (n == FX_NODE_UNKNOWN || number < 0)
		return false;
	n = fx_node_low(s->nodes, n, size);
	e = fx_node_look(s->nodes, n);
	if (e->kind == FX_NODE_AND && fx_node_is_const(s->nodes, e->right, &mask) && mask == 1) {
		n = fx_node_low(s->nodes, e->left, size);
		e = fx_node_look(s->nodes, n);
	}
	return e->kind == FX_NODE_REGISTER && e->value == number;
}

/* The same of what is at `offset'; of what is not stored as a whole, its lower part shows it. */
static bool order_is_of(const struct fx_spot *spot, const struct fx_state *state, unsigned offset,
			unsigned size, int number)
{
	for (; size; size = size > 4 ? 4 : size / 2) {
		fx_node address, n = fx_spot_get(spot, state, offset, size, &address);

		if (n != FX_NODE_UNKNOWN)
			return is_of_register(state, n, size, number);
	}
	return false;
}

/* Whether there are registers enough for both halves: else all of it goes to memory. */
static bool order_has_room(const struct fx_order *order, const enum fx_class classes[2])
{
	struct fx_order after = *order;
	bool has = true;

	for (unsigned i = 0; i < 2; i++) {
		if (classes[i] == FX_CLASS_GENERAL || classes[i] == FX_CLASS_VECTOR)
			has = order_take(&after, classes[i]) >= 0 && has;
	}
	return has;
}

void fx_order_next(struct fx_order *order, const struct fx_type *type,
		   enum fx_convention convention, struct fx_order_place *ret)
{
	*ret = (struct fx_order_place){.size = type->size};
	fx_type_classify(type, convention, ret->classes);
	/* A long number goes to the stack. */
	if (ret->classes[0] == FX_CLASS_UNSURE)
		order->is_unsure = order->is_unsure || type->kind != FX_TYPE_FLOAT;
	if (ret->classes[0] == FX_CLASS_ADDRESS)
		ret->classes[1] = FX_CLASS_NONE;
	else if (ret->classes[0] >= FX_CLASS_MEMORY || !order_has_room(order, ret->classes))
		return;
	for (unsigned i = 0; i < 2; i++) {
		if (ret->classes[i] != FX_CLASS_NONE)
			ret->numbers[i] = order_take(order, ret->classes[i]);
	}
	ret->is_known = !order->is_unsure;
}

bool fx_order_is(const struct fx_order_place *place, const struct fx_spot *spot,
		 const struct fx_state *state)
{
	if (!place->is_known || !spot->count)
		return false;
	/* An object of which the address is handed on. */
	if (place->classes[0] == FX_CLASS_ADDRESS)
		return spot->count == 1 && spot->pieces[0].is_memory &&
		       is_of_register(state, spot->pieces[0].node, 8, place->numbers[0]);
	for (unsigned i = 0; i < 2; i++) {
		unsigned size = place->size > 8 * i + 8 ? 8 : place->size - 8 * i;

		if (place->classes[i] != FX_CLASS_NONE &&
		    !order_is_of(spot, state, 8 * i, size, place->numbers[i]))
			return false;
	}
	return true;
}
