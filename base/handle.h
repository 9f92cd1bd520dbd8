/* SPDX-License-Identifier: MIT */
/* What tells threads apart without a call. */
#ifndef FX_BASE_HANDLE_H
#define FX_BASE_HANDLE_H

#include <stdint.h>

#if !defined(__x86_64__)
#include <pthread.h>
#endif

#include "base/compiler.h"

/* What pthread_self() returns: a program may have a function of that name, which is recorded. */
static inline uint64_t fx_thread_handle(void)
{
#if defined(__x86_64__)
	uint64_t handle;

	/* The control block has its own address in its third word. */
	__asm__("mov %%fs:16, %0" : "=r"(handle));
	return handle;
#else
	return (uint64_t)pthread_self();
#endif
}

fx_hot uint64_t fx_thread_pointer(void)
{
#if defined(__x86_64__)
	uint64_t p;

	__asm__("mov %%fs:0, %0" : "=r"(p));
	return p;
#else
	return (uint64_t)(uintptr_t)__builtin_thread_pointer();
#endif
}

#endif
