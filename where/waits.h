/* SPDX-License-Identifier: MIT */
/* What a thread waits for, by its system call, the functions on its stack, and what glibc keeps in its locks. */
#ifndef FX_WHERE_WAITS_H
#define FX_WHERE_WAITS_H

#include "where/thread.h"

/* Sets wait, address and holder. Its call and stack are known. */
void fx_where_find_wait(struct fx_where_thread *thread);

/* How often a thread has given up its processor, or lost it. False: it is gone. */
bool fx_where_switches(const struct fx_where_thread *thread, uint64_t *ret);

/* Whether it is in the same call with the same arguments. */
bool fx_where_is_in_call(const struct fx_where_thread *thread);

/* Words for what is waited for, as "a mutex"; "" for FX_WAITS_NOT. */
const char *fx_where_wait_text(enum fx_where_wait wait);

#endif
