/* SPDX-License-Identifier: MIT */
/*
 * What the program has written over its arguments, where servers say what they are. The manager looks from time to time
 * (manager/process/title.h); what stands there at the end, it is told.
 */
#ifndef FX_PRELOAD_TITLE_H
#define FX_PRELOAD_TITLE_H

/* In the constructor: `argv` and `envp` as the kernel has left them. */
void fx_title_begin(int argc, char *const *argv, char *const *envp);

/* The process is about to end: what differs from the beginning is written as a record. */
void fx_title_tell(void);

#endif
