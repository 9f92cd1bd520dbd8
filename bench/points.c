/* SPDX-License-Identifier: MIT */
/*
 * points COUNT: ns of an event with a number that the program has of itself, by the wall clock. What it is of is chosen as it is compiled:
 * FX_POINT_LTTNG, a tracepoint of LTTng's; FX_POINT_SDT, a probe of SystemTap's; else TRACE_INSTANT.
 */
#include <stdio.h>

#include "bench/timing.h"

#if defined(FX_POINT_LTTNG)
#define TRACEPOINT_CREATE_PROBES
#define TRACEPOINT_DEFINE
#include "bench/points.h"
#define POINT(number) tracepoint(fxbench, point, number)
#elif defined(FX_POINT_SDT)
#include <sys/sdt.h>
#define POINT(number) STAP_PROBE1(fxbench, point, number)
#else
#include <fxtrace/event.h>
#define POINT(number)                                                                              \
	TRACE_INSTANT("fxbench", "point", TRACE_SCOPE_THREAD, "number", TA_INT64(number))
#endif

PLAIN static void points(void *unused, long count)
{
	(void)unused;
	while (count--)
		POINT(count);
}

int main(int argc, char **argv)
{
	if (argc != 2) {
		fprintf(stderr, "usage: points COUNT\n");
		return 2;
	}
	printf("%.2f\n", timing_wall(points, NULL, atol(argv[1])));
	return 0;
}
