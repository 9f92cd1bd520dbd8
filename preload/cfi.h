/* SPDX-License-Identifier: MIT */
/*
 * Call frame information: how a function's caller is found from any place in it, as compilers write it
 * into .eh_frame (DWARF 5, chapter 6.4; System V ABI for x86-64, section 6; LSB, "Exception Frames").
 *
 * Read straight from the loaded module: no lock, no allocation, no system call, so that a signal handler
 * or a thread inside dlopen() can do it.
 */
#ifndef FX_PRELOAD_CFI_H
#define FX_PRELOAD_CFI_H

#include <stdbool.h>
#include <stdint.h>

/* DWARF numbers of x86-64 registers; 16 stands for the return address. */
enum fx_cfi_register {
	FX_CFI_RBX = 3,
	FX_CFI_RBP = 6,
	FX_CFI_RSP = 7,
	FX_CFI_PC = 16,
	FX_CFI_REGISTERS = 17,
};

enum fx_cfi_kind {
	FX_CFI_SAME = 0,   /* the caller's is still in the register */
	FX_CFI_UNDEFINED,  /* lost; of the return address: there is no caller */
	FX_CFI_OFFSET,	   /* saved at CFA + offset */
	FX_CFI_VAL_OFFSET, /* is CFA + offset */
	FX_CFI_REGISTER,   /* is in register `value` */
	FX_CFI_EXPRESSION, /* saved where the expression says */
	FX_CFI_VAL_EXPRESSION,
};

/* One word, since rows stand on stacks that may be small. */
struct fx_cfi_rule {
	uint64_t kind : 8; /* enum fx_cfi_kind */
	int64_t
	    value : 56; /* the offset, register, or address of the expression, its length first */
};

/* How the caller's registers are found at one place. The CFA is the caller's stack pointer. */
struct fx_cfi_row {
	uint32_t cfa_register;
	int64_t cfa_offset;
	const uint8_t *cfa_expression; /* NULL: register + offset */
	struct fx_cfi_rule rules[FX_CFI_REGISTERS];
	bool is_signal; /* the frame of a signal handler's return: its caller was interrupted */
};

/* The row for `pc`, from the module's .eh_frame_hdr. False: the module says nothing about that place, or
 * something that is not understood. */
bool fx_cfi_find(const uint8_t *eh_frame_hdr, uint64_t pc, struct fx_cfi_row *ret);

/* Registers and what may be read of memory, for expressions. */
struct fx_cfi_state {
	uint64_t registers[FX_CFI_REGISTERS];
	uint32_t known;	    /* bit i: registers[i] is the frame's */
	uint64_t low, high; /* of the stack */
};

/* Reads a word of the stack. */
bool fx_cfi_read(const struct fx_cfi_state *s, uint64_t address, uint64_t *ret);

/* Goes from a frame to its caller's: false if there is none, or none that is found. */
bool fx_cfi_apply(const struct fx_cfi_row *row, struct fx_cfi_state *s);

#endif
