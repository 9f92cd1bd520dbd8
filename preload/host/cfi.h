/* SPDX-License-Identifier: MIT */
/*
 * Call frame information: how a function's caller is found from any place in it, as compilers write it
 * into .eh_frame (DWARF 5, chapter 6.4; System V ABI for x86-64, section 6; DWARF for the Arm 64-bit architecture,
 * sections 4 and 5; LSB, "Exception Frames").
 *
 * Read straight from the loaded module: no lock, no allocation, no system call, so that a signal handler
 * or a thread inside dlopen() can do it.
 */
#ifndef FX_PRELOAD_CFI_H
#define FX_PRELOAD_CFI_H

#include <stdbool.h>
#include <stdint.h>

/* The registers that are looked at: DWARF's numbers, from FX_CFI_FIRST on. The tables have rules for the first
 * FX_CFI_RULES of them. */
#if defined(__aarch64__)
enum fx_cfi_register {
	FX_CFI_FIRST = 19, /* what lies below is lost in a call */
	FX_CFI_FP = 10,	   /* x29 */
	FX_CFI_RA = 11,	   /* x30, where a call leaves the return address */
	FX_CFI_SP = 12,
	FX_CFI_RULES = 13,
	FX_CFI_PC = 13, /* has no number of its own */
	FX_CFI_REGISTERS = 14,
};
#else
enum fx_cfi_register {
	FX_CFI_FIRST = 0,
	FX_CFI_RBX = 3,
	FX_CFI_FP = 6, /* rbp */
	FX_CFI_SP = 7, /* rsp */
	FX_CFI_RA = 16,
	FX_CFI_PC = 16,
	FX_CFI_RULES = 17,
	FX_CFI_REGISTERS = 17,
};
#endif

/* By DWARF's number. Vector registers and the like have no rules here. */
static inline bool fx_cfi_has_rule(uint64_t number)
{
	return number - FX_CFI_FIRST < FX_CFI_RULES;
}

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

/* How the CFA is found: the caller's stack pointer before its call. */
struct fx_cfi_cfa {
	uint32_t number; /* of a register, to which the offset is added */
	int64_t offset;
	const uint8_t *expression; /* NULL: register + offset */
	int64_t return_offset; /* from the CFA to where the return address is saved; 0: it is not */
};

/* How the caller's registers are found at one place. */
struct fx_cfi_row {
	struct fx_cfi_cfa cfa;
	struct fx_cfi_rule rules[FX_CFI_RULES];
	bool is_signal; /* the frame of a signal handler's return: its caller was interrupted */
};

/* The row for `pc`, from the module's .eh_frame_hdr. False: the module says nothing about that place, or
 * something that is not understood. */
bool fx_cfi_find(const uint8_t *eh_frame_hdr, uint64_t pc, struct fx_cfi_row *ret);

/* Code that has one entry in the tables: a function, or a part of one that was moved away from the rest. */
struct fx_cfi_code {
	uint64_t start, end;
};

/* The code that `pc` lies in. */
bool fx_cfi_find_code(const uint8_t *eh_frame_hdr, uint64_t pc, struct fx_cfi_code *ret);

/* The same, and how the CFA is found there: a row without the rest takes a quarter of the stack. */
bool fx_cfi_find_cfa(const uint8_t *eh_frame_hdr, uint64_t pc, struct fx_cfi_code *ret_code,
		     struct fx_cfi_cfa *ret);

/* Registers and what may be read of memory, for expressions. */
struct fx_cfi_state {
	uint64_t registers[FX_CFI_REGISTERS];
	uint32_t known;	    /* bit i: registers[i] is the frame's */
	uint64_t low, high; /* of the stack */
};

/* A return address as it was before the program signed it. */
static inline uint64_t fx_cfi_unsigned(uint64_t address)
{
#if defined(__aarch64__)
	/* xpaclri; processors that know of no signatures take it for nothing */
	__asm__("mov x30, %0\n\thint #7\n\tmov %0, x30" : "+r"(address) : : "x30");
#endif
	return address;
}

/* Reads a word of the stack. */
bool fx_cfi_read(const struct fx_cfi_state *s, uint64_t address, uint64_t *ret);

bool fx_cfi_cfa_of(const struct fx_cfi_cfa *cfa, const struct fx_cfi_state *s, uint64_t *ret);

/* Goes from a frame to its caller's: false if there is none, or none that is found. */
bool fx_cfi_apply(const struct fx_cfi_row *row, struct fx_cfi_state *s);

#endif
