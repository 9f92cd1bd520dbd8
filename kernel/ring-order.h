/* SPDX-License-Identifier: MIT */
/* Records of all rings in order of time: each ring is in order, and they are read one after another. A binary heap. */
#ifndef FX_KERNEL_RING_ORDER_H
#define FX_KERNEL_RING_ORDER_H

#include <stdint.h>

#include "kernel/ring-record.h"
#include "lists/vector.h"

/* What is compared stands here: records lie anywhere in memory. */
struct fx_ring_waiting {
	uint64_t ns, serial;
	struct fx_ring_record *record;
};

/* All zeros: none. */
struct fx_ring_order {
	FX_VECTOR(struct fx_ring_waiting) heap; /* the first is the oldest */
	uint64_t serial;			/* of the next that is put */
};

/* It has the record from now on. 0 or -ENOMEM, and then it has not. */
int fx_ring_order_put(struct fx_ring_order *order, struct fx_ring_record *record);

/* The oldest, of equally old ones the one that was put first; NULL: there is none as old as `until'. */
struct fx_ring_record *fx_ring_order_take(struct fx_ring_order *order, uint64_t until);

/* With all that it has. */
void fx_ring_order_clear(struct fx_ring_order *order);

#endif
