/* SPDX-License-Identifier: MIT */
/* What a text says in every run of a program: numbers that the next run has others for are replaced by `*'. */
#ifndef FX_REPORT_ALIKE_H
#define FX_REPORT_ALIKE_H

#include <stddef.h>

/*
 * Addresses ("mutex 0x55d0c8a0"; not offsets, "libc+0x2a1ca"), inodes ("pipe:[4711]"), ids of threads ("(tid 12)") and of
 * processes ("/proc/12/"), and ports that the kernel chose (":41532", 32768 and above, behind an address). `alike' has
 * room for `length' bytes and one; returns the length of what was written there, terminated.
 */
size_t fx_alike(const char *text, size_t length, char *alike);

#endif
