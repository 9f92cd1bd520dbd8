/* SPDX-License-Identifier: MIT */
/* TCP segments that were sent again, and packets that were dropped: kernel:net. They come in interrupts, for sockets of anybody, so they
 * are told of the whole machine, by the kernel provider's own thread. */
#ifndef FX_KERNEL_PACKETS_H
#define FX_KERNEL_PACKETS_H

#include "kernel/ring-record.h"
#include "kernel/tracepoint.h"

/* Its tracepoints; nothing if it is another one. The record is that of the event. */
void fx_packets_take(const struct fx_tracepoint_event *event, const struct fx_ring_record *record);

#endif
