/* SPDX-License-Identifier: MIT */
/* What a thread waits for, by its system call, the functions on its stack, and what glibc keeps in its locks. */
#ifndef FX_WHERE_WAITS_H
#define FX_WHERE_WAITS_H

#include "where/thread.h"

/* Sets wait, address and holder. Its call and stack are known. */
void fx_where_find_wait(struct fx_where_thread *thread);

/* Words for what is waited for, as "a mutex"; "" for FX_WAITS_NOT. */
const char *fx_where_wait_text(enum fx_where_wait wait);

#endif
