/* SPDX-License-Identifier: MIT */
/* What single instructions, and rows of them, do to what is known of registers and memory. */
#include <criterion/criterion.h>
#include <string.h>

#include "symbols/recipes/code.h"
#include "symbols/recipes/flow.h"
#include "symbols/recipes/step.h"

#if defined(__x86_64__)

enum {
	RAX = 0,
	RDX = 1,
	RCX = 2,
	RBX = 3,
	RSI = 4,
	RDI = 5,
	RBP = 6,
	RSP = 7,
	R12 = 12,
	XMM0 = 17,
	XMM1 = 18
};

static struct fx_nodes nodes;
static struct fx_state state;

static void flow_begin(void)
{
	cr_assert_eq(fx_nodes_init(&nodes), 0);
	fx_flow_begin(&state, NULL, &nodes, FX_MEMORY_ABOVE);
}

static void flow_end(void)
{
	fx_nodes_destroy(&nodes);
}

TestSuite(flow, .init = flow_begin, .fini = flow_end);

/* Goes over all of the instructions. */
static struct fx_step go(const char *code, size_t size)
{
	struct fx_step step = {.kind = FX_STEP_NEXT};
	uint64_t pc = 0x1000;

	while (pc < 0x1000 + size && step.kind == FX_STEP_NEXT) {
		fx_step(&state, (const uint8_t *)code + (pc - 0x1000), 0x1000 + size - pc, pc,
			&step);
		pc = step.next;
	}
	return step;
}

#define GO(code) go(code, sizeof(code) - 1)

static fx_node reg(unsigned number)
{
	return fx_node_register(&nodes, number);
}

static fx_node stack(int64_t offset)
{
	return fx_node_sum(&nodes, reg(RSP), offset);
}

static void expect_low(unsigned number, fx_node want, unsigned size)
{
	fx_node got = fx_node_low(&nodes, fx_state_get(&state, number, size), size);

	cr_expect_eq(got, fx_node_low(&nodes, want, size), "register %u: node %u instead of %u",
		     number, got, want);
}

Test(flow, moves_and_pushes)
{
	/* push rbp; mov rbp, rsp; push rbx; sub rsp, 24; mov [rbp-20], edi; mov rbx, rsi */
	cr_expect_eq(GO("\x55\x48\x89\xe5\x53\x48\x83\xec\x18\x89\x7d\xec\x48\x89\xf3").kind,
		     FX_STEP_NEXT);
	expect_low(RBP, stack(-8), 8);
	expect_low(RSP, stack(-40), 8);
	expect_low(RBX, reg(RSI), 8);
	cr_expect_eq(fx_node_low(&nodes, fx_state_load(&state, stack(-28), 4), 4), reg(RDI));
	cr_expect_eq(fx_state_load(&state, stack(-28), 8), FX_NODE_UNKNOWN,
		     "half of it was stored");
	cr_expect_eq(fx_state_load(&state, stack(-8), 8), reg(RBP), "what was pushed");
	/* mov rdi, 0; pop rax: what was stored stays, what was pushed last comes back */
	GO("\x48\xc7\xc7\x00\x00\x00\x00\x48\x83\xc4\x18\x58");
	expect_low(RAX, reg(RBX), 8);
	cr_expect_eq(fx_node_low(&nodes, fx_state_load(&state, stack(-28), 4), 4), reg(RDI));
}

Test(flow, widths)
{
	/* mov ebx, edi: the upper half is zero, and not the argument's */
	GO("\x89\xfb");
	expect_low(RBX, reg(RDI), 4);
	cr_expect_neq(fx_state_get(&state, RBX, 8), reg(RDI));
	/* mov bl, sil: one byte is known, the others are nobody's */
	GO("\x40\x88\xf3");
	expect_low(RBX, reg(RSI), 1);
	cr_expect_eq(fx_state_get(&state, RBX, 4), FX_NODE_UNKNOWN);
	/* movslq r12, edx is not what rdx was */
	GO("\x4c\x63\xe2");
	expect_low(R12, reg(RDX), 4);
	cr_expect_neq(fx_state_get(&state, R12, 8), reg(RDX));
	/* mov ah, 1 spoils rax */
	GO("\xb4\x01");
	cr_expect_eq(fx_state_get(&state, RAX, 1), FX_NODE_UNKNOWN);
}

