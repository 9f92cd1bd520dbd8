/* SPDX-License-Identifier: MIT */
/* What threads of the program ask of disks: kernel:block, an instant where a request was made, that says how long it took and, where the
 * page cache tells, what file it was for. */
#ifndef FX_KERNEL_REQUESTS_H
#define FX_KERNEL_REQUESTS_H

#include "kernel/ring-record.h"
#include "kernel/tracepoint.h"

struct fx_requests;

/* NULL without memory. */
struct fx_requests *fx_requests_create(void);
void fx_requests_destroy(struct fx_requests *requests);

/* Its tracepoints; nothing if it is another one. The record is that of the event. */
void fx_requests_take(struct fx_requests *requests, const struct fx_tracepoint_event *event,
		      const struct fx_ring_record *record);

/* All is over: what has not been done yet is told as that. */
void fx_requests_finish(struct fx_requests *requests);

#endif
