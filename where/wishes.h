/* SPDX-License-Identifier: MIT */
/*
 * At which pipes and sockets a thread waits, by its system call: the descriptor that it reads or writes, or those of a poll(), select()
 * or epoll_wait(), of which it waits for any one.
 */
#ifndef FX_WHERE_WISHES_H
#define FX_WHERE_WISHES_H

#include "where/thread.h"

/* Sets wait, wishes and may_go_on of a thread that sleeps in such a call; else nothing. */
void fx_wishes_find(struct fx_where_thread *thread);

#endif
