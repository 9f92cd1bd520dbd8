/* SPDX-License-Identifier: MIT */
#include "kernel/texts-program.h"

#include <stddef.h>

#include "kernel/call-table.h"

enum { R0, R1, R2, R3, R4, R5, R6, R7, R8, R9, R10 };

/* Where on its stack a program has what it knows: the thread, a number of a call, a zero, and an entry of `late'. */
enum { AT_THREAD = -4, AT_NUMBER = -8, AT_ZERO = -12, AT_LATE = -32 };

/* A jump to the program's end, which is not known yet. */
#define TO_END 0x7fff

static void insns_put(struct fx_texts_code *code, uint8_t op, uint8_t dst, uint8_t src, int16_t off,
		      int32_t imm)
{
	if (code->count < FX_TEXTS_CODE_MAX)
		code->insns[code->count++] = (struct bpf_insn){op, dst, src, off, imm};
}

static void insns_move(struct fx_texts_code *code, uint8_t dst, uint8_t src)
{
	insns_put(code, BPF_ALU64 | BPF_MOV | BPF_X, dst, src, 0, 0);
}

static void insns_number(struct fx_texts_code *code, uint8_t dst, int32_t number)
{
	insns_put(code, BPF_ALU64 | BPF_MOV | BPF_K, dst, 0, 0, number);
}

static void insns_add(struct fx_texts_code *code, uint8_t dst, int32_t number)
{
	insns_put(code, BPF_ALU64 | BPF_ADD | BPF_K, dst, 0, 0, number);
}

static void insns_call(struct fx_texts_code *code, int32_t helper)
{
	insns_put(code, BPF_JMP | BPF_CALL, 0, 0, 0, helper);
}

static void insns_load(struct fx_texts_code *code, uint8_t size, uint8_t dst, uint8_t src, int at)
{
	insns_put(code, BPF_LDX | BPF_MEM | size, dst, src, (int16_t)at, 0);
}

static void insns_store(struct fx_texts_code *code, uint8_t size, uint8_t dst, int at, uint8_t src)
{
	insns_put(code, BPF_STX | BPF_MEM | size, dst, src, (int16_t)at, 0);
}

static void insns_store_number(struct fx_texts_code *code, uint8_t size, uint8_t dst, int at,
			       int32_t number)
{
	insns_put(code, BPF_ST | BPF_MEM | size, dst, 0, (int16_t)at, number);
}

static void insns_jump(struct fx_texts_code *code, uint8_t op, uint8_t dst, int32_t number, int to)
{
	insns_put(code, BPF_JMP | op | BPF_K, dst, 0, (int16_t)to, number);
}

static void insns_map(struct fx_texts_code *code, uint8_t dst, int map)
{
	insns_put(code, BPF_LD | BPF_DW | BPF_IMM, dst, BPF_PSEUDO_MAP_FD, 0, map);
	insns_put(code, 0, 0, 0, 0, 0);
}

/* An address on the stack. */
static void insns_place(struct fx_texts_code *code, uint8_t dst, int at)
{
	insns_move(code, dst, R10);
	insns_add(code, dst, at);
}

/* r0: what the map has for the key there, which is something, or the program ends. */
static void insns_look_up(struct fx_texts_code *code, int map, int key)
{
	insns_map(code, R1, map);
	insns_place(code, R2, key);
	insns_call(code, BPF_FUNC_map_lookup_elem);
	insns_jump(code, BPF_JEQ, R0, 0, TO_END);
}

/* r6: what the program is given. */
static void insns_begin(struct fx_texts_code *code)
{
	code->count = 0;
	insns_move(code, R6, R1);
	insns_call(code, BPF_FUNC_get_current_pid_tgid);
	insns_store(code, BPF_W, R10, AT_THREAD, R0);
}

/* The other records of the tracepoint are to come in any case: 1. */
static void insns_end(struct fx_texts_code *code)
{
	for (unsigned i = 0; i < code->count; i++) {
		if (BPF_CLASS(code->insns[i].code) == BPF_JMP && code->insns[i].off == TO_END)
			code->insns[i].off = (int16_t)(code->count - i - 1);
	}
	insns_number(code, R0, 1);
	insns_put(code, BPF_JMP | BPF_EXIT, 0, 0, 0, 0);
}

/* r8: room for a record. */
static void insns_scratch(struct fx_texts_code *code, const struct fx_texts_maps *maps)
{
	insns_store_number(code, BPF_W, R10, AT_ZERO, 0);
	insns_look_up(code, maps->scratch, AT_ZERO);
	insns_move(code, R8, R0);
}

/* r0: how long the text is that r3 points to, or an error. */
static void insns_copy(struct fx_texts_code *code)
{
	insns_move(code, R1, R8);
	insns_add(code, R1, FX_TEXTS_HEAD);
	insns_number(code, R2, FX_TEXT_MAX);
	insns_call(code, BPF_FUNC_probe_read_user_str);
}

/* The record of r8, with a text of r0 bytes. */
static void insns_tell(struct fx_texts_code *code, const struct fx_texts_maps *maps)
{
	insns_store(code, BPF_W, R8, 4, R0);
	insns_move(code, R5, R0);
	insns_add(code, R5, FX_TEXTS_HEAD);
	insns_move(code, R1, R6);
	insns_map(code, R2, maps->events);
	/* this processor's: BPF_F_CURRENT_CPU, which has 32 bits */
	insns_put(code, BPF_ALU | BPF_MOV | BPF_K, R3, 0, 0, -1);
	insns_move(code, R4, R8);
	insns_call(code, BPF_FUNC_perf_event_output);
}

