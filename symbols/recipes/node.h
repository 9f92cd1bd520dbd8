/* SPDX-License-Identifier: MIT */
/*
 * What a register or a place in memory holds, in terms of what stood in registers and memory at one moment: where a function
 * begins, or where a hook returns to. Equal expressions are the same node.
 */
#ifndef FX_SYMBOLS_NODE_H
#define FX_SYMBOLS_NODE_H

#include <stdbool.h>
#include <stdint.h>

/* By its number; 0 is what nobody knows. */
typedef uint32_t fx_node;

#define FX_NODE_UNKNOWN 0u

enum fx_node_kind {
	FX_NODE_NONE,
	FX_NODE_REGISTER, /* `value': DWARF's number */
	FX_NODE_CONST,	  /* `value' */
	FX_NODE_ADDRESS,  /* `value': a link-time address of the module */
	FX_NODE_SUM,	  /* `left' and the constant `value' */
	FX_NODE_LOAD,	  /* `size' bytes at the address `left', zero-extended */
	FX_NODE_ZERO,	  /* the lower `size' bytes of `left', zero-extended */
	FX_NODE_SIGN,	  /* the same, sign-extended */
	FX_NODE_ADD,	  /* from here on of `left' and `right' */
	FX_NODE_SUB,
	FX_NODE_MUL,
	FX_NODE_AND,
	FX_NODE_OR,
	FX_NODE_XOR,
	FX_NODE_SHL, /* `right' is a constant */
	FX_NODE_SHR,
	FX_NODE_SAR,
};

struct fx_node_entry {
	uint8_t kind, size;
	fx_node left, right;
	int64_t value;
};

struct fx_nodes {
	struct fx_node_entry *list; /* [0] is FX_NODE_UNKNOWN */
	uint32_t count, room;
	uint32_t *slots;     /* by hash; `room' times two of them */
	bool is_out_of_room; /* further nodes are unknown */
};

/* 0 or -ENOMEM. */
int fx_nodes_init(struct fx_nodes *ret);
void fx_nodes_destroy(struct fx_nodes *nodes);

/* All nodes are gone. */
void fx_nodes_clear(struct fx_nodes *nodes);

static inline const struct fx_node_entry *fx_node_look(const struct fx_nodes *nodes, fx_node n)
{
	return &nodes->list[n];
}

fx_node fx_node_register(struct fx_nodes *nodes, unsigned number);
fx_node fx_node_const(struct fx_nodes *nodes, int64_t value);
fx_node fx_node_address(struct fx_nodes *nodes, uint64_t address);
fx_node fx_node_sum(struct fx_nodes *nodes, fx_node base, int64_t offset);
fx_node fx_node_load(struct fx_nodes *nodes, fx_node address, unsigned size);

/* FX_NODE_ZERO and FX_NODE_SIGN. */
fx_node fx_node_extend(struct fx_nodes *nodes, enum fx_node_kind kind, fx_node n, unsigned size);

/* FX_NODE_ADD and further. */
fx_node fx_node_of_two(struct fx_nodes *nodes, enum fx_node_kind kind, fx_node left, fx_node right);

/* Whether it is a constant, and which. */
bool fx_node_is_const(const struct fx_nodes *nodes, fx_node n, int64_t *ret);

/* An address as a node and a distance from there. */
fx_node fx_node_base(const struct fx_nodes *nodes, fx_node n, int64_t *ret_offset);

/* What has the same lower `size' bytes, with fewer operations. */
fx_node fx_node_low(const struct fx_nodes *nodes, fx_node n, unsigned size);

#endif
