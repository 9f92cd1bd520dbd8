/* SPDX-License-Identifier: MIT */
#include "kernel/follow-code.h"

#include <asm/ptrace.h>
#include <asm/unistd.h>
#include <errno.h>

#include "kernel/call-table.h"
#include "kernel/follow-parts.h"

/* What a program is given: eight bytes for each of what the tracepoint has. */
enum {
	ENTER_REGISTERS = 0,
	ENTER_NUMBER = 8,
	EXIT_REGISTERS = 0,
	EXIT_RESULT = 8,
	SWITCH_PREEMPT = 0,
	SWITCH_STATE = 24,
	WAKING_TASK = 0,
	FORK_CHILD = 8,
	FREE_TASK = 0
};

/* States of a thread as the kernel itself has them: waits that no signal ends, stopped, traced; it idles, which is no wait; it has
 * ended. */
enum { STATES_TOLD = 0x2 | 0x4 | 0x8, STATE_IDLES = 0x400, STATE_ENDED = 0x80 };

/* In a record's flags: it came in an interrupt. */
#define FLAG_INTERRUPT (0x08 << 16)

/* Where the kernel has the registers of a thread that called it: those that are read, where among these the arguments are, and the call's
 * number. */
#if defined(__x86_64__)
enum { REGISTERS_FROM = offsetof(struct pt_regs, r10), REGISTERS_SIZE = 64 };
enum { NUMBER_FROM = offsetof(struct pt_regs, orig_rax), NUMBER_SIZE = 8 };
#define ARGUMENT_(name) (offsetof(struct pt_regs, name) - REGISTERS_FROM)
static const uint8_t arguments[FX_CALL_ARGS] = {ARGUMENT_(rdi), ARGUMENT_(rsi), ARGUMENT_(rdx),
						ARGUMENT_(r10), ARGUMENT_(r8),	ARGUMENT_(r9)};
#elif defined(__aarch64__)
enum { REGISTERS_FROM = 0, REGISTERS_SIZE = 48 };
enum { NUMBER_FROM = sizeof(struct user_pt_regs) + 8, NUMBER_SIZE = 4 };
static const uint8_t arguments[FX_CALL_ARGS] = {0, 8, 16, 24, 32, 40};
#endif

/* --- Records as tracepoints have them ----------------------------------------------------------- */

/* r8: one that begins as all do: its number, flags, and the thread, with the mark (fx_tracepoint_is_followed()). */
static void code_record(struct fx_insns *code, const struct fx_follow_terms *terms,
			enum fx_tracepoint which)
{
	fx_part_scratch(code, terms,
			which == FX_TRACEPOINT_WAKING ? FX_FOLLOW_ROOM_WAKING
						      : FX_FOLLOW_ROOM_USUAL);
	fx_insns_store_number(code, BPF_W, R8, 0, (int32_t)terms->points->numbers[which]);
	fx_insns_load(code, BPF_W, R1, R10, FX_AT_THREAD);
	fx_insns_put(code, BPF_ALU64 | BPF_OR | BPF_K, R1, 0, 0, INT32_MIN);
	fx_insns_store(code, BPF_W, R8, 4, R1);
}

static uint8_t place_width(const struct fx_tracepoint_place *place)
{
	return place->size == 8 ? BPF_DW : BPF_W;
}

/* r1 into a field. */
static void code_field(struct fx_insns *code, const struct fx_follow_terms *terms,
		       enum fx_tracepoint_field field, unsigned index)
{
	const struct fx_tracepoint_place *place = &terms->points->fields[field];

	fx_insns_store(code, place_width(place), R8, place->offset + (int)index * place->size, R1);
}

/* It is as long as the last field of which there is something to say. */
static void code_tell_to(struct fx_insns *code, const struct fx_follow_terms *terms,
			 enum fx_tracepoint_field last)
{
	const struct fx_tracepoint_place *place = &terms->points->fields[last];

	fx_insns_number(code, R5, place->offset + place->size * place->count);
	fx_part_tell(code, terms);
}

/* --- Texts -------------------------------------------------------------------------------------- */

