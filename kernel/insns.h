/* SPDX-License-Identifier: MIT */
/* Programs of BPF, put together instruction by instruction. What fails on its way jumps to the end of its part, or of the program, which are
 * set when they are known. */
#ifndef FX_KERNEL_INSNS_H
#define FX_KERNEL_INSNS_H

#include <linux/bpf.h>
#include <stdint.h>

#define FX_INSNS_MAX 512u

struct fx_insns {
	struct bpf_insn list[FX_INSNS_MAX];
	unsigned count;
};

enum { R0, R1, R2, R3, R4, R5, R6, R7, R8, R9, R10 };

/* Jumps to the end of the part, and of the program. */
enum { FX_INSNS_PART_END = 0x7fff, FX_INSNS_END = 0x7ffe };

void fx_insns_put(struct fx_insns *code, uint8_t op, uint8_t dst, uint8_t src, int16_t off,
		  int32_t imm);
void fx_insns_move(struct fx_insns *code, uint8_t dst, uint8_t src);
void fx_insns_number(struct fx_insns *code, uint8_t dst, int32_t number);
void fx_insns_number64(struct fx_insns *code, uint8_t dst, uint64_t number);
void fx_insns_add(struct fx_insns *code, uint8_t dst, int32_t number);
void fx_insns_call(struct fx_insns *code, int32_t helper);

/* `size': BPF_W or BPF_DW. */
void fx_insns_load(struct fx_insns *code, uint8_t size, uint8_t dst, uint8_t src, int at);
void fx_insns_store(struct fx_insns *code, uint8_t size, uint8_t dst, int at, uint8_t src);
void fx_insns_store_number(struct fx_insns *code, uint8_t size, uint8_t dst, int at,
			   int32_t number);

/* By a comparison (BPF_JEQ and others), over so many instructions or to an end. The instruction's place, for fx_insns_land(). */
unsigned fx_insns_jump(struct fx_insns *code, uint8_t op, uint8_t dst, int32_t number, int to);

/* A jump comes out here. */
void fx_insns_land(struct fx_insns *code, unsigned from);

/* The part's end, and the program's, which returns `number'. */
void fx_insns_part(struct fx_insns *code);
void fx_insns_end(struct fx_insns *code, int32_t number);

/* The address of a map by its descriptor, and of a place on the stack. */
void fx_insns_map(struct fx_insns *code, uint8_t dst, int map);
void fx_insns_place(struct fx_insns *code, uint8_t dst, int at);

/* r0: what the map has for the key at a place of the stack, 0: nothing; and that goes to `to'. */
void fx_insns_look_up(struct fx_insns *code, int map, int key);
void fx_insns_look_up_or(struct fx_insns *code, int map, int key, int to);

#endif