Test(flow, arithmetic)
{
	int64_t value;

	/* lea eax, [rbx+rbx*2+5]; xor edx, edx; sub rcx, rcx */
	GO("\x8d\x44\x5b\x05\x31\xd2\x48\x29\xc9");
	cr_expect_neq(fx_state_get(&state, RAX, 4), FX_NODE_UNKNOWN);
	cr_expect(fx_node_is_const(&nodes, fx_state_get(&state, RDX, 8), &value) && value == 0);
	cr_expect(fx_node_is_const(&nodes, fx_state_get(&state, RCX, 8), &value) && value == 0);
	/* mov eax, -1: 32 bits; mov rax, -1: 64 of them */
	GO("\xb8\xff\xff\xff\xff");
	cr_expect(fx_node_is_const(&nodes, fx_state_get(&state, RAX, 8), &value) &&
		  value == 0xffffffff);
	GO("\x48\xc7\xc0\xff\xff\xff\xff");
	cr_expect(fx_node_is_const(&nodes, fx_state_get(&state, RAX, 8), &value) && value == -1);
	/* shl eax, 4; sar eax, 4: signed again */
	GO("\xc1\xe0\x1c\xc1\xf8\x1c");
	cr_expect(fx_node_is_const(&nodes, fx_state_get(&state, RAX, 4), &value) &&
		  value == 0xffffffff);
	/* imul ebx, ebx, 3; not ebx; neg rbx; div rbx */
	GO("\x6b\xdb\x03\xf7\xd3\x48\xf7\xdb");
	cr_expect_neq(fx_state_get(&state, RBX, 8), FX_NODE_UNKNOWN);
	GO("\x48\xf7\xf3");
	cr_expect_eq(fx_state_get(&state, RAX, 8), FX_NODE_UNKNOWN);
	cr_expect_eq(fx_state_get(&state, RDX, 8), FX_NODE_UNKNOWN);
	/* cmp and test change nothing */
	GO("\x48\x39\xf7\x48\x85\xff\x83\xff\x05");
	expect_low(RDI, reg(RDI), 8);
}

Test(flow, vectors)
{
	/* sub rsp, 24; movsd [rsp], xmm0; movss [rsp+8], xmm1; movaps xmm1, xmm0; pxor xmm0, xmm0 */
	GO("\x48\x83\xec\x18\xf2\x0f\x11\x04\x24\xf3\x0f\x11\x4c\x24\x08\x0f\x28\xc8\x66\x0f\xef"
	   "\xc0");
	cr_expect_eq(fx_state_load(&state, stack(-24), 8), reg(XMM0));
	cr_expect_eq(fx_node_low(&nodes, fx_state_load(&state, stack(-16), 4), 4), reg(XMM1));
	expect_low(XMM1, reg(XMM0), 8);
	cr_expect_neq(fx_state_get(&state, XMM0, 8), reg(XMM0));
	/* movq rax, xmm1; movq xmm0, rdi; vmovsd [rsp], xmm0; cvtsi2sd xmm0, eax */
	GO("\x66\x48\x0f\x7e\xc8\x66\x48\x0f\x6e\xc7\xc5\xfb\x11\x04\x24");
	expect_low(RAX, reg(XMM0), 8);
	expect_low(XMM0, reg(RDI), 8);
	cr_expect_eq(fx_state_load(&state, stack(-24), 8), reg(RDI));
	GO("\xf2\x0f\x2a\xc0");
	cr_expect_eq(fx_state_get(&state, XMM0, 8), FX_NODE_UNKNOWN);
}

Test(flow, memory_that_may_be_changed)
{
	/* The caller's part of the stack, and what is below it. */
	cr_expect_neq(fx_state_load(&state, stack(8), 8), FX_NODE_UNKNOWN);
	cr_expect_eq(fx_state_load(&state, stack(-8), 8), FX_NODE_UNKNOWN);
	cr_expect_eq(fx_state_load(&state, reg(RDI), 8), FX_NODE_UNKNOWN);
	/* push rbx; mov [rdi], rax: it may be anywhere */
	GO("\x53\x48\x89\x07");
	cr_expect_eq(fx_state_load(&state, stack(-8), 8), FX_NODE_UNKNOWN);
	cr_expect_eq(fx_state_load(&state, stack(8), 8), FX_NODE_UNKNOWN);
}

Test(flow, overlaps)
{
	/* mov [rsp-16], rdi; mov [rsp-12], esi */
	GO("\x48\x89\x7c\x24\xf0\x89\x74\x24\xf4");
	cr_expect_eq(fx_state_load(&state, stack(-16), 8), FX_NODE_UNKNOWN);
	cr_expect_eq(fx_state_load(&state, stack(-16), 4), FX_NODE_UNKNOWN);
	cr_expect_eq(fx_node_low(&nodes, fx_state_load(&state, stack(-12), 4), 4), reg(RSI));
	/* mov [rsp+8], rdi, over an argument of the caller's */
	GO("\x48\x89\x7c\x24\x08");
	cr_expect_eq(fx_state_load(&state, stack(8), 8), reg(RDI));
	cr_expect_eq(fx_state_load(&state, stack(12), 8), FX_NODE_UNKNOWN);
	cr_expect_neq(fx_state_load(&state, stack(16), 8), FX_NODE_UNKNOWN);
}

