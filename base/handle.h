/* SPDX-License-Identifier: MIT */
/* What pthread_self() returns, without a call: a program may have a function of that name, which is recorded. */
#ifndef FX_BASE_HANDLE_H
#define FX_BASE_HANDLE_H

#include <stdint.h>

#if !defined(__x86_64__)
#include <pthread.h>
#endif

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

#endif
