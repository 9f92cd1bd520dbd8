/* SPDX-License-Identifier: MIT */
/* What programs of BPF that follow threads have in common: pieces that are put together to kernel/follow-code.h and kernel/follow-point.h. In all of
 * them r6 is what the program is given. */
#ifndef FX_KERNEL_FOLLOW_PARTS_H
#define FX_KERNEL_FOLLOW_PARTS_H

#include "kernel/follow-terms.h"
#include "kernel/insns.h"

/*
 * Where on its stack a program has what it knows: the thread, another number, a zero, an entry of `late', registers, and a socket's address. Programs that look
 * whether they run on the thread's own stack have no more than the first of these there: for others the kernel may take a place elsewhere.
 */
enum {
	FX_AT_THREAD = -4,
	FX_AT_NUMBER = -8,
	FX_AT_ZERO = -12,
	FX_AT_LATE = -32,
	FX_AT_REGISTERS = -96,
	FX_AT_SOCKET = -208
};

/* The begin of all. */
void fx_part_begin(struct fx_insns *code);

/* r0: not 0 if the thread that runs is followed. The place of another number is used. */
void fx_part_look(struct fx_insns *code, const struct fx_follow_terms *terms);

/* The program ends where it is not. */
void fx_part_look_or_end(struct fx_insns *code, const struct fx_follow_terms *terms);

/* A thread by its number, which stands there, is followed from now on, or not any more. */
void fx_part_follow(struct fx_insns *code, const struct fx_follow_terms *terms, int thread);
void fx_part_leave(struct fx_insns *code, const struct fx_follow_terms *terms, int thread);

/* Bytes that lie anywhere in the kernel, r3 says where, come to r1. */
void fx_part_read(struct fx_insns *code, int32_t size);

/* r8: room for a record. */
void fx_part_scratch(struct fx_insns *code, const struct fx_follow_terms *terms,
		     enum fx_follow_room room);

/* The record of r8, of r5 bytes. What finds no way into a ring is counted. */
void fx_part_tell(struct fx_insns *code, const struct fx_follow_terms *terms);

#endif
