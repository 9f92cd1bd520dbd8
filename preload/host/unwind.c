/* SPDX-License-Identifier: MIT */
#include "preload/host/unwind.h"

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/auxv.h>
#include <ucontext.h>

#include "base/atomic.h"
#include "base/compiler.h"
#include "base/handle.h"
#include "preload/host/cfi.h"
#include "preload/host/found.h"
#include "preload/host/peek.h"

/* Of the dynamic linker: where the main thread's stack began. */
extern void *__libc_stack_end;

/* A thread's stack lies below its control block, which its handle is the address of. */
#define STACK_MAX (UINT64_C(1) << 30)

static struct {
	uint64_t start, end; /* this library's code */
	bool has_vdso;	     /* the process has one */
} own;

void fx_unwind_init(void)
{
	struct fx_found found;

	if (fx_found_at((uint64_t)(uintptr_t)fx_unwind, &found)) {
		own.start = found.start;
		own.end = found.end;
	}
	own.has_vdso = getauxval(AT_SYSINFO_EHDR) != 0;
}

static bool is_own(uint64_t pc)
{
	return pc >= own.start && pc < own.end;
}

/* The end of the stack that `sp` is on; 0 if it is not the thread's own: a signal's or a coroutine's. */
static uint64_t unwind_stack_end(uint64_t sp)
{
	uint64_t main = (uint64_t)(uintptr_t)__libc_stack_end;
	uint64_t self = fx_thread_handle();

	if (self > sp && self - sp < STACK_MAX)
		return self;
	return main > sp && main - sp < STACK_MAX ? main : 0;
}

/* --- Rows in one word -------------------------------------------------------------------------- */

#if defined(__x86_64__)

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
	uint64_t packed = (uint64_t)row->cfa.offset / 8;

	if (row->cfa.expression || row->is_signal || row->cfa.offset < 0 || row->cfa.offset % 8 ||
	    packed >> ROW_OFFSET_BITS ||
	    (row->cfa.number != FX_CFI_SP && row->cfa.number != FX_CFI_FP) ||
	    row->rules[FX_CFI_PC].kind != FX_CFI_OFFSET || row->rules[FX_CFI_PC].value != -8 ||
	    row->rules[FX_CFI_SP].kind != FX_CFI_SAME)
		return false;
	if (row->cfa.number == FX_CFI_FP)
		packed |= ROW_BY_RBP;
	if (!pack_rule(row->rules[FX_CFI_FP], ROW_RBP_MAX, ROW_RBP_LSB, &packed))
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
	unsigned base = row & ROW_BY_RBP ? FX_CFI_FP : FX_CFI_SP;
	uint64_t cfa = s->registers[base] + 8 * (row & ((1u << ROW_OFFSET_BITS) - 1));

	if (!(s->known & 1u << base) || !fx_cfi_read(s, cfa - 8, &s->registers[FX_CFI_PC]) ||
	    !restore_packed(s, FX_CFI_FP, row >> ROW_RBP_LSB & ROW_RBP_MAX, cfa))
		return false;
	for (unsigned i = 0; i < FX_ARRAY_LEN(others); i++)
		if (!restore_packed(s, others[i], row >> (ROW_OTHERS_LSB + 4 * i) & ROW_OTHERS_MAX,
				    cfa))
			return false;
	s->registers[FX_CFI_SP] = cfa;
	s->known |= 1u << FX_CFI_SP | 1u << FX_CFI_PC;
	return true;
}

#else /* aarch64 */

/*
 * The usual row in one word: the CFA is the stack or frame pointer plus an offset, the return address is saved, the
 * frame pointer perhaps, in the word below it, and of the other registers that a callee keeps those that are saved lie
 * side by side, in the order of their numbers, upwards or downwards.
 *
 *	[0..15] CFA offset / 16, [16] CFA by x29, [17..32] the return address is saved at CFA - 8 k, [33] x29 is saved,
 *	[34..43] which of x19 to x28 are, [44] downwards, [45..60] k of the first of them
 */
#define ROW_OFFSET_MAX 0xffffu
#define ROW_BY_FP      (UINT64_C(1) << 16)
#define ROW_RETURN_LSB 17
#define ROW_HAS_FP     (UINT64_C(1) << 33)
#define ROW_SAVED_LSB  34
#define ROW_DOWNWARDS  (UINT64_C(1) << 44)
#define ROW_FIRST_LSB  45
#define ROW_K_MAX      0xffffu
#define ROW_OTHERS     10u /* x19 to x28 */

