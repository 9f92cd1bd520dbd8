/* SPDX-License-Identifier: MIT */
#include "preload/unwind.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "base/atomic.h"
#include "base/compiler.h"
#include "preload/cfi.h"

/* Older C libraries do not have it: then there are frame pointers alone. */
extern int _dl_find_object(void *address, struct dl_find_object *result) __attribute__((weak));

/* Of the dynamic linker: where the main thread's stack began. */
extern void *__libc_stack_end;

/* A thread's stack lies below its control block, which pthread_self() is the address of. */
#define STACK_MAX (UINT64_C(1) << 30)

static struct {
	uint64_t start, end; /* this library's code */
} own;

void fx_unwind_init(void)
{
	struct dl_find_object o;

	if (_dl_find_object && _dl_find_object((void *)(uintptr_t)fx_unwind, &o) == 0) {
		own.start = (uint64_t)(uintptr_t)o.dlfo_map_start;
		own.end = (uint64_t)(uintptr_t)o.dlfo_map_end;
	}
}

static bool is_own(uint64_t pc)
{
	return pc >= own.start && pc < own.end;
}

/* The end of the stack that `sp` is on; 0 if it is not the thread's own: a signal's or a coroutine's. */
static uint64_t stack_end(uint64_t sp)
{
	uint64_t main = (uint64_t)(uintptr_t)__libc_stack_end;
	uint64_t self = (uint64_t)pthread_self();

	if (self > sp && self - sp < STACK_MAX)
		return self;
	return main > sp && main - sp < STACK_MAX ? main : 0;
}

#if defined(__x86_64__)

/* --- Rows by place ----------------------------------------------------------------------------- */

/*
 * The usual row in one word: the CFA is the stack or frame pointer plus an offset, and each register
 * that a callee keeps is still there or saved at CFA - 8 k.
 *
 *	[0..19] CFA offset / 8, [20] CFA by rbp, [21..28] k of rbp, [29..32] of rbx, then r12 to r15
 */
#define ROW_OFFSET_BITS 20
#define ROW_BY_RBP	(UINT64_C(1) << 20)
#define ROW_RBP_LSB	21
#define ROW_RBP_MAX	255
#define ROW_OTHERS_LSB	29
#define ROW_OTHERS_MAX	15

static const uint8_t others[] = {FX_CFI_RBX, 12, 13, 14, 15};

#define ROWS 1024u

/* Two plain words: `place` holds the pc and a check over the row and the module, so that words of two
 * writers, or of a module that is gone, are not taken for a row. */
static struct {
	uint64_t place, row;
} rows[ROWS];

void fx_unwind_forget(void)
{
	for (unsigned i = 0; i < ROWS; i++)
		fx_store_relaxed(&rows[i].place, 0); /* relaxed: as in step_by_tables() */
}

static uint64_t check_of(uint64_t row, const void *module)
{
	uint64_t mixed = (row ^ (uint64_t)(uintptr_t)module) * UINT64_C(0x9e3779b97f4a7c15);

	return mixed >> 48 << 48;
}

/* k of a register, as the rules have it; false if it does not fit. */
static bool pack_rule(struct fx_cfi_rule rule, unsigned max, unsigned lsb, uint64_t *row)
{
	if (rule.kind == FX_CFI_SAME)
		return true;
	if (rule.kind != FX_CFI_OFFSET || rule.value >= 0 || rule.value % 8 ||
	    -rule.value / 8 > (int64_t)max)
		return false;
	*row |= (uint64_t)(-rule.value / 8) << lsb;
	return true;
}

