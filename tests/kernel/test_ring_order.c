/* SPDX-License-Identifier: MIT */
/* Records in order of time, and of those that are equally old in the order in which they were put. */
#include "kernel/ring-order.h"

#include <criterion/criterion.h>
#include <stdlib.h>

static void put(struct fx_ring_order *order, uint64_t ns, uint32_t tid)
{
	struct fx_ring_record *record = calloc(1, sizeof(*record));

	record->ns = ns;
	record->tid = tid;
	cr_assert_eq(fx_ring_order_put(order, record), 0);
}

Test(ring_order, by_time)
{
	enum { COUNT = 5000 };
	struct fx_ring_order order = {0};
	uint64_t last = 0;
	unsigned random = 1, taken = 0;

	for (unsigned i = 0; i < COUNT; i++) {
		random = random * 1103515245 + 12345;
		put(&order, random >> 8 & 0xfff, i);
	}
	for (struct fx_ring_record *record; (record = fx_ring_order_take(&order, UINT64_MAX));) {
		cr_expect_geq(record->ns, last);
		last = record->ns;
		taken++;
		free(record);
	}
	cr_expect_eq(taken, COUNT);
	fx_ring_order_clear(&order);
}

Test(ring_order, equally_old)
{
	struct fx_ring_order order = {0};

	for (uint32_t i = 0; i < 100; i++)
		put(&order, i % 2, i);
	for (uint32_t i = 0; i < 100; i++) {
		struct fx_ring_record *record = fx_ring_order_take(&order, UINT64_MAX);

		cr_expect_eq(record->tid, i < 50 ? 2 * i : 2 * (i - 50) + 1);
		free(record);
	}
	fx_ring_order_clear(&order);
}

/* What is younger stays, and an older one can still come before it. */
Test(ring_order, until)
{
	struct fx_ring_order order = {0};
	struct fx_ring_record *record;

	cr_expect_null(fx_ring_order_take(&order, UINT64_MAX));
	put(&order, 20, 1);
	cr_expect_null(fx_ring_order_take(&order, 19));
	put(&order, 10, 2);
	record = fx_ring_order_take(&order, 20);
	cr_expect_eq(record->tid, 2);
	free(record);
	record = fx_ring_order_take(&order, 20);
	cr_expect_eq(record->tid, 1);
	free(record);
	put(&order, 30, 3);
	fx_ring_order_clear(&order);
}
