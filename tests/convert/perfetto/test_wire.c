/* SPDX-License-Identifier: MIT */
#include <criterion/criterion.h>

#include "convert/perfetto/wire.h"

/* Two packets: of sequence 300, and one without a sequence that has a field of each size. */
static const unsigned char packets[] = {
    0x0a, 5,				/* a packet */
    0x50, 0xac, 0x02,			/* its sequence */
    0x68, 1,				/* its flags */
    0x0a, 19,				/* another */
    0x42, 3,	0x50, 7, 0,		/* bytes that look like a sequence */
    0x41, 1,	2,    3, 4, 5, 6, 7, 8, /* 64 bits */
    0x45, 1,	2,    3, 4,		/* 32 bits */
};

Test(wire, whole_packets)
{
	cr_assert(fx_packets_are_whole(packets, sizeof(packets)));
	cr_assert_eq(fx_packets_last_sequence(packets, sizeof(packets)), 300);
}

Test(wire, every_cut_is_noticed)
{
	for (size_t size = 1; size < sizeof(packets); size++)
		cr_assert_eq(fx_packets_are_whole(packets, size), size == 7, "cut at %zu", size);
}

Test(wire, what_is_no_packet)
{
	static const unsigned char other_field[] = {0x12, 1, 0};
	static const unsigned char group[] = {0x0a, 1, 0x0b};
	static const unsigned char endless[] = {0x0a, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
						0xff, 0xff, 0xff, 0xff, 0xff, 0xff};
	static const unsigned char huge[] = {0x0a, 0xff, 0xff, 0xff, 0xff, 0xff,
					     0xff, 0xff, 0xff, 0xff, 0x01};

	cr_assert_not(fx_packets_are_whole(other_field, sizeof(other_field)));
	cr_assert_not(fx_packets_are_whole(group, sizeof(group)));
	cr_assert_not(fx_packets_are_whole(endless, sizeof(endless)));
	cr_assert_not(fx_packets_are_whole(huge, sizeof(huge)));
	cr_assert_eq(fx_packets_last_sequence(huge, sizeof(huge)), 0);
}