/* r0: how long the text is that r3 points to, or an error. */
static void code_copy_text(struct fx_insns *code)
{
	fx_insns_move(code, R1, R8);
	fx_insns_add(code, R1, FX_TEXTS_HEAD);
	fx_insns_number(code, R2, FX_TEXT_MAX);
	fx_insns_call(code, BPF_FUNC_probe_read_user_str);
}

/* The record of r8, with a text of r0 bytes. */
static void code_tell_text(struct fx_insns *code, const struct fx_follow_terms *terms)
{
	fx_insns_store(code, BPF_W, R8, 4, R0);
	fx_insns_move(code, R5, R0);
	fx_insns_add(code, R5, FX_TEXTS_HEAD);
	fx_part_tell(code, terms);
}

/* r7: the bits of the call's arguments, which are at FX_AT_REGISTERS. */
static void code_argument(struct fx_insns *code, const struct fx_follow_terms *terms, unsigned i)
{
	unsigned other, failed, longer, told;

	fx_insns_jump(code, BPF_JSET, R7, 1 << i, 1);
	other = fx_insns_jump(code, BPF_JA, 0, 0, 0);
	fx_insns_load(code, BPF_DW, R3, R10, FX_AT_REGISTERS + arguments[i]);
	fx_insns_store(code, BPF_DW, R10, FX_AT_LATE, R3);
	code_copy_text(code);
	failed = fx_insns_jump(code, BPF_JSLE, R0, 0, 0);
	longer = fx_insns_jump(code, BPF_JGT, R0, FX_TEXT_MAX, 0);
	fx_insns_store_number(code, BPF_W, R8, 0, (int32_t)(i << FX_TEXTS_ARGUMENT_SHIFT));
	fx_insns_load(code, BPF_DW, R1, R10, FX_AT_LATE);
	fx_insns_store(code, BPF_DW, R8, 8, R1);
	code_tell_text(code, terms);
	told = fx_insns_jump(code, BPF_JA, 0, 0, 0);
	fx_insns_land(code, failed);
	fx_insns_store_number(code, BPF_DW, R10, FX_AT_LATE + 8, (int32_t)i);
	fx_insns_map(code, R1, terms->maps.late);
	fx_insns_place(code, R2, FX_AT_THREAD);
	fx_insns_place(code, R3, FX_AT_LATE);
	fx_insns_number(code, R4, BPF_ANY);
	fx_insns_call(code, BPF_FUNC_map_update_elem);
	fx_insns_land(code, other);
	fx_insns_land(code, longer);
	fx_insns_land(code, told);
}

static void code_texts(struct fx_insns *code, const struct fx_follow_terms *terms)
{
	fx_insns_load(code, BPF_DW, R7, R6, ENTER_NUMBER);
	fx_insns_jump(code, BPF_JGT, R7, INT32_MAX, FX_INSNS_PART_END);
	fx_insns_store(code, BPF_W, R10, FX_AT_NUMBER, R7);
	fx_insns_look_up_or(code, terms->maps.calls, FX_AT_NUMBER, FX_INSNS_PART_END);
	fx_insns_load(code, BPF_W, R7, R0, 0);
	fx_insns_jump(code, BPF_JEQ, R7, 0, FX_INSNS_PART_END);
	fx_part_scratch(code, terms, FX_FOLLOW_ROOM_USUAL);
	for (unsigned i = 0; i < FX_CALL_TEXT_ARGS; i++)
		code_argument(code, terms, i);
	fx_insns_part(code);
}

