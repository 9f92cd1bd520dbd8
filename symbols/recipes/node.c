/* SPDX-License-Identifier: MIT */
#include "symbols/recipes/node.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* No function's beginning or end has as many. */
#define NODES_MAX 4096u

int fx_nodes_init(struct fx_nodes *ret)
{
	*ret = (struct fx_nodes){.room = NODES_MAX};
	ret->list = calloc(ret->room, sizeof(*ret->list));
	ret->slots = calloc(2 * (size_t)ret->room, sizeof(*ret->slots));
	if (!ret->list || !ret->slots) {
		fx_nodes_destroy(ret);
		return -ENOMEM;
	}
	ret->count = 1;
	return 0;
}

void fx_nodes_destroy(struct fx_nodes *nodes)
{
	free(nodes->list);
	free(nodes->slots);
	memset(nodes, 0, sizeof(*nodes));
}

void fx_nodes_clear(struct fx_nodes *nodes)
{
	memset(nodes->slots, 0, 2 * (size_t)nodes->room * sizeof(*nodes->slots));
	nodes->count = 1;
	nodes->is_out_of_room = false;
}

static uint32_t node_hash(const struct fx_node_entry *e)
{
	uint64_t h = (uint64_t)e->value * UINT64_C(0x9e3779b97f4a7c15);

	h ^= ((uint64_t)e->left << 32 | e->right) * UINT64_C(0xff51afd7ed558ccd);
	h += (uint64_t)e->kind << 8 | e->size;
	return (uint32_t)((h * UINT64_C(0x9e3779b97f4a7c15)) >> 32);
}

static bool node_is_same(const struct fx_node_entry *a, const struct fx_node_entry *b)
{
	return a->kind == b->kind && a->size == b->size && a->left == b->left &&
	       a->right == b->right && a->value == b->value;
}

static fx_node node_get(struct fx_nodes *nodes, struct fx_node_entry e)
{
	uint32_t mask = 2 * nodes->room - 1, at = node_hash(&e) & mask;

	for (; nodes->slots[at]; at = (at + 1) & mask) {
		if (node_is_same(&nodes->list[nodes->slots[at]], &e))
			return nodes->slots[at];
	}
	if (nodes->count == nodes->room) {
		nodes->is_out_of_room = true;
		return FX_NODE_UNKNOWN;
	}
	nodes->list[nodes->count] = e;
	nodes->slots[at] = nodes->count;
	return nodes->count++;
}

fx_node fx_node_register(struct fx_nodes *nodes, unsigned number)
{
	return node_get(nodes, (struct fx_node_entry){.kind = FX_NODE_REGISTER, .value = number});
}

fx_node fx_node_const(struct fx_nodes *nodes, int64_t value)
{
	return node_get(nodes, (struct fx_node_entry){.kind = FX_NODE_CONST, .value = value});
}

fx_node fx_node_address(struct fx_nodes *nodes, uint64_t address)
{
	return node_get(nodes,
			(struct fx_node_entry){.kind = FX_NODE_ADDRESS, .value = (int64_t)address});
}

bool fx_node_is_const(const struct fx_nodes *nodes, fx_node n, int64_t *ret)
{
	*ret = nodes->list[n].value;
	return nodes->list[n].kind == FX_NODE_CONST;
}

fx_node fx_node_base(const struct fx_nodes *nodes, fx_node n, int64_t *ret_offset)
{
	const struct fx_node_entry *e = &nodes->list[n];

	*ret_offset = e->kind == FX_NODE_SUM ? e->value : 0;
	return e->kind == FX_NODE_SUM ? e->left : n;
}

/* As the machine adds. */
static int64_t node_wrap_add(int64_t a, int64_t b)
{
	return (int64_t)((uint64_t)a + (uint64_t)b);
}

fx_node fx_node_sum(struct fx_nodes *nodes, fx_node base, int64_t offset)
{
	int64_t before;

	if (base == FX_NODE_UNKNOWN)
		return FX_NODE_UNKNOWN;
	if (fx_node_is_const(nodes, base, &before))
		return fx_node_const(nodes, node_wrap_add(before, offset));
	if (nodes->list[base].kind == FX_NODE_ADDRESS)
		return fx_node_address(nodes, (uint64_t)before + (uint64_t)offset);
	base = fx_node_base(nodes, base, &before);
	offset = node_wrap_add(before, offset);
	if (!offset)
		return base;
	return node_get(nodes,
			(struct fx_node_entry){.kind = FX_NODE_SUM, .left = base, .value = offset});
}