/* k of a register that is saved; 0 if that does not fit. */
static uint64_t k_of(struct fx_cfi_rule rule)
{
	uint64_t k = (uint64_t)-rule.value / 8;

	return rule.kind == FX_CFI_OFFSET && rule.value < 0 && rule.value % 8 == 0 && k <= ROW_K_MAX
		   ? k
		   : 0;
}

/* The bits of x19 to x28; false if they do not lie as they should. */
static bool pack_others(const struct fx_cfi_rule *rules, uint64_t *row)
{
	uint64_t first = 0, last = 0, k;
	int64_t step = 0;

	for (unsigned i = 0; i < ROW_OTHERS; i++) {
		if (rules[i].kind == FX_CFI_SAME)
			continue;
		k = k_of(rules[i]);
		if (!k || (step && last + (uint64_t)step != k))
			return false;
		if (!first)
			first = k;
		else if (!step)
			step = (int64_t)(k - last);
		last = k;
		*row |= UINT64_C(1) << (ROW_SAVED_LSB + i);
	}
	if (step > 0)
		*row |= ROW_DOWNWARDS;
	*row |= first << ROW_FIRST_LSB;
	return step >= -1 && step <= 1;
}

static bool pack_row(const struct fx_cfi_row *row, uint64_t *ret)
{
	const struct fx_cfi_rule *fp = &row->rules[FX_CFI_FP];
	uint64_t k = k_of(row->rules[FX_CFI_RA]), packed = (uint64_t)row->cfa.offset / 16;

	if (row->cfa.expression || row->is_signal || row->cfa.offset < 0 || row->cfa.offset % 16 ||
	    packed > ROW_OFFSET_MAX || !k || row->rules[FX_CFI_SP].kind != FX_CFI_SAME ||
	    (row->cfa.number != FX_CFI_SP && row->cfa.number != FX_CFI_FP))
		return false;
	if (row->cfa.number == FX_CFI_FP)
		packed |= ROW_BY_FP;
	if (fp->kind != FX_CFI_SAME) {
		if (k_of(*fp) != k + 1)
			return false;
		packed |= ROW_HAS_FP;
	}
	packed |= k << ROW_RETURN_LSB;
	if (!pack_others(row->rules, &packed))
		return false;
	*ret = packed;
	return true;
}

static bool restore_others(uint64_t row, struct fx_cfi_state *s, uint64_t cfa)
{
	uint64_t at = cfa - 8 * (row >> ROW_FIRST_LSB & ROW_K_MAX);
	uint64_t saved = row >> ROW_SAVED_LSB & ((1u << ROW_OTHERS) - 1);

	for (unsigned i = 0; saved >> i; i++) {
		if (!(saved >> i & 1))
			continue;
		if (!fx_cfi_read(s, at, &s->registers[i]))
			return false;
		at += row & ROW_DOWNWARDS ? -UINT64_C(8) : UINT64_C(8);
	}
	return true;
}

/* As fx_cfi_apply(). Registers that no callee keeps are lost. */
static bool apply_packed(uint64_t row, struct fx_cfi_state *s)
{
	unsigned base = row & ROW_BY_FP ? FX_CFI_FP : FX_CFI_SP;
	uint64_t cfa = s->registers[base] + 16 * (row & ROW_OFFSET_MAX), pc;
	uint64_t place = cfa - 8 * (row >> ROW_RETURN_LSB & ROW_K_MAX);

	if (!(s->known & 1u << base) || !fx_cfi_read(s, place, &pc) ||
	    (row & ROW_HAS_FP && !fx_cfi_read(s, place - 8, &s->registers[FX_CFI_FP])) ||
	    !restore_others(row, s, cfa))
		return false;
	s->registers[FX_CFI_PC] = fx_cfi_unsigned(pc);
	s->registers[FX_CFI_SP] = cfa;
	s->known |= 1u << FX_CFI_SP | 1u << FX_CFI_PC;
	s->known &= ~(1u << FX_CFI_RA);
	return true;
}

#endif

/* --- Rows by place ----------------------------------------------------------------------------- */

#define ROWS 1024u

/* Two plain words: `place` holds the pc and a check over the row and the module, so that words of two
 * writers, or of a module that is gone, are not taken for a row. */
static struct {
	uint64_t place, row;
} rows[ROWS] FX_LARGE;

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

/* --- One frame --------------------------------------------------------------------------------- */

/* NULL: none are known. */
static const uint8_t *tables_of(uint64_t pc)
{
	struct fx_found module;

	return fx_found_at(pc, &module) ? module.tables : NULL;
}