static void code_late_text(struct fx_insns *code, const struct fx_follow_terms *terms)
{
	fx_insns_look_up_or(code, terms->maps.late, FX_AT_THREAD, FX_INSNS_PART_END);
	fx_insns_load(code, BPF_DW, R7, R0, 0);
	fx_insns_load(code, BPF_DW, R9, R0, 8);
	fx_part_scratch(code, terms, FX_FOLLOW_ROOM_USUAL);
	fx_insns_map(code, R1, terms->maps.late);
	fx_insns_place(code, R2, FX_AT_THREAD);
	fx_insns_call(code, BPF_FUNC_map_delete_elem);
	fx_insns_move(code, R3, R7);
	code_copy_text(code);
	fx_insns_jump(code, BPF_JSLE, R0, 0, FX_INSNS_PART_END);
	fx_insns_jump(code, BPF_JGT, R0, FX_TEXT_MAX, FX_INSNS_PART_END);
	fx_insns_put(code, BPF_ALU64 | BPF_OR | BPF_K, R9, 0, 0, FX_TEXTS_AT_END);
	fx_insns_put(code, BPF_ALU64 | BPF_LSH | BPF_K, R9, 0, 0, FX_TEXTS_ARGUMENT_SHIFT);
	fx_insns_store(code, BPF_W, R8, 0, R9);
	fx_insns_store(code, BPF_DW, R8, 8, R7);
	code_tell_text(code, terms);
	fx_insns_part(code);
}

/* --- Programs ----------------------------------------------------------------------------------- */

static void code_registers(struct fx_insns *code)
{
	fx_insns_load(code, BPF_DW, R3, R6, ENTER_REGISTERS);
	fx_insns_add(code, R3, REGISTERS_FROM);
	fx_insns_place(code, R1, FX_AT_REGISTERS);
	fx_part_read(code, REGISTERS_SIZE);
}

/* Who connects to the manager as libfxtrace.so does is followed from then on, since what it starts would otherwise begin before we have
 * heard of it, and that is told. */
static void code_arrival(struct fx_insns *code, const struct fx_follow_terms *terms)
{
	enum { LENGTH_AT = FX_AT_SOCKET + (int)offsetof(struct fx_follow_socket, length) };
	enum { ADDRESS_AT = FX_AT_SOCKET + (int)offsetof(struct fx_follow_socket, address) };

	if (terms->maps.sockets < 0)
		return;
	fx_insns_load(code, BPF_DW, R7, R6, ENTER_NUMBER);
	fx_insns_jump(code, BPF_JNE, R7, __NR_connect, FX_INSNS_PART_END);
	code_registers(code);
	for (int i = 0; i < (int)sizeof(struct fx_follow_socket); i += 8)
		fx_insns_store_number(code, BPF_DW, R10, FX_AT_SOCKET + i, 0);
	fx_insns_load(code, BPF_DW, R3, R10, FX_AT_REGISTERS + arguments[1]);
	fx_insns_load(code, BPF_DW, R2, R10, FX_AT_REGISTERS + arguments[2]);
	fx_insns_jump(code, BPF_JGT, R2, sizeof(struct sockaddr_un), FX_INSNS_PART_END);
	fx_insns_store(code, BPF_H, R10, LENGTH_AT, R2);
	fx_insns_place(code, R1, ADDRESS_AT);
	fx_insns_call(code, BPF_FUNC_probe_read_user);
	fx_insns_look_up_or(code, terms->maps.sockets, FX_AT_SOCKET, FX_INSNS_PART_END);
	fx_part_follow(code, terms, FX_AT_THREAD);
	fx_part_scratch(code, terms, FX_FOLLOW_ROOM_USUAL);
	fx_insns_store_number(code, BPF_W, R8, 0,
			      (int32_t)(FX_TEXTS_ARRIVES << FX_TEXTS_ARGUMENT_SHIFT));
	fx_insns_store_number(code, BPF_W, R8, 4, 0);
	fx_insns_store_number(code, BPF_DW, R8, 8, 0);
	fx_insns_number(code, R5, FX_TEXTS_HEAD);
	fx_part_tell(code, terms);
	fx_insns_part(code);
}

static void code_enter(struct fx_insns *code, const struct fx_follow_terms *terms)
{
	code_arrival(code, terms);
	if (terms->arrivals)
		return;
	fx_part_look_or_end(code, terms);
	code_registers(code);
	code_texts(code, terms);
	code_record(code, terms, FX_TRACEPOINT_ENTER);
	fx_insns_load(code, BPF_DW, R1, R6, ENTER_NUMBER);
	code_field(code, terms, FX_FIELD_ENTER_NUMBER, 0);
	for (unsigned i = 0; i < FX_CALL_ARGS; i++) {
		fx_insns_load(code, BPF_DW, R1, R10, FX_AT_REGISTERS + arguments[i]);
		code_field(code, terms, FX_FIELD_ENTER_ARGS, i);
	}
	code_tell_to(code, terms, FX_FIELD_ENTER_ARGS);
}

