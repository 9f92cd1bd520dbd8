/* SPDX-License-Identifier: MIT */
/*
 * One ring: memory into which the kernel writes what its performance events of one processor say (perf_event_open(2)). It is opened
 * and closed here; kernel/ring-read.h takes out what stands in it.
 */
#ifndef FX_KERNEL_RING_H
#define FX_KERNEL_RING_H

#include <stdbool.h>
#include <stdint.h>

#include "kernel/wish.h"

struct perf_event_mmap_page;

struct fx_ring {
	int fd; /* -1: none */
	uint32_t cpu;
	bool is_tracepoints; /* its times are CLOCK_MONOTONIC; else CLOCK_BOOTTIME */
	int *others;	     /* further events that write into it */
	unsigned other_count;
	struct perf_event_mmap_page *page; /* NULL: none */
	const uint8_t *data;
	uint64_t size; /* of the data, a power of two */
};

/*
 * A ring of a processor, of samples and of what processes do; `kernel': samples tell of time inside the kernel as well. 0 or
 * -errno, and then nothing is left of it: -ENODEV where that processor is not there.
 */
int fx_ring_open(struct fx_ring *ring, const struct fx_kernel_wish *wish, bool kernel,
		 uint32_t cpu);

/* The same of tracepoints, of which there is one at least. */
int fx_ring_open_tracepoints(struct fx_ring *ring, const struct fx_kernel_wish *wish, uint32_t cpu);

/* The same of tracepoints that come later, of all threads; there is none yet. */
int fx_ring_open_late(struct fx_ring *ring, uint32_t cpu);

/* One more of them: its descriptor, which is the caller's, or -errno. */
int fx_ring_add_late(const struct fx_ring *ring, uint32_t number);

/* Nothing more is written into it; what is there can still be read. */
void fx_ring_disable(const struct fx_ring *ring);

void fx_ring_close(struct fx_ring *ring);

#endif
