/* SPDX-License-Identifier: MIT */
#include "symbols/recipes/state.h"

#include "symbols/recipes/image.h"

fx_node fx_state_get(const struct fx_state *s, unsigned number, unsigned size)
{
	const struct fx_held *r = &s->registers[number];

	if (r->size < size)
		return FX_NODE_UNKNOWN;
	return fx_node_extend(s->nodes, FX_NODE_ZERO, r->node, size);
}

void fx_state_set(struct fx_state *s, unsigned number, fx_node value, unsigned size)
{
	s->registers[number] = (struct fx_held){value, value == FX_NODE_UNKNOWN ? 0 : size};
}

/* Whether [a, a + size) and the cell have a byte in common, if their bases are one. */
static bool state_overlaps(const struct fx_stored *c, int64_t offset, unsigned size)
{
	return offset < c->offset + (int64_t)c->size && c->offset < offset + (int64_t)size;
}

static bool state_is_initial(const struct fx_state *s, fx_node base, int64_t offset, unsigned size)
{
	if (s->is_wild || (s->stored != FX_NODE_UNKNOWN && s->stored != base))
		return false;
	if (s->memory == FX_MEMORY_ABOVE && (base != s->stack || offset < s->above))
		return false;
	for (uint32_t i = 0; i < s->count; i++) {
		if (s->cells[i].base == base && state_overlaps(&s->cells[i], offset, size))
			return false;
	}
	return true;
}

/* Out of the module's own memory: what nobody changes. */
static fx_node state_of_image(const struct fx_state *s, uint64_t address, unsigned size)
{
	uint64_t value;

	return fx_image_constant(s->image, address, size, &value)
		   ? fx_node_const(s->nodes, (int64_t)value)
		   : FX_NODE_UNKNOWN;
}

fx_node fx_state_load(const struct fx_state *s, fx_node address, unsigned size)
{
	int64_t offset, shift;
	fx_node base = fx_node_base(s->nodes, address, &offset), value;

	if (address == FX_NODE_UNKNOWN || size > 8)
		return FX_NODE_UNKNOWN;
	if (fx_node_look(s->nodes, address)->kind == FX_NODE_ADDRESS)
		return state_of_image(s, (uint64_t)fx_node_look(s->nodes, address)->value, size);
	/* The newest first: of an older one that it lies in, the rest alone is left. */
	for (uint32_t i = s->count; i-- > 0;) {
		const struct fx_stored *c = &s->cells[i];

		shift = offset - c->offset;
		if (c->base != base || shift < 0 || shift + (int64_t)size > (int64_t)c->size)
			continue;
		value = c->value;
		if (shift)
			value = fx_node_of_two(s->nodes, FX_NODE_SHR, value,
					       fx_node_const(s->nodes, 8 * shift));
		return fx_node_extend(s->nodes, FX_NODE_ZERO, value, size);
	}
	return state_is_initial(s, base, offset, size) ? fx_node_load(s->nodes, address, size)
						       : FX_NODE_UNKNOWN;
}

/* Whether an address lies below all that is the caller's: it was aligned downwards from the stack pointer. */
static bool state_is_below(const struct fx_state *s, fx_node base, int64_t offset, unsigned size)
{
	const struct fx_node_entry *e = fx_node_look(s->nodes, base);
	int64_t from, mask;

	return e->kind == FX_NODE_AND && fx_node_is_const(s->nodes, e->right, &mask) && mask < 0 &&
	       fx_node_base(s->nodes, e->left, &from) == s->stack &&
	       from + offset + (int64_t)size <= s->above;
}

static void state_forget_all(struct fx_state *s)
{
	s->count = 0;
	s->is_wild = true;
}

/* What may be changed by a store there. */
static void state_forget(struct fx_state *s, fx_node base, int64_t offset, unsigned size)
{
	uint32_t left = 0;

	for (uint32_t i = 0; i < s->count; i++) {
		struct fx_stored c = s->cells[i];

		if (c.base != base)
			c.value = FX_NODE_UNKNOWN;
		else if (state_overlaps(&c, offset, size) && c.offset >= offset &&
			 c.offset + (int64_t)c.size <= offset + (int64_t)size)
			continue; /* gone, altogether */
		else if (state_overlaps(&c, offset, size))
			c.value = FX_NODE_UNKNOWN;
		s->cells[left++] = c;
	}
	s->count = left;
}

void fx_state_store(struct fx_state *s, fx_node address, unsigned size, fx_node value)
{
	int64_t offset;
	fx_node base = fx_node_base(s->nodes, address, &offset);

	if (address == FX_NODE_UNKNOWN || size > 8) {
		state_forget_all(s);
		return;
	}
	/* The module's own data: nothing that is on a stack. */
	if (fx_node_look(s->nodes, address)->kind == FX_NODE_ADDRESS) {
		s->is_wild = s->is_wild || s->memory == FX_MEMORY_ALL;
		return;
	}
	state_forget(s, base, offset, size);
	if (s->count == FX_STATE_CELLS) {
		state_forget_all(s);
		return;
	}
	s->cells[s->count++] = (struct fx_stored){base, offset, size, value};
	if (s->stored == FX_NODE_UNKNOWN && !state_is_below(s, base, offset, size))
		s->stored = base;
	else if (s->stored != base && !state_is_below(s, base, offset, size))
		s->is_wild = true;
}

bool fx_state_has_stored(const struct fx_state *s, fx_node address, unsigned size)
{
	int64_t offset, end;
	fx_node base = fx_node_base(s->nodes, address, &offset);

	for (end = offset + (int64_t)size; offset < end;) {
		uint32_t i = 0;

		while (i < s->count && (s->cells[i].base != base || offset < s->cells[i].offset ||
					offset >= s->cells[i].offset + (int64_t)s->cells[i].size))
			i++;
		if (i == s->count || address == FX_NODE_UNKNOWN)
			return false;
		offset = s->cells[i].offset + (int64_t)s->cells[i].size;
	}
	return true;
}