static bool pack_row(const struct fx_cfi_row *row, uint64_t *ret)
{
	uint64_t packed = (uint64_t)row->cfa_offset / 8;

	if (row->cfa_expression || row->is_signal || row->cfa_offset < 0 || row->cfa_offset % 8 ||
	    packed >> ROW_OFFSET_BITS ||
	    (row->cfa_register != FX_CFI_RSP && row->cfa_register != FX_CFI_RBP) ||
	    row->rules[FX_CFI_PC].kind != FX_CFI_OFFSET || row->rules[FX_CFI_PC].value != -8 ||
	    row->rules[FX_CFI_RSP].kind != FX_CFI_SAME)
		return false;
	if (row->cfa_register == FX_CFI_RBP)
		packed |= ROW_BY_RBP;
	if (!pack_rule(row->rules[FX_CFI_RBP], ROW_RBP_MAX, ROW_RBP_LSB, &packed))
		return false;
	for (unsigned i = 0; i < FX_ARRAY_LEN(others); i++)
		if (!pack_rule(row->rules[others[i]], ROW_OTHERS_MAX, ROW_OTHERS_LSB + 4 * i,
			       &packed))
			return false;
	*ret = packed;
	return true;
}

static bool restore_packed(struct fx_cfi_state *s, unsigned number, uint64_t k, uint64_t cfa)
{
	return !k || fx_cfi_read(s, cfa - 8 * k, &s->registers[number]);
}

/* As fx_cfi_apply(). Registers that no callee keeps are lost. */
static bool apply_packed(uint64_t row, struct fx_cfi_state *s)
{
	unsigned base = row & ROW_BY_RBP ? FX_CFI_RBP : FX_CFI_RSP;
	uint64_t cfa = s->registers[base] + 8 * (row & ((1u << ROW_OFFSET_BITS) - 1));

	if (!(s->known & 1u << base) || !fx_cfi_read(s, cfa - 8, &s->registers[FX_CFI_PC]) ||
	    !restore_packed(s, FX_CFI_RBP, row >> ROW_RBP_LSB & ROW_RBP_MAX, cfa))
		return false;
	for (unsigned i = 0; i < FX_ARRAY_LEN(others); i++)
		if (!restore_packed(s, others[i], row >> (ROW_OTHERS_LSB + 4 * i) & ROW_OTHERS_MAX,
				    cfa))
			return false;
	s->registers[FX_CFI_RSP] = cfa;
	s->known |= 1u << FX_CFI_RSP | 1u << FX_CFI_PC;
	return true;
}

/* --- One frame --------------------------------------------------------------------------------- */

/* By the tables of the module that holds `pc`. */
static bool step_by_tables(struct fx_cfi_state *s, uint64_t pc, bool *ret_signal)
{
	unsigned slot = (unsigned)(pc ^ pc >> 10) & (ROWS - 1);
	struct dl_find_object o;
	struct fx_cfi_row row;
	uint64_t packed;

	if (!_dl_find_object || _dl_find_object((void *)(uintptr_t)pc, &o) != 0 || !o.dlfo_eh_frame)
		return false;
	/* relaxed, both: the check tells whether they belong together */
	packed = fx_load_relaxed(&rows[slot].row);
	if (fx_load_relaxed(&rows[slot].place) == (pc | check_of(packed, o.dlfo_eh_frame)))
		return apply_packed(packed, s);
	if (!fx_cfi_find(o.dlfo_eh_frame, pc, &row))
		return false;
	*ret_signal = row.is_signal;
	if (pack_row(&row, &packed)) {
		fx_store_relaxed(&rows[slot].row, packed);
		fx_store_relaxed(&rows[slot].place, pc | check_of(packed, o.dlfo_eh_frame));
	}
	return fx_cfi_apply(&row, s);
}

/* By the frame pointer, where nothing else is known; only on a stack whose end is. */
static bool step_by_pointer(struct fx_cfi_state *s)
{
	uint64_t rbp = s->registers[FX_CFI_RBP], caller;

	if (s->high == UINT64_MAX || !(s->known & 1u << FX_CFI_RBP) ||
	    rbp < s->registers[FX_CFI_RSP])
		return false;
	if (!fx_cfi_read(s, rbp, &caller) || !fx_cfi_read(s, rbp + 8, &s->registers[FX_CFI_PC]))
		return false;
	s->registers[FX_CFI_RBP] = caller;
	s->registers[FX_CFI_RSP] = rbp + 16;
	s->known = 1u << FX_CFI_RBP | 1u << FX_CFI_RSP | 1u << FX_CFI_PC;
	return true;
}

