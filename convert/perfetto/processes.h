/* SPDX-License-Identifier: MIT */
/*
 * What Perfetto is told of a process of Linux: its track, in whose name viewers show its title and its number, and the
 * columns of its table of processes.
 */
#ifndef FX_CONVERT_PERFETTO_PROCESSES_H
#define FX_CONVERT_PERFETTO_PROCESSES_H

#include "convert/perfetto/packet.h"
#include "convert/timeline.h"

/* `uuid': its track's. */
void fx_process_write(struct fx_packets *packets, const struct fx_process *process, uint64_t uuid);

#endif