/* By the tables of the module that holds `pc`. */
static bool step_by_tables(struct fx_cfi_state *s, uint64_t pc, bool *ret_signal)
{
	unsigned slot = (unsigned)(pc ^ pc >> 10) & (ROWS - 1);
	const uint8_t *tables = tables_of(pc);
	struct fx_cfi_row row;
	uint64_t packed;

	if (!tables)
		return false;
	/* relaxed, both: the check tells whether they belong together */
	packed = fx_load_relaxed(&rows[slot].row);
	if (fx_load_relaxed(&rows[slot].place) == (pc | check_of(packed, tables)))
		return apply_packed(packed, s);
	if (!fx_cfi_find(tables, pc, &row))
		return false;
	*ret_signal = row.is_signal;
	if (pack_row(&row, &packed)) {
		fx_store_relaxed(&rows[slot].row, packed);
		fx_store_relaxed(&rows[slot].place, pc | check_of(packed, tables));
	}
	return fx_cfi_apply(&row, s);
}

#if defined(__aarch64__)

/* What the kernel puts on the stack for a handler. */
struct signal_frame {
	siginfo_t info;
	ucontext_t context;
};

/* Whether the kernel's code that handlers return to is at `pc`. Modules can be read; elsewhere it lies only where there
 * is no vDSO (under emulators), and is asked for once. */
static bool is_signal_return(uint64_t pc)
{
	static const uint32_t code[] = {0xd2801168, 0xd4000001}; /* mov x8, #139; svc #0 */
	static uint64_t found;
	struct fx_found module;

	if (pc == fx_load_relaxed(&found)) /* relaxed: each place that is found stays */
		return true;
	if (pc % 4 || !pc)
		return false;
	if (fx_found_at(pc, &module)) {
		if (pc + sizeof code > module.end)
			return false;
	} else if (own.has_vdso || !fx_peek((const void *)(uintptr_t)pc, sizeof code)) {
		return false;
	}
	if (memcmp((const void *)(uintptr_t)pc, code, sizeof code) != 0)
		return false;
	fx_store_relaxed(&found, pc);
	return true;
}

/* From a signal handler to what it has interrupted; the kernel's tables do not tell. */
static bool step_by_signal(struct fx_cfi_state *s, bool *ret_signal)
{
	uint64_t sp = s->registers[FX_CFI_SP];
	const struct signal_frame *frame = (const void *)(uintptr_t)sp;
	const mcontext_t *c = &frame->context.uc_mcontext;

	if (!is_signal_return(s->registers[FX_CFI_PC]) || sp < s->low || sp % 16 ||
	    sp > s->high - sizeof *frame)
		return false;
	for (unsigned i = 0; i <= FX_CFI_RA; i++)
		s->registers[i] = c->regs[FX_CFI_FIRST + i];
	s->registers[FX_CFI_SP] = c->sp;
	s->registers[FX_CFI_PC] = c->pc;
	s->known = (1u << FX_CFI_REGISTERS) - 1;
	*ret_signal = true;
	return true;
}

/* From code of a module that has no entry in the tables and was interrupted: a stub of the linker's, which leaves
 * everything as it was when it was called. */
static bool step_by_link(struct fx_cfi_state *s, bool interrupted)
{
	struct fx_found module;

	if (!interrupted || !(s->known & 1u << FX_CFI_RA) ||
	    !fx_found_at(s->registers[FX_CFI_PC], &module))
		return false;
	s->registers[FX_CFI_PC] = fx_cfi_unsigned(s->registers[FX_CFI_RA]);
	s->known &= ~(1u << FX_CFI_RA);
	return true;
}

#else

static bool step_by_link(struct fx_cfi_state *s, bool interrupted)
{
	(void)s;
	(void)interrupted;
	return false;
}

static bool step_by_signal(struct fx_cfi_state *s, bool *ret_signal)
{
	(void)s;
	(void)ret_signal;
	return false;
}

#endif

/* By the frame pointer, where nothing else is known; only on a stack whose end is. */
static bool step_by_pointer(struct fx_cfi_state *s)
{
	uint64_t fp = s->registers[FX_CFI_FP], caller, pc;

	if (s->high == UINT64_MAX || !(s->known & 1u << FX_CFI_FP) || fp < s->registers[FX_CFI_SP])
		return false;
	if (!fx_cfi_read(s, fp, &caller) || !fx_cfi_read(s, fp + 8, &pc))
		return false;
	s->registers[FX_CFI_PC] = fx_cfi_unsigned(pc);
	s->registers[FX_CFI_FP] = caller;
	s->registers[FX_CFI_SP] = fp + 16; /* or above */
	s->known = 1u << FX_CFI_FP | 1u << FX_CFI_SP | 1u << FX_CFI_PC;
	return true;
}

