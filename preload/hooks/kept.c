/* SPDX-License-Identifier: MIT */
#include "preload/hooks/kept.h"

#include <stddef.h>

/* (Aligned as all code is, and so placed by the linker beside it.) The assembly goes by these. */
#if defined(__x86_64__)
_Static_assert(offsetof(struct fx_kept, registers[3]) == 24, "rbx");
_Static_assert(offsetof(struct fx_kept, registers[15]) == 120, "r15");
_Static_assert(offsetof(struct fx_kept, vectors) == 128, "xmm0");
_Static_assert(sizeof(struct fx_kept) == 192, "kept");

/*
 * NAME(...) calls NAME_kept(..., kept): the slow half is reached by a jump from the hook, whose arguments of its own stand in
 * registers. `sp' is the register of the stack address among them, `kept' the next that is free.
 */
#define FX_KEPT_WAY(name, sp, kept, vectors)                                                       \
	__asm__(".text\n"                                                                          \
		".balign 16\n"                                                                     \
		".globl " name "\n"                                                                \
		".hidden " name "\n"                                                               \
		".type " name ", @function\n" name ":\n"                                           \
		".cfi_startproc\n"                                                                 \
		"	subq $200, %rsp\n"                                                               \
		".cfi_adjust_cfa_offset 200\n"                                                     \
		"	movq %rbx, 24(%rsp)\n"                                                           \
		"	movq %rbp, 48(%rsp)\n"                                                           \
		"	movq %" sp ", 56(%rsp)\n"                                                  \
		"	movq %r12, 96(%rsp)\n"                                                           \
		"	movq %r13, 104(%rsp)\n"                                                          \
		"	movq %r14, 112(%rsp)\n"                                                          \
		"	movq %r15, 120(%rsp)\n" vectors "	movq %rsp, %" kept "\n"            \
		"	call " name "_kept\n"                                                      \
		"	addq $200, %rsp\n"                                                               \
		".cfi_adjust_cfa_offset -200\n"                                                    \
		"	ret\n"                                                                           \
		".cfi_endproc\n"                                                                   \
		".size " name ", .-" name "\n")

#define FX_KEPT_VECTORS_ASM                                                                        \
	"	movq %xmm0, 128(%rsp)\n"                                                                 \
	"	movq %xmm1, 136(%rsp)\n"                                                                 \
	"	movq %xmm2, 144(%rsp)\n"                                                                 \
	"	movq %xmm3, 152(%rsp)\n"                                                                 \
	"	movq %xmm4, 160(%rsp)\n"                                                                 \
	"	movq %xmm5, 168(%rsp)\n"                                                                 \
	"	movq %xmm6, 176(%rsp)\n"                                                                 \
	"	movq %xmm7, 184(%rsp)\n"

FX_KEPT_WAY("fx_hooks_enter", "rdx", "r8", FX_KEPT_VECTORS_ASM);
FX_KEPT_WAY("fx_hooks_enter_again", "rdx", "r9", FX_KEPT_VECTORS_ASM);
FX_KEPT_WAY("fx_hooks_leave", "rsi", "r8", "");

/*
 * NAME_WAY(...) asks NAME_WAY_kept(), and if that has done nothing jumps to NAME, whose arguments are `got' again. Its own are `put' where the
 * registers stand that need not be kept; no vectors are saved, for nothing changes them.
 */
#define FX_QUICK_WAY(name, way, put, kept, got)                                                    \
	__asm__(".text\n"                                                                          \
		".p2align 4\n"                                                                     \
		".globl " name way "\n"                                                            \
		".hidden " name way "\n"                                                           \
		".type " name way ", @function\n" name way ":\n"                                   \
		".cfi_startproc\n"                                                                 \
		"	subq $136, %rsp\n"                                                               \
		".cfi_adjust_cfa_offset 136\n"                                                     \
		"	movq %rbx, 24(%rsp)\n"                                                           \
		"	movq %rbp, 48(%rsp)\n"                                                           \
		"	movq %r12, 96(%rsp)\n"                                                           \
		"	movq %r13, 104(%rsp)\n"                                                          \
		"	movq %r14, 112(%rsp)\n"                                                          \
		"	movq %r15, 120(%rsp)\n" put "	movq %rsp, %" kept "\n"                    \
		"	call " name way "_kept\n"                                                  \
		"	testb %al, %al\n"                                                                \
		"	jz 1f\n"                                                                         \
		"	addq $136, %rsp\n"                                                               \
		".cfi_remember_state\n"                                                            \
		".cfi_adjust_cfa_offset -136\n"                                                    \
		"	ret\n"                                                                           \
		".cfi_restore_state\n"                                                             \
		"1:\n" got "	addq $136, %rsp\n"                                                    \
		".cfi_adjust_cfa_offset -136\n"                                                    \
		"	jmp " name "\n"                                                            \
		".cfi_endproc\n"                                                                   \
		".size " name way ", .-" name way "\n")

