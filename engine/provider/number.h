/* SPDX-License-Identifier: MIT */
/*
 * The number of the calling thread as the kernel has it, without asking: libc keeps it, in memory of the thread's own.
 * Where, the kernel has been told by libc; so it is asked once, while it still may be.
 */
#ifndef FX_ENGINE_NUMBER_H
#define FX_ENGINE_NUMBER_H

#include <stdint.h>

/* Asks where it is, the first time. By raw system calls alone. */
void fx_number_learn(void);

/* The calling thread has that number, and libc has written it down: finds where, if it stands in one place. */
void fx_number_find(uint32_t number);

/* 0: it is not known where, or it does not stand there. For a thread whose storage is its own. */
uint32_t fx_number(void);

#endif
