/* SPDX-License-Identifier: MIT */
/*
 * Which eventfd a descriptor is: the kernel calls all of them the same, so each gets a number when it is made, which copies of the
 * descriptor in this process and its forked children keep:
 *
 *	anon_inode:[eventfd] PID-TICKS			who has made it, and when
 *	anon_inode:[eventfd] PID-TICKS semaphore	a read takes one
 *
 * One that was made while nothing was recorded, or that came by exec or over a socket, has none.
 */
#ifndef FX_PRELOAD_FDEVENTS_H
#define FX_PRELOAD_FDEVENTS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/atomic.h"
#include "base/compiler.h"
#include "preload/show/text.h"

/* Nonzero from the first one on. */
extern uint32_t fx_events_are_known __attribute__((visibility("hidden")));

/* `fd' is one, just made. */
void fx_event_made(int fd, bool is_semaphore);

/* `to' is the same one as `from', if that is one. */
void fx_event_copied(int from, int to);

/* Appends a blank and what it is called. False: it is none that is known. */
bool fx_event_name(struct fx_text *t, int fd);

fx_cold void fx_event_drop(int fd);
fx_cold void fx_event_drop_range(uint32_t first, uint32_t last);

/* The number is another's. */
fx_hot void fx_event_forget(int fd)
{
	/* relaxed: who closes one has seen it made */
	if (fx_unlikely(fx_load_relaxed(&fx_events_are_known)))
		fx_event_drop(fd);
}

#endif
