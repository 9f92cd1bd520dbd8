/* SPDX-License-Identifier: MIT */
/* Interrupts that came while a thread of the program had the processor: kernel:irq, an instant where each began, that says how long it
 * took. */
#ifndef FX_KERNEL_INTERRUPTS_H
#define FX_KERNEL_INTERRUPTS_H

#include "kernel/ring-record.h"
#include "kernel/tracepoint.h"

struct fx_interrupts;

/* NULL without memory. */
struct fx_interrupts *fx_interrupts_create(void);
void fx_interrupts_destroy(struct fx_interrupts *interrupts);

/* Its tracepoints; nothing if it is another one. The record is that of the event. */
void fx_interrupts_take(struct fx_interrupts *interrupts, const struct fx_tracepoint_event *event,
			const struct fx_ring_record *record);

#endif
