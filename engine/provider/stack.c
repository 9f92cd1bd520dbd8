/* SPDX-License-Identifier: MIT */
#include "engine/provider/stack.h"

#include <signal.h>

#include "base/syscall.h"
#include "engine/provider/engine.h"

fx_cold bool fx_stack_was_left(uint64_t then, uint64_t now)
{
	stack_t alternate;

	if (now < then)
		return false;
	/* Without asking the kernel: most programs have one stack. */
	if (!fx_engine_may(FX_ASK_SELF))
		return true;
	if (fx_syscall2(SYS_sigaltstack, 0, &alternate) != 0 || !(alternate.ss_flags & SS_ONSTACK))
		return true;
	/* A handler's stack: it tells of other handlers there, not of the thread below them. */
	return then - (uint64_t)(uintptr_t)alternate.ss_sp < alternate.ss_size;
}