static void code_exit(struct fx_insns *code, const struct fx_follow_terms *terms)
{
	fx_part_look_or_end(code, terms);
	code_late_text(code, terms);
	code_record(code, terms, FX_TRACEPOINT_EXIT);
	fx_insns_store_number(code, BPF_DW, R10, FX_AT_LATE, 0);
	fx_insns_load(code, BPF_DW, R3, R6, EXIT_REGISTERS);
	fx_insns_add(code, R3, NUMBER_FROM);
	fx_insns_place(code, R1, FX_AT_LATE);
	fx_part_read(code, NUMBER_SIZE);
	fx_insns_load(code, BPF_DW, R1, R10, FX_AT_LATE);
	if (NUMBER_SIZE == 4) { /* that of a call from a handler is -1 */
		fx_insns_put(code, BPF_ALU64 | BPF_LSH | BPF_K, R1, 0, 0, 32);
		fx_insns_put(code, BPF_ALU64 | BPF_ARSH | BPF_K, R1, 0, 0, 32);
	}
	code_field(code, terms, FX_FIELD_EXIT_NUMBER, 0);
	fx_insns_load(code, BPF_DW, R1, R6, EXIT_RESULT);
	code_field(code, terms, FX_FIELD_EXIT_RESULT, 0);
	code_tell_to(code, terms, FX_FIELD_EXIT_RESULT);
}

/* r7: the state of the thread that is switched away, as far as fx_tracepoint_filter() lets it come. */
static void code_switch(struct fx_insns *code, const struct fx_follow_terms *terms)
{
	fx_part_look_or_end(code, terms);
	fx_insns_load(code, BPF_DW, R1, R6, SWITCH_PREEMPT);
	fx_insns_jump(code, BPF_JNE, R1, 0, FX_INSNS_END);
	fx_insns_load(code, BPF_DW, R7, R6, SWITCH_STATE);
	fx_insns_jump(code, BPF_JSET, R7, STATE_IDLES | STATE_ENDED, FX_INSNS_END);
	fx_insns_put(code, BPF_ALU64 | BPF_AND | BPF_K, R7, 0, 0, STATES_TOLD);
	fx_insns_jump(code, BPF_JEQ, R7, 0, FX_INSNS_END);
	code_record(code, terms, FX_TRACEPOINT_SWITCH);
	fx_insns_load(code, BPF_W, R1, R10, FX_AT_THREAD);
	code_field(code, terms, FX_FIELD_SWITCH_TID, 0);
	fx_insns_move(code, R1, R7);
	code_field(code, terms, FX_FIELD_SWITCH_STATE, 0);
	code_tell_to(code, terms, FX_FIELD_SWITCH_STATE);
}

/* r9: the flags. The thread's own stack is used by nothing that interrupts it. */
static void code_flags(struct fx_insns *code, const struct fx_follow_terms *terms)
{
	unsigned own;

	fx_insns_call(code, BPF_FUNC_get_current_task);
	fx_insns_move(code, R3, R0);
	fx_insns_add(code, R3, (int32_t)terms->task.stack);
	fx_insns_place(code, R1, FX_AT_LATE);
	fx_part_read(code, 8);
	/* Addresses that have been written somewhere are numbers. */
	fx_insns_store(code, BPF_DW, R8, 8, R10);
	fx_insns_load(code, BPF_DW, R1, R8, 8);
	fx_insns_load(code, BPF_DW, R2, R10, FX_AT_LATE);
	fx_insns_put(code, BPF_ALU64 | BPF_SUB | BPF_X, R1, R2, 0, 0);
	fx_insns_number(code, R9, 0);
	own = fx_insns_jump(code, BPF_JLT, R1, (int32_t)terms->stack_bytes, 0);
	fx_insns_number(code, R9, FLAG_INTERRUPT);
	fx_insns_land(code, own);
}