/* Below the stack pointer of an interrupted function lies what it has just popped: the rules of an epilogue find
 * registers there, and the kernel keeps it (System V ABI, x86-64). */
#if defined(__x86_64__)
#define RED_ZONE 128
#else
#define RED_ZONE 0
#endif

static void set_bounds(struct fx_cfi_state *s)
{
	uint64_t sp = s->registers[FX_CFI_SP], end = unwind_stack_end(sp);

	s->low = sp;
	s->high = end ? end : UINT64_MAX;
}

/* To the caller's frame. `*interrupted`: the frame was interrupted at its pc, and did not call; in and
 * out. */
static bool unwind_step(struct fx_cfi_state *s, bool *interrupted)
{
	uint64_t sp = s->registers[FX_CFI_SP];
	/* A call may be the last thing in a function: its return address is another's then. */
	uint64_t pc = s->registers[FX_CFI_PC] - !*interrupted;
	bool signal = false, may_be_empty = *interrupted; /* its stack frame, on aarch64 */

	if (!step_by_tables(s, pc, &signal) &&
	    (signal || (!step_by_signal(s, &signal) && !step_by_link(s, *interrupted) &&
			!step_by_pointer(s))))
		return false;
	*interrupted = signal;
	if (signal) {
		set_bounds(s);
		s->low -= RED_ZONE;
	}
	return signal || s->registers[FX_CFI_SP] > sp ||
	       (may_be_empty && s->registers[FX_CFI_SP] == sp);
}

/* What callees keep, and this place. Registers that a rule finds saved may hold anything here. */
#if defined(__x86_64__)
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
	(1u << FX_CFI_RBX | 1u << FX_CFI_FP | 1u << FX_CFI_SP | 0xfu << 12 | 1u << FX_CFI_PC)
#else
#define CAPTURE(registers)                                                                         \
	__asm__ __volatile__("stp x19, x20, [%0]\n\t"                                              \
			     "stp x21, x22, [%0, #16]\n\t"                                         \
			     "stp x23, x24, [%0, #32]\n\t"                                         \
			     "stp x25, x26, [%0, #48]\n\t"                                         \
			     "stp x27, x28, [%0, #64]\n\t"                                         \
			     "str x29, [%0, #80]\n\t"                                              \
			     "mov x16, sp\n\t"                                                     \
			     "adr x17, .\n\t"                                                      \
			     "stp x16, x17, [%0, #96]"                                             \
			     :                                                                     \
			     : "r"(registers)                                                      \
			     : "x16", "x17", "memory")
#define CAPTURED (((1u << FX_CFI_REGISTERS) - 1) & ~(1u << FX_CFI_RA))
#endif

unsigned fx_unwind(uint64_t ret[FX_UNWIND_MAX])
{
	struct fx_cfi_state s;
	bool interrupted = true; /* this very place */
	unsigned count = 0;

	s.known = CAPTURED;
	CAPTURE(s.registers);
	set_bounds(&s);
	while (unwind_step(&s, &interrupted) && s.registers[FX_CFI_PC]) {
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

/* --- Without a walk ---------------------------------------------------------------------------- */

/* The largest frame of a function that is believed. */
#define FRAME_MAX (UINT64_C(1) << 28)

bool fx_unwind_code(uint64_t pc, struct fx_cfi_code *ret)
{
	const uint8_t *tables = tables_of(pc);

	return tables && fx_cfi_find_code(tables, pc, ret);
}

bool fx_unwind_cfa(uint64_t pc, uint64_t sp, uint64_t frame_pointer, struct fx_cfi_code *ret_code,
		   uint64_t *ret, uint64_t *ret_site)
{
	const uint8_t *tables = tables_of(pc);
	struct fx_cfi_state s = {.known = 1u << FX_CFI_SP | 1u << FX_CFI_FP, .low = sp};
	struct fx_cfi_cfa cfa;
	uint64_t end;

	if (!tables || !fx_cfi_find_cfa(tables, pc, ret_code, &cfa))
		return false;
	end = unwind_stack_end(sp);
	s.high = end ? end : sp + FRAME_MAX;
	s.registers[FX_CFI_SP] = sp;
	s.registers[FX_CFI_FP] = frame_pointer;
	if (!fx_cfi_cfa_of(&cfa, &s, ret) || *ret % 8 || *ret <= sp || *ret - sp >= FRAME_MAX ||
	    *ret > s.high || !cfa.return_offset ||
	    !fx_cfi_read(&s, *ret + (uint64_t)cfa.return_offset, ret_site))
		return false;
	*ret_site = fx_cfi_unsigned(*ret_site);
	return true;
}
