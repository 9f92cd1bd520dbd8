/* SPDX-License-Identifier: MIT */
/* Where the archive was recorded (format/host-record.h): Perfetto has it in its tables metadata and machine. */
#ifndef FX_CONVERT_PERFETTO_SYSTEM_H
#define FX_CONVERT_PERFETTO_SYSTEM_H

#include "convert/perfetto/packet.h"
#include "convert/timeline.h"

/* At the beginning; nothing if it is not known. */
void fx_system_write(struct fx_packets *packets, const struct fx_host_record *host);

/* Some Linux, for archives that do not say which: else the reader takes states of threads for another system's. */
void fx_system_write_any(struct fx_packets *packets);

#endif
