/* SPDX-License-Identifier: MIT */
/* What tracepoints say, out of bytes that have all of it and out of such that have not. */
#include "kernel/tracepoint.h"

#include <criterion/criterion.h>
#include <string.h>

static const struct fx_tracepoints points = {
    .numbers =
	{
	    [FX_TRACEPOINT_SWITCH] = 0x101,
	    [FX_TRACEPOINT_WAKING] = 0x102,
	    [FX_TRACEPOINT_ENTER] = 0x103,
	    [FX_TRACEPOINT_EXIT] = 0x104,
	    [FX_TRACEPOINT_IRQ_ENTRY] = 0x105,
	    [FX_TRACEPOINT_BIO_QUEUE] = 0x106,
	    [FX_TRACEPOINT_DROP] = 0x107,
	},
    .fields =
	{
	    [FX_FIELD_ENTER_NUMBER] = {8, 8, 1, false},
	    [FX_FIELD_ENTER_ARGS] = {16, 8, 6, false},
	    [FX_FIELD_WAKING_TID] = {24, 4, 1, false},
	    [FX_FIELD_WAKING_CPU] = {32, 3, 1, false}, /* no number that we know */
	    [FX_FIELD_IRQ_NAME] = {8, 4, 1, true},
	    [FX_FIELD_BIO_FLAGS] = {12, 1, 10, false},
	    [FX_FIELD_DROP_PROTOCOL] = {20, 2, 1, false},
	},
};

static struct fx_tracepoint_event event_of(uint16_t number, uint8_t *bytes, size_t size)
{
	struct fx_tracepoint_event event;

	memcpy(bytes, &number, sizeof(number));
	cr_assert(fx_tracepoint_read(&points, bytes, size, &event));
	return event;
}

Test(tracepoint, which)
{
	uint8_t bytes[64] = {0x04, 0x01};
	struct fx_tracepoint_event event;

	cr_assert(fx_tracepoint_read(&points, bytes, sizeof(bytes), &event));
	cr_expect_eq(event.tracepoint, FX_TRACEPOINT_EXIT);
	cr_expect_not(fx_tracepoint_read(&points, bytes, 1, &event));
	bytes[0] = 0x09;
	cr_expect_not(fx_tracepoint_read(&points, bytes, sizeof(bytes), &event));
	/* Those that are not asked for have no number, and 0 is none. */
	bytes[0] = bytes[1] = 0;
	cr_expect_not(fx_tracepoint_read(&points, bytes, sizeof(bytes), &event));
}

Test(tracepoint, values)
{
	uint8_t bytes[64] = {0};
	struct fx_tracepoint_event event = event_of(0x103, bytes, sizeof(bytes));
	const int64_t number = -2, args[6] = {1, 2, 3, 4, 5, INT64_MIN};
	const int32_t tid = -3;

	memcpy(bytes + 8, &number, sizeof(number));
	memcpy(bytes + 16, args, sizeof(args));
	cr_expect_eq(fx_tracepoint_value(&event, FX_FIELD_ENTER_NUMBER, 0), -2);
	for (unsigned i = 0; i < 6; i++)
		cr_expect_eq(fx_tracepoint_value(&event, FX_FIELD_ENTER_ARGS, i), args[i]);
	memcpy(bytes + 24, &tid, sizeof(tid));
	cr_expect_eq(fx_tracepoint_value(&event, FX_FIELD_WAKING_TID, 0), -3);
	cr_expect_eq(fx_tracepoint_value(&event, FX_FIELD_WAKING_CPU, 0), 0);
	cr_expect_eq(fx_tracepoint_value(&event, FX_FIELD_EXIT_RESULT, 0), 0);
	event.size = 63;
	cr_expect_eq(fx_tracepoint_value(&event, FX_FIELD_ENTER_ARGS, 5), 0);
	cr_expect_eq(fx_tracepoint_value(&event, FX_FIELD_ENTER_ARGS, 4), 5);
}

Test(tracepoint, arrays)
{
	uint8_t bytes[24] = {0};
	const uint32_t where = 16 | 5u << 16;
	struct fx_tracepoint_event event = event_of(0x105, bytes, sizeof(bytes));
	size_t size = 0;

	memcpy(bytes + 8, &where, sizeof(where));
	cr_expect_eq(fx_tracepoint_array(&event, FX_FIELD_IRQ_NAME, &size), bytes + 16);
	cr_expect_eq(size, 5);
	event.size = 20;
	cr_expect_null(fx_tracepoint_array(&event, FX_FIELD_IRQ_NAME, &size));
	event = event_of(0x106, bytes, sizeof(bytes));
	cr_expect_eq(fx_tracepoint_array(&event, FX_FIELD_BIO_FLAGS, &size), bytes + 12);
	cr_expect_eq(size, 10);
	event.size = 21;
	cr_expect_null(fx_tracepoint_array(&event, FX_FIELD_BIO_FLAGS, &size));
	event = event_of(0x107, bytes, sizeof(bytes));
	bytes[20] = 0xff;
	bytes[21] = 0xff;
	cr_expect_eq(fx_tracepoint_value(&event, FX_FIELD_DROP_PROTOCOL, 0), 0xffff);
}

Test(tracepoint, of_interrupt)
{
	uint8_t bytes[8] = {0};
	struct fx_tracepoint_event event = event_of(0x102, bytes, sizeof(bytes));

	cr_expect_not(fx_tracepoint_is_of_interrupt(&event));
	bytes[2] = 0x01; /* interrupts were off */
	cr_expect_not(fx_tracepoint_is_of_interrupt(&event));
	bytes[2] = 0x09; /* it came in one */
	cr_expect(fx_tracepoint_is_of_interrupt(&event));
	event.size = 2;
	cr_expect(fx_tracepoint_is_of_interrupt(&event));
}
