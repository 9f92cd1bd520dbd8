/* SPDX-License-Identifier: MIT */
/* Takes what the kernel has written out of a ring. */
#ifndef FX_KERNEL_RING_READ_H
#define FX_KERNEL_RING_READ_H

#include "kernel/ring-queue.h"
#include "kernel/ring.h"

/* All records that are there go to the queue, and the kernel has their room again. Of one thread. */
void fx_ring_read(const struct fx_ring *ring, struct fx_ring_queue *queue);

#endif
