/* SPDX-License-Identifier: MIT */
/*
 * Records of probes: an instant of category sdt:PROVIDER:NAME on the thread, with arguments arg0, arg1 and so on. Where one can be
 * an address, and what lies there reads as a text, that is there as well (arg0_text). One that cannot be had is left out.
 */
#ifndef FX_KERNEL_PROBE_RECORD_H
#define FX_KERNEL_PROBE_RECORD_H

#include <stdbool.h>

#include "kernel/probe.h"
#include "kernel/ring-record.h"

/* False: it is none of these. */
bool fx_probe_record(const struct fx_probe_list *list, const struct fx_ring_record *record);

#endif
