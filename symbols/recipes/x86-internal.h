/* SPDX-License-Identifier: MIT */
/* What the files about x86-64's instructions share. */
#ifndef FX_SYMBOLS_X86_INTERNAL_H
#define FX_SYMBOLS_X86_INTERNAL_H

#include "symbols/recipes/step.h"

#if defined(__x86_64__)

enum { RAX = 0, RDX = 1, RCX = 2, RBX = 3, RSI = 4, RDI = 5, RBP = 6, RSP = 7, R8 = 8, R9 = 9 };

#define X86_VECTOR 17u

#define X86_PREFIX_16	   1u /* 0x66 */
#define X86_PREFIX_F2	   2u
#define X86_PREFIX_F3	   4u
#define X86_PREFIX_SEGMENT 8u

struct x86 {
	struct fx_state *s;
	const uint8_t *at, *end; /* what is still to be read */
	uint64_t next;		 /* the address of `at' */
	unsigned prefixes, rex;
	bool has_rex;
	bool is_vex;
	unsigned vex_first; /* the operand that only VEX has */
	unsigned size;	    /* of operands */
	unsigned mode, reg, rm;
	fx_node address;   /* of the operand in memory */
	uint64_t absolute; /* the same, if it is a distance from here; 0: it is none */
	bool is_short;	   /* the code ends in the middle */
};

/* The next byte; an immediate of 1, 2, 4 or 8 of them, sign-extended. */
uint8_t fx_x86_byte(struct x86 *x);
int64_t fx_x86_immediate(struct x86 *x, unsigned size);

fx_node fx_x86_get_register(struct x86 *x, unsigned machine, unsigned size);
void fx_x86_set_register(struct x86 *x, unsigned machine, fx_node value, unsigned size);

/* Reads ModRM and what belongs to it. `behind': bytes of an immediate that follows. */
void fx_x86_operands(struct x86 *x, unsigned behind);
fx_node fx_x86_get_rm(struct x86 *x, unsigned size);
void fx_x86_set_rm(struct x86 *x, fx_node value, unsigned size);

/* The lower half alone is known of a vector. */
void fx_x86_set_vector(struct x86 *x, unsigned machine, fx_node value, unsigned size);

/* Of the instructions of the map 0F. False: it is not known. */
bool fx_x86_is_vector(unsigned opcode);
bool fx_x86_vector(struct x86 *x, unsigned opcode);

/* The same of one of eight opcodes of x87. */
bool fx_x86_x87(struct x86 *x, unsigned opcode);

#endif
#endif
