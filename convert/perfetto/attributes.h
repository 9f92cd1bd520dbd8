/* SPDX-License-Identifier: MIT */
/* Facts of the whole trace, as attributes: Perfetto has them in its table metadata, as trace_attribute.fxtrace_*. */
#ifndef FX_CONVERT_PERFETTO_ATTRIBUTES_H
#define FX_CONVERT_PERFETTO_ATTRIBUTES_H

#include "convert/perfetto/packet.h"
#include "convert/timeline.h"

/* At the end, when it is known what was left out. */
void fx_attributes_write(struct fx_packets *packets, const struct fx_timeline *timeline);

#endif
