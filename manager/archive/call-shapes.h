/* SPDX-License-Identifier: MIT */
/*
 * What calls of one kind have in common. A wrapper's records differ in values and in the texts that they refer to; which
 * arguments there are, of which types, at which words, is nearly always the same. What was found out of that for one record
 * (plain-call.h) holds for all whose headers are the same words:
 *
 *	header                       category, name, number of arguments, size
 *	fd       int32      1 word   found at word 2
 *	flags    text       1 word   found at word 3; its reference is looked at in each record
 *	ret      int32      1 word   found at word 4
 *
 * Texts written in place make a shape of their own for each length. Of those whose places in the table are the same, the newest
 * is kept.
 */
#ifndef FX_MANAGER_CALL_SHAPES_H
#define FX_MANAGER_CALL_SHAPES_H

#include <stdbool.h>
#include <stdint.h>

#include <fxtrace/format.h>

#include "manager/archive/rewriting.h"

/* A record's header has four bits for their number. */
#define FX_SHAPE_ARGS_MAX 15u

#define FX_SHAPES 64u

struct fx_shape_arg {
	uint32_t low; /* of its header: type, size, name */
	uint16_t at;  /* the word of it */
	bool is_text;
	uint8_t
	    place; /* where its reference goes in struct fx_transfer_args, in bytes; 0: nowhere */
};

struct fx_call_shape {
	uint64_t header;    /* of the record; 0: none */
	uint32_t redefined; /* of the names, when they were looked up */
	uint8_t nargs;
	bool is_own, is_waking;		  /* as in struct fx_rewriting */
	struct fx_transfer_args transfer; /* without references */
	struct fx_shape_arg args[FX_SHAPE_ARGS_MAX];
};

/* Of a stream. */
struct fx_call_shapes {
	struct fx_call_shape all[FX_SHAPES];
};

static inline unsigned fx_call_shape_place(uint64_t header)
{
	return (unsigned)((header * UINT64_C(0x9e3779b97f4a7c15)) >> 58);
}

_Static_assert(FX_SHAPES == 1u << (64 - 58), "six bits of the product");

/* The shape of calls with that header; NULL: none is known. */
static inline const struct fx_call_shape *fx_call_shape_find(const struct fx_stream *s,
							     uint64_t header)
{
	const struct fx_call_shape *shape;

	if (!s->shapes)
		return NULL;
	shape = &s->shapes->all[fx_call_shape_place(header)];
	return shape->header == header && shape->redefined == s->names.redefined ? shape : NULL;
}

/* Remembers what was found out of the record that is in work, all of whose names stand in the archive. */
void fx_call_shape_learn(struct fx_rewriting *w);

#endif
