/* SPDX-License-Identifier: MIT */
/*
 * The stacks of calls as Perfetto's call stacks: an event's argument `stack` has a line for each
 * function, the innermost first. The argument is shown as well, for viewers that know no call stacks of
 * events.
 */
#ifndef FX_CONVERT_PERFETTO_STACKS_H
#define FX_CONVERT_PERFETTO_STACKS_H

#include "convert/export.h"
#include "convert/perfetto/packet.h"

/* The argument that is an event's stack; NULL: it has none. */
const struct fxt_arg *fx_stacks_of(const struct fx_event *event);

/* Tells the current sequence of a stack, whose functions are the lines of the text @id, unless it knows it. */
void fx_stacks_write(struct fx_packets *packets, uint32_t id, uint64_t ts);

/* The same for the packet that comes next. */
void fx_stacks_name(struct fx_packets *packets, uint32_t id);

/* Gives @message the call stack of @event, if it has one. */
void fx_stacks_set(struct fx_packets *packets, Fx__Pf__TrackEvent *message,
		   const struct fx_event *event);

#endif