Test(flow, ways)
{
	struct fx_step step;

	step = GO("\x74\x10"); /* je */
	cr_expect_eq(step.kind, FX_STEP_BRANCH);
	cr_expect_eq(step.target, 0x1012);
	cr_expect_eq(step.next, 0x1002);
	step = GO("\xe9\xfb\xff\xff\xff"); /* jmp to itself */
	cr_expect_eq(step.kind, FX_STEP_JUMP);
	cr_expect_eq(step.target, 0x1000);
	step = GO("\xe8\x10\x00\x00\x00");
	cr_expect_eq(step.kind, FX_STEP_CALL);
	cr_expect_eq(step.target, 0x1015);
	step = GO("\xff\x15\x10\x00\x00\x00"); /* call [rip+16] */
	cr_expect_eq(step.kind, FX_STEP_CALL);
	cr_expect_eq(step.slot, 0x1016);
	step = GO("\xff\x50\x08"); /* call [rax+8] */
	cr_expect_eq(step.kind, FX_STEP_CALL);
	cr_expect_eq(step.target + step.slot, 0);
	cr_expect_eq(GO("\xff\xe0").kind, FX_STEP_LEAVE);
	cr_expect_eq(GO("\xf3\xc3").kind, FX_STEP_RETURN);
	cr_expect_eq(GO("\xf3\x0f\x1e\xfa").kind, FX_STEP_NEXT, "endbr64");
	cr_expect_eq(GO("\x66\x2e\x0f\x1f\x84\x00\x00\x00\x00\x00").kind, FX_STEP_NEXT, "nop");
	/* What is not known: syscall, rep movs, an end in the middle */
	cr_expect_eq(GO("\x0f\x05").kind, FX_STEP_STUCK);
	cr_expect_eq(GO("\xf3\x48\xa5").kind, FX_STEP_STUCK);
	cr_expect_eq(GO("\x48\x8b").kind, FX_STEP_STUCK);
}

/* No bytes, however they are cut, lead astray. */
Test(flow, any_bytes)
{
	uint8_t bytes[24];
	uint64_t seed = 0x1234567;

	for (unsigned i = 0; i < 200000; i++) {
		struct fx_step step;
		size_t size;

		for (size_t j = 0; j < sizeof(bytes); j++) {
			seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407;
			bytes[j] = (uint8_t)(seed >> 33);
		}
		size = 1 + (seed >> 40) % sizeof(bytes);
		fx_step(&state, bytes, size, 0x1000, &step);
		cr_assert_leq(step.next, 0x1000 + size);
		if (nodes.is_out_of_room || state.is_wild) {
			fx_nodes_clear(&nodes);
			fx_flow_begin(&state, NULL, &nodes, FX_MEMORY_ABOVE);
		}
	}
}

Test(flow, code)
{
	struct fx_code code = {0};

	/* push rbx; sub rsp, 16; mov ebx, edi; mov [rsp+8], rsi */
	GO("\x53\x48\x83\xec\x10\x89\xfb\x48\x89\x74\x24\x08");
	cr_expect(fx_code_make(&state, reg(RDI), 4, &code));
	cr_expect_eq(code.size, 2);
	cr_expect_eq(code.bytes[0], FX_OP_REGISTER);
	cr_expect_eq(code.bytes[1], RBX);
	code = (struct fx_code){0};
	cr_expect_not(fx_code_make(&state, reg(RDI), 8, &code), "its upper half is gone");
	cr_expect_eq(code.size, 0);
	cr_expect(fx_code_make(&state, reg(RSI), 8, &code));
	code = (struct fx_code){0};
	cr_expect(fx_code_make(&state, reg(XMM0), 8, &code));
	cr_expect_eq(code.bytes[0], FX_OP_VECTOR);
	code = (struct fx_code){0};
	state.has_copies_alone = true;
	cr_expect_not(fx_code_make(&state, reg(XMM0), 8, &code));
	cr_expect_not(fx_code_make(&state, reg(RDX), 8, &code), "the hook uses it");
	/* add rsp, 16: what lies below the stack pointer is the hook's */
	GO("\x48\x83\xc4\x10");
	cr_expect_not(fx_code_make(&state, reg(RSI), 8, &code));
}

#else

Test(flow, nothing_is_known)
{
	cr_expect_eq(fx_step_argument(0), -1);
}

#endif