/* Jumps over what stands from a jump on. */
static void insns_land(struct fx_texts_code *code, unsigned from)
{
	if (from < code->count)
		code->insns[from].off = (int16_t)(code->count - from - 1);
}

/* r7: the bits of the call's arguments. */
static void insns_argument(struct fx_texts_code *code, const struct fx_texts_maps *maps,
			   const struct fx_tracepoint_place *args, unsigned i)
{
	unsigned other, failed, longer, told;

	insns_jump(code, BPF_JSET, R7, 1 << i, 1);
	other = code->count;
	insns_jump(code, BPF_JA, 0, 0, 0);
	insns_load(code, BPF_DW, R3, R6, args->offset + (int)i * args->size);
	insns_store(code, BPF_DW, R10, AT_LATE, R3);
	insns_copy(code);
	failed = code->count;
	insns_jump(code, BPF_JSLE, R0, 0, 0);
	longer = code->count;
	insns_jump(code, BPF_JGT, R0, FX_TEXT_MAX, 0);
	insns_store_number(code, BPF_W, R8, 0, (int32_t)(i << FX_TEXTS_ARGUMENT_SHIFT));
	insns_load(code, BPF_DW, R1, R10, AT_LATE);
	insns_store(code, BPF_DW, R8, 8, R1);
	insns_tell(code, maps);
	told = code->count;
	insns_jump(code, BPF_JA, 0, 0, 0);
	insns_land(code, failed);
	insns_store_number(code, BPF_DW, R10, AT_LATE + 8, (int32_t)i);
	insns_map(code, R1, maps->late);
	insns_place(code, R2, AT_THREAD);
	insns_place(code, R3, AT_LATE);
	insns_number(code, R4, BPF_ANY);
	insns_call(code, BPF_FUNC_map_update_elem);
	insns_land(code, other);
	insns_land(code, longer);
	insns_land(code, told);
}

void fx_texts_code_enter(const struct fx_texts_maps *maps, const struct fx_tracepoints *points,
			 struct fx_texts_code *ret)
{
	insns_begin(ret);
	insns_look_up(ret, maps->tasks, AT_THREAD);
	insns_load(ret, BPF_DW, R7, R6, points->fields[FX_FIELD_ENTER_NUMBER].offset);
	insns_jump(ret, BPF_JGT, R7, INT32_MAX, TO_END);
	insns_store(ret, BPF_W, R10, AT_NUMBER, R7);
	insns_look_up(ret, maps->calls, AT_NUMBER);
	insns_load(ret, BPF_W, R7, R0, 0);
	insns_jump(ret, BPF_JEQ, R7, 0, TO_END);
	insns_scratch(ret, maps);
	for (unsigned i = 0; i < FX_CALL_TEXT_ARGS; i++)
		insns_argument(ret, maps, &points->fields[FX_FIELD_ENTER_ARGS], i);
	insns_end(ret);
}

void fx_texts_code_exit(const struct fx_texts_maps *maps, struct fx_texts_code *ret)
{
	insns_begin(ret);
	insns_look_up(ret, maps->late, AT_THREAD);
	insns_load(ret, BPF_DW, R7, R0, 0);
	insns_load(ret, BPF_DW, R9, R0, 8);
	insns_scratch(ret, maps);
	insns_map(ret, R1, maps->late);
	insns_place(ret, R2, AT_THREAD);
	insns_call(ret, BPF_FUNC_map_delete_elem);
	insns_move(ret, R3, R7);
	insns_copy(ret);
	insns_jump(ret, BPF_JSLE, R0, 0, TO_END);
	insns_jump(ret, BPF_JGT, R0, FX_TEXT_MAX, TO_END);
	insns_put(ret, BPF_ALU64 | BPF_OR | BPF_K, R9, 0, 0, FX_TEXTS_AT_END);
	insns_put(ret, BPF_ALU64 | BPF_LSH | BPF_K, R9, 0, 0, FX_TEXTS_ARGUMENT_SHIFT);
	insns_store(ret, BPF_W, R8, 0, R9);
	insns_store(ret, BPF_DW, R8, 8, R7);
	insns_tell(ret, maps);
	insns_end(ret);
}

void fx_texts_code_fork(const struct fx_texts_maps *maps, const struct fx_tracepoints *points,
			struct fx_texts_code *ret)
{
	insns_begin(ret);
	insns_look_up(ret, maps->tasks, AT_THREAD);
	insns_load(ret, BPF_W, R7, R6, points->fields[FX_FIELD_FORK_CHILD].offset);
	insns_store(ret, BPF_W, R10, AT_NUMBER, R7);
	insns_store_number(ret, BPF_W, R10, AT_ZERO, 1);
	insns_map(ret, R1, maps->tasks);
	insns_place(ret, R2, AT_NUMBER);
	insns_place(ret, R3, AT_ZERO);
	insns_number(ret, R4, BPF_ANY);
	insns_call(ret, BPF_FUNC_map_update_elem);
	insns_end(ret);
}
