/* SPDX-License-Identifier: MIT */
/*
 * Circles of waits. A thread that waits for a lock waits for one other thread; one that waits for bytes in a pipe, or for room there,
 * waits for any thread of any process that has the pipe's other end open. It waits for ever if all of these do:
 *
 *	A writes a full pipe  ----->  B, which alone has its other end
 *	      ^                             |
 *	      +------  A has the lock  -----+  B waits for it
 *
 * So is it with sockets, whose other end is open in some processes, and with sets of descriptors: such a thread goes on as soon as
 * any of those may let it that have the other end of any.
 *
 * Threads are looked at one after another, and go on meanwhile. So those of a circle are looked at twice more: if none of them has
 * run in between, all of them waited at one time.
 */
#ifndef FX_WHERE_CIRCLES_H
#define FX_WHERE_CIRCLES_H

#include "where/where.h"

/* Finds and numbers the circles, once all threads are there. 0 or -errno. */
int fx_where_find_circles(struct fx_where *where);

#endif
