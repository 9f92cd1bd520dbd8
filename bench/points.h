/* SPDX-License-Identifier: MIT */
/* points.c's tracepoint. LTTng's headers include this file several times. */
#undef TRACEPOINT_PROVIDER
#define TRACEPOINT_PROVIDER fxbench
#undef TRACEPOINT_INCLUDE
#define TRACEPOINT_INCLUDE "bench/points.h"

#if !defined(FX_BENCH_POINTS_H) || defined(TRACEPOINT_HEADER_MULTI_READ)
#define FX_BENCH_POINTS_H

#include <lttng/tracepoint.h>

TRACEPOINT_EVENT(fxbench, point, TP_ARGS(long, number),
		 TP_FIELDS(ctf_integer(long, number, number)))

#endif

#include <lttng/tracepoint-event.h>
