/* SPDX-License-Identifier: MIT */
/*
 * vfork. The child runs on its parent's stack and in its memory until it calls exec or _exit, so the
 * wrapper must not have a frame that the child could return through and spoil: the return address
 * waits in a register, which the kernel keeps for each of the two. While the child runs, tracing on
 * this thread is suspended; only the parent's return is recorded.
 */
#include "preload/types.h"

#include "preload/call/call.h"
#include "preload/boot/environ-memory.h"
#include "preload/call/execs.h"
#include "preload/call/file-locks.h"
#include "preload/host/real.h"
#include "preload/call/untraced.h"

/* Called by the assembly below. */
void fx_vfork_begin(uint64_t sp) __attribute__((used, visibility("hidden")));
long fx_vfork_parent(long result) __attribute__((used, visibility("hidden")));

/* A vfork child may call vfork: then only the outermost is the parent's. */
static __thread struct {
	unsigned depth;
	bool on;
	uint64_t time; /* before it */
	struct fx_call call;
} vforks;

void fx_vfork_begin(uint64_t sp)
{
	if (fx_engine_is_stranger())
		return;
	if (vforks.depth++)
		return;
	vforks.on =
	    fx_call_try(&vforks.call, FX_CAT_PROCESS, FX_CALL_HEADER(process, vfork), sp, 0);
	vforks.time = fx_thread_on(UINT32_MAX) ? fx_now() : 0; /* and a state to be suspended */
	fx_files_spread();
	fx_engine_lend();
	fx_thread_suspend();
}

/* In the parent: `result` is the child's pid or -errno. Returns what vfork() returns. */
long fx_vfork_parent(long result)
{
	bool will_register;

	if (result < 0) {
		errno = (int)-result;
		result = -1;
	}
	fx_environ_memory_left((pid_t)result);
	if (fx_engine_is_stranger())
		return result;
	if (--vforks.depth)
		return result;
	fx_thread_resume();
	fx_engine_lent_back();
	will_register = fx_exec_will_register();
	if (result > 0)
		fx_tie_created((pid_t)result, will_register, vforks.time);
	fx_untraced_write_pending();
	if (vforks.on &&
	    fx_call_end(&vforks.call, FX_CALL_WORDS + FX_RESULT_WORDS + FX_WORDS_EXECUTED,
			FX_ERROR_sys(result))) {
		fx_result_sys(&vforks.call, result);
		fx_exec_show(&vforks.call);
		fx_call_write(&vforks.call, FX_CALL_HEADER(process, vfork));
	}
	return result;
}

#if defined(__x86_64__)
__asm__(".text\n"
	".globl vfork, __vfork\n"
	".type vfork, @function\n"
	".type __vfork, @function\n"
	"vfork:\n"
	"__vfork:\n"
	".cfi_startproc\n"
	"	endbr64\n"
	"	movq %rsp, %rdi\n"
	"	subq $8, %rsp\n"
	".cfi_adjust_cfa_offset 8\n"
	"	call fx_vfork_begin\n"
	"	addq $8, %rsp\n"
	".cfi_adjust_cfa_offset -8\n"
	"	popq %rdi\n" /* the return address */
	".cfi_adjust_cfa_offset -8\n"
	".cfi_register %rip, %rdi\n"
	"	movl $58, %eax\n" /* SYS_vfork */
	"	syscall\n"
	"	pushq %rdi\n"
	".cfi_adjust_cfa_offset 8\n"
	".cfi_rel_offset %rip, 0\n"
	"	testq %rax, %rax\n"
	"	jz 1f\n"
	"	movq %rax, %rdi\n"
	"	subq $8, %rsp\n"
	".cfi_adjust_cfa_offset 8\n"
	"	call fx_vfork_parent\n"
	"	addq $8, %rsp\n"
	".cfi_adjust_cfa_offset -8\n"
	"1:	ret\n"
	".cfi_endproc\n"
	".size vfork, .-vfork\n"
	".size __vfork, .-__vfork\n");
#elif defined(__aarch64__)
__asm__(".text\n"
	".globl vfork, __vfork\n"
	".type vfork, %function\n"
	".type __vfork, %function\n"
	"vfork:\n"
	"__vfork:\n"
	".cfi_startproc\n"
	"	hint #34\n" /* bti c */
	"	mov x0, sp\n"
	"	stp x29, x30, [sp, #-16]!\n"
	".cfi_adjust_cfa_offset 16\n"
	".cfi_rel_offset x30, 8\n"
	"	bl fx_vfork_begin\n"
	"	ldp x29, x30, [sp], #16\n" /* the return address, kept in x30 */
	".cfi_adjust_cfa_offset -16\n"
	".cfi_restore x30\n"
	"	mov x0, #0x4111\n" /* CLONE_VM | CLONE_VFORK | SIGCHLD */
	"	mov x1, #0\n"
	"	mov x2, #0\n"
	"	mov x3, #0\n"
	"	mov x4, #0\n"
	"	mov x8, #220\n" /* SYS_clone */
	"	svc #0\n"
	"	cbz x0, 1f\n"
	"	stp x29, x30, [sp, #-16]!\n"
	".cfi_adjust_cfa_offset 16\n"
	".cfi_rel_offset x30, 8\n"
	"	bl fx_vfork_parent\n"
	"	ldp x29, x30, [sp], #16\n"
	".cfi_adjust_cfa_offset -16\n"
	".cfi_restore x30\n"
	"1:	ret\n"
	".cfi_endproc\n"
	".size vfork, .-vfork\n"
	".size __vfork, .-__vfork\n");
#else
#error "vfork has no wrapper for this machine"
#endif
