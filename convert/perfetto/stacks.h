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

/* Gives @message the call stack of @event, if it has one. */
void fx_stacks_set(struct fx_packets *packets, Fx__Pf__TrackEvent *message,
		   const struct fx_event *event);

#endif