fx_node fx_node_load(struct fx_nodes *nodes, fx_node address, unsigned size)
{
	if (address == FX_NODE_UNKNOWN)
		return FX_NODE_UNKNOWN;
	return node_get(nodes, (struct fx_node_entry){
				   .kind = FX_NODE_LOAD, .left = address, .size = (uint8_t)size});
}

static int64_t node_const_extend(enum fx_node_kind kind, int64_t value, unsigned size)
{
	unsigned shift = 64 - 8 * size;
	uint64_t up = (uint64_t)value << shift;

	return kind == FX_NODE_SIGN ? (int64_t)up >> shift : (int64_t)(up >> shift);
}

fx_node fx_node_low(const struct fx_nodes *nodes, fx_node n, unsigned size)
{
	const struct fx_node_entry *e = &nodes->list[n];

	while ((e->kind == FX_NODE_ZERO || e->kind == FX_NODE_SIGN) && e->size >= size) {
		n = e->left;
		e = &nodes->list[n];
	}
	return n;
}

fx_node fx_node_extend(struct fx_nodes *nodes, enum fx_node_kind kind, fx_node n, unsigned size)
{
	int64_t value;

	if (n == FX_NODE_UNKNOWN || size >= 8)
		return n;
	if (fx_node_is_const(nodes, n, &value))
		return fx_node_const(nodes, node_const_extend(kind, value, size));
	n = fx_node_low(nodes, n, size);
	if (kind == FX_NODE_ZERO && nodes->list[n].kind == FX_NODE_LOAD &&
	    nodes->list[n].size <= size)
		return n;
	return node_get(
	    nodes, (struct fx_node_entry){.kind = (uint8_t)kind, .left = n, .size = (uint8_t)size});
}

static bool node_fold(enum fx_node_kind kind, int64_t left, int64_t right, int64_t *ret)
{
	uint64_t a = (uint64_t)left, b = (uint64_t)right;

	switch (kind) {
	case FX_NODE_ADD:
		*ret = (int64_t)(a + b);
		return true;
	case FX_NODE_SUB:
		*ret = (int64_t)(a - b);
		return true;
	case FX_NODE_MUL:
		*ret = (int64_t)(a * b);
		return true;
	case FX_NODE_AND:
		*ret = (int64_t)(a & b);
		return true;
	case FX_NODE_OR:
		*ret = (int64_t)(a | b);
		return true;
	case FX_NODE_XOR:
		*ret = (int64_t)(a ^ b);
		return true;
	case FX_NODE_SHL:
		*ret = b < 64 ? (int64_t)(a << b) : 0;
		return b < 64;
	case FX_NODE_SHR:
		*ret = b < 64 ? (int64_t)(a >> b) : 0;
		return b < 64;
	case FX_NODE_SAR:
		*ret = b < 64 ? left >> b : 0;
		return b < 64;
	default:
		return false;
	}
}

fx_node fx_node_of_two(struct fx_nodes *nodes, enum fx_node_kind kind, fx_node left, fx_node right)
{
	int64_t a, b, folded;
	bool left_is_const, right_is_const;

	if (left == right && left != FX_NODE_UNKNOWN &&
	    (kind == FX_NODE_XOR || kind == FX_NODE_SUB))
		return fx_node_const(nodes, 0);
	if (left == FX_NODE_UNKNOWN || right == FX_NODE_UNKNOWN)
		return FX_NODE_UNKNOWN;
	left_is_const = fx_node_is_const(nodes, left, &a);
	right_is_const = fx_node_is_const(nodes, right, &b);
	if (left_is_const && right_is_const && node_fold(kind, a, b, &folded))
		return fx_node_const(nodes, folded);
	if (kind == FX_NODE_ADD && (left_is_const || right_is_const))
		return left_is_const ? fx_node_sum(nodes, right, a) : fx_node_sum(nodes, left, b);
	if (kind == FX_NODE_SUB && right_is_const)
		return fx_node_sum(nodes, left, (int64_t)(0 - (uint64_t)b));
	if (kind >= FX_NODE_SHL && (!right_is_const || b < 0 || b > 63))
		return FX_NODE_UNKNOWN;
	return node_get(
	    nodes, (struct fx_node_entry){.kind = (uint8_t)kind, .left = left, .right = right});
}
