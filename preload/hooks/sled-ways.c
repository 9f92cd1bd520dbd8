/* SPDX-License-Identifier: MIT */
#include "preload/hooks/sleds.h"

#if defined(__x86_64__)

#include "preload/hooks/way-asm.h"

/* By way-asm.h: r11's place takes what the quick half has answered, r10's has the function; above them stand the return address into
 * the sled and the function's own. */
FX_WAY("fx_sled_way_enter", "",
       "	movq 16(%rbx), %rdi\n"
       "	movq 88(%rbx), %rsi\n"
       "	leaq 88(%rbx), %rdx\n"
       "	movq 80(%rbx), %rcx\n"
       "	movq 8(%rbx), %r8\n",
       "fx_sled_enter",
       "	movq %rax, 8(%rbx)\n"
       "	testq %rax, %rax\n"
       "	jnz 2f\n",
       "fx_sled_enter_slowly", "	ret\n");

FX_WAY("fx_sled_way_leave", "",
       "	movq 16(%rbx), %rdi\n"
       "	leaq 80(%rbx), %rsi\n",
       "fx_sled_leave",
       "	testb %al, %al\n"
       "	jz 2f\n",
       "fx_sled_leave_slowly", "	ret\n");

FX_WAY("fx_sled_way_tail", ".cfi_adjust_cfa_offset 8\n",
       "	movq 16(%rbx), %rdi\n"
       "	leaq 96(%rbx), %rsi\n",
       "fx_sled_leave",
       "	testb %al, %al\n"
       "	jz 2f\n",
       "fx_sled_leave_slowly",
       "	popfq\n"
       ".cfi_adjust_cfa_offset -8\n"
       "	ret\n");

#endif
