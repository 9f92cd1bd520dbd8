/* SPDX-License-Identifier: MIT */
/*
 * mcount and __fentry__, in assembly: what a function gets in registers is there again behind them, and libc's own finds
 * the stack as the function left it, for it looks there for the function's caller.
 */
#include "preload/hooks/entries.h"

#include <stddef.h>

#include "base/atomic.h"

_Static_assert(offsetof(struct fx_entry_next, mcount) == 0, "the assembly goes by this");
_Static_assert(offsetof(struct fx_entry_next, fentry) == 8, "the assembly goes by this");

#if defined(__x86_64__)

#include <cpuid.h>

#include "preload/hooks/way-asm.h"

/* SSE, AVX, the masks and both halves of AVX-512: what arguments can be in. */
#define VECTOR_PARTS 0xe6u

#define NO_XSAVE 1u /* in place of parts that are known */

/* (Kept: in a virtual machine the question costs a microsecond. Nothing in it is for a vector register.) */
uint64_t fx_entry_vectors(void)
{
	static uint32_t kept;
	uint32_t parts = fx_load_relaxed(&kept); /* relaxed: one word, the same whoever asks */
	unsigned a, b, c = 0, d;

	if (!parts) {
		parts =
		    __get_cpuid(1, &a, &b, &c, &d) && (c & bit_OSXSAVE) ? VECTOR_PARTS : NO_XSAVE;
		fx_store_relaxed(&kept, parts);
	}
	return parts == NO_XSAVE ? 0 : parts;
}

/* Called by a way, whose place stands above. */
FX_WAY("fx_entry_kept", "", "	movq 88(%rbx), %rdi\n", "fx_entry_record",
       "	testb %al, %al\n"
       "	jz 2f\n",
       "fx_entry_record_slowly", "	ret\n");

/* The call goes on to libc's as it was. */
#define FX_ENTRY_WAY(name, next)                                                                   \
	__asm__(".text\n"                                                                          \
		".balign 16\n"                                                                     \
		".globl " name "\n"                                                                \
		".type " name ", @function\n" name ":\n"                                           \
		".cfi_startproc\n"                                                                 \
		"	call fx_entry_kept\n"                                                            \
		"	cmpq $0, fx_entry_next+" next "(%rip)\n"                                   \
		"	je 1f\n"                                                                         \
		"	jmp *fx_entry_next+" next "(%rip)\n"                                       \
		"1:	ret\n"                                                                         \
		".cfi_endproc\n"                                                                   \
		".size " name ", .-" name "\n")

FX_ENTRY_WAY("mcount", "0");
FX_ENTRY_WAY("_mcount", "0");
FX_ENTRY_WAY("__fentry__", "8");

/* Nobody else gets this one. */
__asm__(".text\n"
	".balign 16\n"
	".globl fx_entry_patched\n"
	".hidden fx_entry_patched\n"
	".type fx_entry_patched, @function\n"
	"fx_entry_patched:\n"
	".cfi_startproc\n"
	"	call fx_entry_kept\n"
	"	ret\n"
	".cfi_endproc\n"
	".size fx_entry_patched, .-fx_entry_patched\n");

#elif defined(__aarch64__)

/* Here the call is one like any other, for which the compiler has saved what it needs: the function's return address is
 * its argument, and x30 the place. There is no __fentry__. */
#define FX_ENTRY_WAY(name)                                                                         \
	__asm__(".text\n"                                                                          \
		".balign 16\n"                                                                     \
		".globl " name "\n"                                                                \
		".type " name ", %function\n" name ":\n"                                           \
		".cfi_startproc\n"                                                                 \
		"	stp x0, x30, [sp, #-16]!\n"                                                      \
		".cfi_adjust_cfa_offset 16\n"                                                      \
		".cfi_rel_offset x30, 8\n"                                                         \
		"	mov x0, x30\n"                                                                   \
		"	bl fx_entry_record\n"                                                            \
		"	tbnz w0, #0, 1f\n"                                                               \
		"	ldr x0, [sp, #8]\n"                                                              \
		"	bl fx_entry_record_slowly\n"                                                     \
		"1:	ldp x0, x30, [sp], #16\n"                                                      \
		".cfi_adjust_cfa_offset -16\n"                                                     \
		".cfi_restore x30\n"                                                               \
		"	adrp x16, fx_entry_next\n"                                                       \
		"	ldr x16, [x16, :lo12:fx_entry_next]\n"                                           \
		"	cbz x16, 2f\n"                                                                   \
		"	br x16\n"                                                                        \
		"2:	ret\n"                                                                         \
		".cfi_endproc\n"                                                                   \
		".size " name ", .-" name "\n")

FX_ENTRY_WAY("mcount");
FX_ENTRY_WAY("_mcount");
FX_ENTRY_WAY("__fentry__");

#else
#error "how functions call mcount is not known for this machine"
#endif
