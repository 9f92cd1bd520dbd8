/* SPDX-License-Identifier: MIT */
/*
 * Perfetto's protobuf format (perfetto.proto has the messages).
 *
 * Each thread is a packet sequence of its own: a first packet with the defaults (the thread's
 * track, a clock that counts from packet to packet), then one packet for each event, which brings
 * along what it is the first in its sequence to name.
 */
#ifndef FX_CONVERT_PERFETTO_H
#define FX_CONVERT_PERFETTO_H

#include "convert/export.h"

/* NULL: no memory. The timeline and the output are borrowed. */
struct fx_exporter *fx_perfetto_make(struct fx_timeline *timeline, struct fx_sink *sink);
void fx_perfetto_free(struct fx_exporter *exporter);

#endif
