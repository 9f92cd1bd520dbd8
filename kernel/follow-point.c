/* SPDX-License-Identifier: MIT */
#include "kernel/follow-point.h"

#include <errno.h>

#include "kernel/follow-parts.h"

/* That other events of the tracepoint are told, of whoever has them. */
enum { OTHERS_TOO = 1 };

/* A jump by the numbers of two registers, over so many instructions. */
static void jump_by(struct fx_insns *code, uint8_t op, uint8_t dst, uint8_t src, int16_t over)
{
	fx_insns_put(code, BPF_JMP | op | BPF_X, dst, src, over, 0);
}

/* r8: the record as far as its fields go, which is to r9; r9: how far what they point to goes. */
static void code_reach(struct fx_insns *code, const struct fx_point_shape *shape, unsigned i)
{
	const int at = shape->elsewhere[i].offset;

	fx_insns_load(code, BPF_W, R1, R8, at);
	fx_insns_move(code, R2, R1);
	fx_insns_put(code, BPF_ALU64 | BPF_AND | BPF_K, R1, 0, 0, UINT16_MAX);
	fx_insns_put(code, BPF_ALU64 | BPF_RSH | BPF_K, R2, 0, 0, 16);
	fx_insns_put(code, BPF_ALU64 | BPF_ADD | BPF_X, R1, R2, 0, 0);
	if (shape->elsewhere[i].is_relative)
		fx_insns_add(code, R1, at + 4);
	jump_by(code, BPF_JLE, R1, R9, 1);
	fx_insns_move(code, R9, R1);
}

/* r8, r9: the record, and its bytes. */
static void code_take_whole(struct fx_insns *code, const struct fx_point_shape *shape)
{
	fx_insns_move(code, R1, R8);
	fx_insns_move(code, R3, R6);
	fx_part_read(code, (int32_t)shape->size);
	fx_insns_number(code, R9, (int32_t)shape->size);
	if (shape->is_cut) { /* the ring may have anything behind it */
		fx_insns_store_number(code, BPF_W, R8, (int32_t)shape->size, 0);
		fx_insns_add(code, R9, 4);
	}
	if (!shape->elsewhere_count)
		return;
	for (unsigned i = 0; i < shape->elsewhere_count; i++)
		code_reach(code, shape, i);
	fx_insns_jump(code, BPF_JLE, R9, FX_FOLLOW_RECORD_MAX, 1);
	fx_insns_number(code, R9, FX_FOLLOW_RECORD_MAX);
	fx_insns_move(code, R1, R8);
	fx_insns_move(code, R2, R9);
	fx_insns_move(code, R3, R6);
	fx_insns_call(code, BPF_FUNC_probe_read_kernel);
}

/* In a program's copy the first eight bytes are not those of the record. */
int fx_follow_point_code(const struct fx_follow_terms *terms, uint32_t number,
			 const struct fx_point_shape *shape, struct fx_insns *ret)
{
	if (shape->size > FX_FOLLOW_RECORD_MAX || shape->size < 8)
		return -E2BIG;
	fx_part_begin(ret);
	fx_part_look_or_end(ret, terms);
	fx_part_scratch(ret, terms, FX_FOLLOW_ROOM_POINT);
	code_take_whole(ret, shape);
	fx_insns_store_number(ret, BPF_W, R8, 0, (int32_t)number);
	fx_insns_load(ret, BPF_W, R1, R10, FX_AT_THREAD);
	fx_insns_store(ret, BPF_W, R8, 4, R1);
	fx_insns_move(ret, R5, R9);
	fx_part_tell(ret, terms);
	fx_insns_end(ret, OTHERS_TOO);
	return 0;
}
