/* SPDX-License-Identifier: MIT */
/*
 * Whether what a thread began at one stack address can still go on, seen from another.
 *
 * A signal handler may leave by siglongjmp() and never return to what it interrupted. Code that marks
 * something as under way therefore marks it with its stack address, and code that finds the mark asks
 * here whether its owner is gone.
 */
#ifndef FX_ENGINE_STACK_H
#define FX_ENGINE_STACK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/atomic.h"
#include "base/compiler.h"

/* The stack pointer of the function that this is inlined into. */
fx_hot uint64_t fx_stack_address(void)
{
	uint64_t sp;

#if defined(__x86_64__)
	__asm__("mov %%rsp, %0" : "=r"(sp));
#elif defined(__aarch64__)
	__asm__("mov %0, sp" : "=r"(sp));
#endif
	return sp;
}

/* Stores it, in one instruction where there is one. */
fx_hot void fx_stack_address_store(uint64_t *to)
{
#if defined(__x86_64__) && !defined(FX_TSAN)
	__asm__("mov %%rsp, %0" : "=m"(*to));
#else
	fx_store_relaxed(to, fx_stack_address());
#endif
}

/*
 * Whether the function that had stack address `then` is over, seen from `now` on the same thread.
 * A deeper address proves nothing: it may be a handler's. An equal or shallower one does, unless it
 * is a handler's on an alternate stack; only then a system call is made. Coroutines that are switched
 * inside a signal handler are beyond it.
 */
fx_cold bool fx_stack_was_left(uint64_t then, uint64_t now);

#endif