/* r7: the thread that is woken. */
static void code_waking(struct fx_insns *code, const struct fx_follow_terms *terms)
{
	unsigned wakes;

	fx_insns_load(code, BPF_DW, R7, R6, WAKING_TASK);
	fx_part_look(code, terms);
	wakes = fx_insns_jump(code, BPF_JNE, R0, 0, 0);
	fx_insns_place(code, R1, FX_AT_NUMBER);
	fx_insns_move(code, R3, R7);
	fx_insns_add(code, R3, (int32_t)terms->task.tid);
	fx_part_read(code, 4);
	fx_insns_look_up_or(code, terms->maps.tasks, FX_AT_NUMBER, FX_INSNS_END);
	fx_insns_land(code, wakes);
	code_record(code, terms, FX_TRACEPOINT_WAKING);
	code_flags(code, terms);
	fx_insns_load(code, BPF_W, R1, R8, 0);
	fx_insns_put(code, BPF_ALU64 | BPF_OR | BPF_X, R1, R9, 0, 0);
	fx_insns_store(code, BPF_W, R8, 0, R1);
	fx_insns_place(code, R1, FX_AT_LATE);
	fx_insns_move(code, R3, R7);
	fx_insns_add(code, R3, (int32_t)terms->task.tid);
	fx_part_read(code, 4);
	fx_insns_load(code, BPF_W, R1, R10, FX_AT_LATE);
	code_field(code, terms, FX_FIELD_WAKING_TID, 0);
	fx_insns_place(code, R1, FX_AT_LATE);
	fx_insns_move(code, R3, R7);
	fx_insns_add(code, R3, (int32_t)terms->task.cpu);
	fx_part_read(code, 4);
	fx_insns_load(code, BPF_W, R1, R10, FX_AT_LATE);
	code_field(code, terms, FX_FIELD_WAKING_CPU, 0);
	code_tell_to(code, terms, FX_FIELD_WAKING_CPU);
}

/* The number of the task of r3. */
static void code_task_number(struct fx_insns *code, const struct fx_follow_terms *terms)
{
	fx_insns_add(code, R3, (int32_t)terms->task.tid);
	fx_insns_place(code, R1, FX_AT_NUMBER);
	fx_part_read(code, 4);
}

static void code_fork(struct fx_insns *code, const struct fx_follow_terms *terms)
{
	fx_insns_load(code, BPF_DW, R3, R6, FORK_CHILD);
	code_task_number(code, terms);
	fx_insns_load(code, BPF_W, R7, R10, FX_AT_NUMBER);
	fx_part_look_or_end(code, terms);
	fx_insns_store(code, BPF_W, R10, FX_AT_NUMBER, R7);
	fx_part_follow(code, terms, FX_AT_NUMBER);
}

/*
 * Nobody has that number any more, but for a thread that was given it in the moment before, when all others had been given: that one is not
 * followed any further. It is no matter of the thread's end: a process's first thread may end, and another that executes a program
 * has its number from then on, and the first that of the other.
 */
static void code_free(struct fx_insns *code, const struct fx_follow_terms *terms)
{
	fx_insns_load(code, BPF_DW, R3, R6, FREE_TASK);
	code_task_number(code, terms);
	fx_part_leave(code, terms, FX_AT_NUMBER);
}

int fx_follow_code(const struct fx_follow_terms *terms, enum fx_tracepoint which,
		   struct fx_insns *ret)
{
	static void (*const programs[FX_TRACEPOINT_COUNT])(struct fx_insns *,
							   const struct fx_follow_terms *) = {
	    [FX_TRACEPOINT_FORK] = code_fork,	  [FX_TRACEPOINT_ENTER] = code_enter,
	    [FX_TRACEPOINT_EXIT] = code_exit,	  [FX_TRACEPOINT_SWITCH] = code_switch,
	    [FX_TRACEPOINT_WAKING] = code_waking, [FX_TRACEPOINT_FREE] = code_free,
	};

	if (!programs[which])
		return -ENOTSUP;
	fx_part_begin(ret);
	programs[which](ret, terms);
	fx_insns_end(ret, 0);
	return 0;
}
