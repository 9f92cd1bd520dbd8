/* SPDX-License-Identifier: MIT */
/*
 * Memory that a forked child finds zeroed, however it was made (MADV_WIPEONFORK).
 *
 * Emulators (qemu-user before 8.0) promise that and do nothing, as they do for any advice. There libc's ways to make
 * a child are guarded: each event of the thread that calls one asks which process it is in, until it is known, and the
 * child wipes its memory by hand. A child that is made by a raw system call records as its parent then.
 */
#ifndef FX_ENGINE_PROVIDER_WIPED_H
#define FX_ENGINE_PROVIDER_WIPED_H

#include <stdbool.h>
#include <stddef.h>

/* All that one process can have of it, in bytes: the threads of the engine, the table of descriptors, the tables of waits. */
#define FX_WIPED_SIZE ((size_t)46 << 18)

/* New, zeroed, on pages of its own, never given back. NULL: there is none, or the kernel (before 4.14) wipes nothing. */
void *fx_wiped_map(size_t size) __attribute__((visibility("hidden")));

/* Begins anew, with another FX_WIPED_SIZE bytes. What was there stays as it is until the next time, and is zeroed then; its addresses
 * never become anything else. False: there is no memory. */
bool fx_wiped_renew(void) __attribute__((visibility("hidden")));

/* FX_WIPED_SIZE bytes of private memory that was just mapped, on pages of its own and kept out of core dumps, become that of
 * which fx_wiped_map() cuts; so a caller that maps other things too does it all at once. False: there is some already, or the
 * kernel wipes nothing, and `at` is the caller's. */
bool fx_wiped_lies(void *at) __attribute__((visibility("hidden")));

/* Whether a child must wipe by hand. Asks the kernel, once. */
bool fx_wiped_by_hand(void) __attribute__((visibility("hidden")));

/* In such a child: all of it. */
void fx_wiped_wipe(void) __attribute__((visibility("hidden")));

#endif
