/* SPDX-License-Identifier: MIT */
#include "kernel/insns.h"

void fx_insns_put(struct fx_insns *code, uint8_t op, uint8_t dst, uint8_t src, int16_t off,
		  int32_t imm)
{
	if (code->count < FX_INSNS_MAX)
		code->list[code->count++] = (struct bpf_insn){op, dst, src, off, imm};
}

void fx_insns_move(struct fx_insns *code, uint8_t dst, uint8_t src)
{
	fx_insns_put(code, BPF_ALU64 | BPF_MOV | BPF_X, dst, src, 0, 0);
}

void fx_insns_number(struct fx_insns *code, uint8_t dst, int32_t number)
{
	fx_insns_put(code, BPF_ALU64 | BPF_MOV | BPF_K, dst, 0, 0, number);
}

void fx_insns_number64(struct fx_insns *code, uint8_t dst, uint64_t number)
{
	fx_insns_put(code, BPF_LD | BPF_DW | BPF_IMM, dst, 0, 0, (int32_t)(uint32_t)number);
	fx_insns_put(code, 0, 0, 0, 0, (int32_t)(uint32_t)(number >> 32));
}

void fx_insns_add(struct fx_insns *code, uint8_t dst, int32_t number)
{
	fx_insns_put(code, BPF_ALU64 | BPF_ADD | BPF_K, dst, 0, 0, number);
}

void fx_insns_call(struct fx_insns *code, int32_t helper)
{
	fx_insns_put(code, BPF_JMP | BPF_CALL, 0, 0, 0, helper);
}

void fx_insns_load(struct fx_insns *code, uint8_t size, uint8_t dst, uint8_t src, int at)
{
	fx_insns_put(code, BPF_LDX | BPF_MEM | size, dst, src, (int16_t)at, 0);
}

void fx_insns_store(struct fx_insns *code, uint8_t size, uint8_t dst, int at, uint8_t src)
{
	fx_insns_put(code, BPF_STX | BPF_MEM | size, dst, src, (int16_t)at, 0);
}

void fx_insns_store_number(struct fx_insns *code, uint8_t size, uint8_t dst, int at, int32_t number)
{
	fx_insns_put(code, BPF_ST | BPF_MEM | size, dst, 0, (int16_t)at, number);
}

unsigned fx_insns_jump(struct fx_insns *code, uint8_t op, uint8_t dst, int32_t number, int to)
{
	fx_insns_put(code, BPF_JMP | op | BPF_K, dst, 0, (int16_t)to, number);
	return code->count - 1;
}

void fx_insns_land(struct fx_insns *code, unsigned from)
{
	if (from < code->count)
		code->list[from].off = (int16_t)(code->count - from - 1);
}

static void jumps_land(struct fx_insns *code, int16_t to)
{
	for (unsigned i = 0; i < code->count; i++) {
		if (BPF_CLASS(code->list[i].code) == BPF_JMP && code->list[i].off == to)
			fx_insns_land(code, i);
	}
}

void fx_insns_part(struct fx_insns *code)
{
	jumps_land(code, FX_INSNS_PART_END);
}

void fx_insns_end(struct fx_insns *code, int32_t number)
{
	fx_insns_part(code);
	jumps_land(code, FX_INSNS_END);
	fx_insns_number(code, R0, number);
	fx_insns_put(code, BPF_JMP | BPF_EXIT, 0, 0, 0, 0);
}

void fx_insns_map(struct fx_insns *code, uint8_t dst, int map)
{
	fx_insns_put(code, BPF_LD | BPF_DW | BPF_IMM, dst, BPF_PSEUDO_MAP_FD, 0, map);
	fx_insns_put(code, 0, 0, 0, 0, 0);
}

void fx_insns_place(struct fx_insns *code, uint8_t dst, int at)
{
	fx_insns_move(code, dst, R10);
	fx_insns_add(code, dst, at);
}

void fx_insns_look_up(struct fx_insns *code, int map, int key)
{
	fx_insns_map(code, R1, map);
	fx_insns_place(code, R2, key);
	fx_insns_call(code, BPF_FUNC_map_lookup_elem);
}

void fx_insns_look_up_or(struct fx_insns *code, int map, int key, int to)
{
	fx_insns_look_up(code, map, key);
	fx_insns_jump(code, BPF_JEQ, R0, 0, to);
}
