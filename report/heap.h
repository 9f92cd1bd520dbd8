/* SPDX-License-Identifier: MIT */
/*
 * Heaps, from the allocations that were recorded: what was in use when, and by which places in the program. Threads are
 * seen one after another, but a block may be freed by another thread than its owner: so all changes are kept (40 bytes
 * each), and gone through in order of time at the end.
 */
#ifndef FX_REPORT_HEAP_H
#define FX_REPORT_HEAP_H

#include <stddef.h>
#include <stdint.h>

#include "convert/vector.h"

enum fx_heap_change_kind {
	FX_HEAP_RESTART, /* the process became another program: nothing is in use */
	FX_HEAP_FREE,
	FX_HEAP_ALLOCATION,
};

struct fx_heap_change {
	uint64_t ts;
	uint64_t address;
	uint64_t size;
	uint32_t process; /* numbers */
	uint32_t thread;
	uint32_t site; /* number of a text */
	uint8_t kind;  /* enum fx_heap_change_kind */
};

struct fx_heap_changes {
	FX_VECTOR(struct fx_heap_change) changes;
};

/* What a place in the program allocated. */
struct fx_heap_site {
	uint64_t calls, bytes;
	uint64_t
	    temporary; /* calls whose block the same thread freed before it allocated another */
	uint64_t live_blocks, live_bytes; /* at the end */
};

enum { FX_HEAP_COURSE = 32 };

/* What a process had in use. */
struct fx_heap {
	uint64_t live, peak, peak_ts; /* bytes */
	uint64_t allocations, bytes, temporary;
	uint64_t unknown;		 /* frees of blocks whose allocation was not recorded */
	uint64_t course[FX_HEAP_COURSE]; /* the most in use in each part of the time */
};

/* Where a heap's total belongs in its course. */
static inline unsigned fx_heap_course_part(uint64_t begin, uint64_t end, uint64_t ts)
{
	double share = end > begin ? (double)(ts - begin) / (double)(end - begin) : 0;
	unsigned part = (unsigned)(share * FX_HEAP_COURSE);

	return part < FX_HEAP_COURSE ? part : FX_HEAP_COURSE - 1;
}

/*
 * Goes through the changes. `heaps' are `heap_count', by number of their process, and `sites' by number of their text,
 * `site_count' of them, all zeros before. From `begin' to `end' goes the course. Returns 0 or -ENOMEM.
 */
int fx_heap_run(struct fx_heap_changes *changes, uint64_t begin, uint64_t end,
		struct fx_heap *heaps, size_t heap_count, struct fx_heap_site *sites,
		size_t site_count);

#endif
