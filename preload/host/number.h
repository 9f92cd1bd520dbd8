/* SPDX-License-Identifier: MIT */
/* The calling thread's number as libc has it, without asking the kernel. */
#ifndef FX_PRELOAD_HOST_NUMBER_H
#define FX_PRELOAD_HOST_NUMBER_H

/* 0: libc has not been told yet. A process's first thread has the process's number. */
int fx_libc_number(void);

#endif