/* Function, site, stack address and key of an entry: all but the third are put there by who has done nothing. (The first, which the entry of
 * quick.h has too, gives way to what is kept.) */
#define FX_ENTRY_PUT "	movq %rdx, 56(%rsp)\n"
#define FX_ENTRY_GOT                                                                               \
	"	movq 40(%rsp), %rdi\n"                                                                   \
	"	movq 32(%rsp), %rsi\n"                                                                   \
	"	movq 56(%rsp), %rdx\n"                                                                   \
	"	movq 16(%rsp), %rcx\n"

FX_QUICK_WAY("fx_hooks_enter", "_quick", FX_ENTRY_PUT, "rdi", FX_ENTRY_GOT);
FX_QUICK_WAY("fx_hooks_enter", "_plain", FX_ENTRY_PUT, "rdi", FX_ENTRY_GOT);
/* (The slow half wants the function, in place of the start.) */
FX_QUICK_WAY("fx_hooks_leave", "_quick",
	     "	movq %r8, 40(%rsp)\n"
	     "	movq %rsi, 56(%rsp)\n"
	     "	movq %rdx, 8(%rsp)\n"
	     "	movq %rcx, 16(%rsp)\n",
	     "rdx",
	     "	movq 40(%rsp), %rdi\n"
	     "	movq (%rdi), %rdi\n"
	     "	movq 56(%rsp), %rsi\n"
	     "	movq 8(%rsp), %rdx\n"
	     "	movq 16(%rsp), %rcx\n");

/* With the frame pointer in place of the function. */
__asm__(".text\n"
	".p2align 4\n"
	".globl fx_hooks_enter_frame\n"
	".hidden fx_hooks_enter_frame\n"
	".type fx_hooks_enter_frame, @function\n"
	"fx_hooks_enter_frame:\n"
	".cfi_startproc\n"
	"	movq %rbp, %rdi\n"
	"	jmp fx_hooks_enter_frame_at\n"
	".cfi_endproc\n"
	".size fx_hooks_enter_frame, .-fx_hooks_enter_frame\n");
#elif defined(__aarch64__)
_Static_assert(offsetof(struct fx_kept, registers[19]) == 152, "x19");
_Static_assert(offsetof(struct fx_kept, registers[31]) == 248, "sp");
_Static_assert(sizeof(struct fx_kept) == 320, "kept");

#define FX_KEPT_WAY(name, sp, kept, vectors)                                                       \
	__asm__(".text\n"                                                                          \
		".balign 16\n"                                                                     \
		".globl " name "\n"                                                                \
		".hidden " name "\n"                                                               \
		".type " name ", %function\n" name ":\n"                                           \
		".cfi_startproc\n"                                                                 \
		"	sub sp, sp, #336\n"                                                              \
		".cfi_adjust_cfa_offset 336\n"                                                     \
		"	str x19, [sp, #152]\n"                                                           \
		"	stp x20, x21, [sp, #160]\n"                                                      \
		"	stp x22, x23, [sp, #176]\n"                                                      \
		"	stp x24, x25, [sp, #192]\n"                                                      \
		"	stp x26, x27, [sp, #208]\n"                                                      \
		"	stp x28, x29, [sp, #224]\n"                                                      \
		"	stp x30, " sp ", [sp, #240]\n" vectors ".cfi_rel_offset x30, 240\n"        \
		"	mov " kept ", sp\n"                                                        \
		"	bl " name "_kept\n"                                                        \
		"	ldr x30, [sp, #240]\n"                                                           \
		"	add sp, sp, #336\n"                                                              \
		".cfi_adjust_cfa_offset -336\n"                                                    \
		".cfi_restore x30\n"                                                               \
		"	ret\n"                                                                           \
		".cfi_endproc\n"                                                                   \
		".size " name ", .-" name "\n")

#define FX_KEPT_VECTORS_ASM                                                                        \
	"	stp d0, d1, [sp, #256]\n"                                                                \
	"	stp d2, d3, [sp, #272]\n"                                                                \
	"	stp d4, d5, [sp, #288]\n"                                                                \
	"	stp d6, d7, [sp, #304]\n"

FX_KEPT_WAY("fx_hooks_enter", "x2", "x4", FX_KEPT_VECTORS_ASM);
FX_KEPT_WAY("fx_hooks_enter_again", "x2", "x5", FX_KEPT_VECTORS_ASM);
FX_KEPT_WAY("fx_hooks_leave", "x1", "x4", "");
#else
#error "what a hook finds is not known for this machine"
#endif