/* Below the stack pointer of an interrupted function lies what it has just popped: the rules of an epilogue find
 * registers there, and the kernel keeps it (System V ABI, x86-64). */
#define RED_ZONE 128

static void set_bounds(struct fx_cfi_state *s)
{
	uint64_t sp = s->registers[FX_CFI_RSP], end = stack_end(sp);

	s->low = sp;
	s->high = end ? end : UINT64_MAX;
}

/* To the caller's frame. `*interrupted`: the frame was interrupted at its pc, and did not call; in and
 * out. */
static bool step(struct fx_cfi_state *s, bool *interrupted)
{
	uint64_t sp = s->registers[FX_CFI_RSP];
	/* A call may be the last thing in a function: its return address is another's then. */
	uint64_t pc = s->registers[FX_CFI_PC] - !*interrupted;
	bool signal = false;

	if (!step_by_tables(s, pc, &signal) && (signal || !step_by_pointer(s)))
		return false;
	*interrupted = signal;
	if (signal) {
		set_bounds(s);
		s->low -= RED_ZONE;
	}
	return signal || s->registers[FX_CFI_RSP] > sp;
}

/* What callees keep, and this place. Registers that a rule finds saved may hold anything here. */
#define CAPTURE(registers)                                                                         \
	__asm__ __volatile__("movq %%rbx, 24(%0)\n\t"                                              \
			     "movq %%rbp, 48(%0)\n\t"                                              \
			     "movq %%rsp, 56(%0)\n\t"                                              \
			     "movq %%r12, 96(%0)\n\t"                                              \
			     "movq %%r13, 104(%0)\n\t"                                             \
			     "movq %%r14, 112(%0)\n\t"                                             \
			     "movq %%r15, 120(%0)\n\t"                                             \
			     "leaq 0(%%rip), %%rax\n\t"                                            \
			     "movq %%rax, 128(%0)"                                                 \
			     :                                                                     \
			     : "r"(registers)                                                      \
			     : "rax", "memory")
#define CAPTURED                                                                                   \
	(1u << FX_CFI_RBX | 1u << FX_CFI_RBP | 1u << FX_CFI_RSP | 0xfu << 12 | 1u << FX_CFI_PC)

unsigned fx_unwind(uint64_t ret[FX_UNWIND_MAX])
{
	struct fx_cfi_state s;
	bool interrupted = true; /* this very place */
	unsigned count = 0;

	s.known = CAPTURED;
	CAPTURE(s.registers);
	set_bounds(&s);
	while (step(&s, &interrupted) && s.registers[FX_CFI_PC]) {
		if (is_own(s.registers[FX_CFI_PC]))
			continue;
		if (count == FX_UNWIND_MAX - 1) {
			ret[count++] = 0;
			break;
		}
		/* As a return address, which all the others are. */
		ret[count++] = s.registers[FX_CFI_PC] + interrupted;
	}
	return count;
}

#else

void fx_unwind_forget(void)
{
}

unsigned fx_unwind(uint64_t ret[FX_UNWIND_MAX])
{
	const uint64_t *frame = __builtin_frame_address(0);
	uint64_t end = stack_end((uint64_t)(uintptr_t)frame);
	unsigned count = 0;

	while (end && (uint64_t)(uintptr_t)frame + 16 <= end && frame[1]) {
		const uint64_t *next = (const uint64_t *)(uintptr_t)frame[0];
		uint64_t pc = frame[1] & ((UINT64_C(1) << 48) - 1); /* without its signature */

		if (count == FX_UNWIND_MAX - 1) {
			ret[count++] = 0;
			break;
		}
		if (!is_own(pc))
			ret[count++] = pc;
		if (next <= frame)
			break;
		frame = next;
	}
	return count;
}

#endif
