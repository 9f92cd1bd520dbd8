/* SPDX-License-Identifier: MIT */
/*
 * Ways, in assembly, from places where no register may be changed, to what writes a record: a quick half, which uses no vector, and a
 * slow half, around which all of the vectors' state is saved. Each file of them goes by this shape:
 *
 *	rbx ->	rbx, r11, r10, r9, r8, rdi, rsi, rdx, rcx, rax	(8 bytes each, FX_WAY_SAVED in all)
 *		what was on the stack at the way's beginning
 *
 * rbx holds the stack pointer meanwhile, since the stack is not aligned behind every prologue.
 */
#ifndef FX_PRELOAD_WAY_ASM_H
#define FX_PRELOAD_WAY_ASM_H

#define FX_WAY_PUSH(name)                                                                          \
	"	pushq %" name "\n"                                                                 \
	".cfi_adjust_cfa_offset 8\n"
#define FX_WAY_POP(name)                                                                           \
	"	popq %" name "\n"                                                                  \
	".cfi_adjust_cfa_offset -8\n"

#define FX_WAY_SAVE                                                                                \
	FX_WAY_PUSH("rax")                                                                         \
	FX_WAY_PUSH("rcx")                                                                         \
	FX_WAY_PUSH("rdx")                                                                         \
	FX_WAY_PUSH("rsi")                                                                         \
	FX_WAY_PUSH("rdi")                                                                         \
	FX_WAY_PUSH("r8")                                                                          \
	FX_WAY_PUSH("r9")                                                                          \
	FX_WAY_PUSH("r10")                                                                         \
	FX_WAY_PUSH("r11")                                                                         \
	FX_WAY_PUSH("rbx")                                                                         \
	".cfi_rel_offset rbx, 0\n"                                                                 \
	"	movq %rsp, %rbx\n"                                                                       \
	".cfi_def_cfa_register rbx\n"                                                              \
	"	andq $-16, %rsp\n"

#define FX_WAY_RESTORE                                                                             \
	"	movq %rbx, %rsp\n"                                                                       \
	".cfi_def_cfa_register rsp\n" FX_WAY_POP("rbx") ".cfi_restore rbx\n" FX_WAY_POP("r11")     \
	    FX_WAY_POP("r10") FX_WAY_POP("r9") FX_WAY_POP("r8") FX_WAY_POP("rdi")                  \
		FX_WAY_POP("rsi") FX_WAY_POP("rdx") FX_WAY_POP("rcx") FX_WAY_POP("rax")

/*
 * `first`: unwinding rules of the beginning; `get`: the arguments of both halves, by rbx; `unless`: a jump to 2 if the quick half
 * has done nothing; `last`: the way's end. At 2: the slow half, once a function and where a chunk ends; all of a vector is saved,
 * for libc's string functions use all of it. (XSAVE's plain form takes 2,688 bytes for these parts, and wants the header at
 * 512 cleared.)
 */
#define FX_WAY(name, first, get, quick, unless, slowly, last)                                      \
	__asm__(".text\n"                                                                          \
		".balign 16\n"                                                                     \
		".globl " name "\n"                                                                \
		".hidden " name "\n"                                                               \
		".type " name ", @function\n" name ":\n"                                           \
		".cfi_startproc\n" first FX_WAY_SAVE get "	call " quick "\n" unless "1:\n"    \
		".cfi_remember_state\n" FX_WAY_RESTORE last ".cfi_restore_state\n"                 \
		"2:	call fx_entry_vectors\n"                                                       \
		"	testl %eax, %eax\n"                                                              \
		"	jz 3f\n"                                                                         \
		"	subq $2688, %rsp\n"                                                              \
		"	andq $-64, %rsp\n"                                                               \
		"	xorl %edx, %edx\n"                                                               \
		"	movq %rdx, 512(%rsp)\n"                                                          \
		"	movq %rdx, 520(%rsp)\n"                                                          \
		"	movq %rdx, 528(%rsp)\n"                                                          \
		"	movq %rdx, 536(%rsp)\n"                                                          \
		"	movq %rdx, 544(%rsp)\n"                                                          \
		"	movq %rdx, 552(%rsp)\n"                                                          \
		"	movq %rdx, 560(%rsp)\n"                                                          \
		"	movq %rdx, 568(%rsp)\n"                                                          \
		"	xsave64 (%rsp)\n" get "	call " slowly "\n"                                 \
		"	call fx_entry_vectors\n"                                                         \
		"	xorl %edx, %edx\n"                                                               \
		"	xrstor64 (%rsp)\n"                                                               \
		"	jmp 1b\n"                                                                        \
		"3:	subq $512, %rsp\n"                                                             \
		"	fxsave64 (%rsp)\n" get "	call " slowly "\n"                         \
		"	fxrstor64 (%rsp)\n"                                                              \
		"	jmp 1b\n"                                                                        \
		".cfi_endproc\n"                                                                   \
		".size " name ", .-" name "\n")

#endif
