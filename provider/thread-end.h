/* SPDX-License-Identifier: MIT */
/*
 * Threads that end give back their place in the buffer, in a destructor of thread-specific data. A thread whose end nobody has told of
 * is found when there is no place left (engine/provider/slot.c).
 */
#ifndef FX_PROVIDER_THREAD_END_H
#define FX_PROVIDER_THREAD_END_H

/* Before there is a thread that records. */
void fx_thread_ends_prepare(void);

#endif
