/* SPDX-License-Identifier: MIT */
/*
 * The ring of packets from a provider to the manager. The input says what is posted by the rules, what
 * is written over the ring beside them, what changes at the very moments at which the manager looks,
 * and when it reads.
 *
 * What must hold: reading ends; what was posted by the rules comes out in order, and only the oldest is
 * missing; names of alerts are printable; a provider that was found out says nothing more.
 */
#include <stdlib.h>
#include <string.h>

#include "manager/door/provider.h"
#include "tests/fuzz/alone.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/input.h"

#define CHANGES 4u

/* Words of the ring: packet_head, then the slots. */
#define RING_WORDS (1 + sizeof(((struct fx_buffer_header *)0)->packets) / 8)

struct change {
	uint32_t looks; /* until then; 0: none */
	uint64_t value; /* added to the word */
};

static struct {
	struct input in;
	struct fx_provider provider;
	struct fx_buffer_header *header;
	struct change changes[CHANGES];
	bool kept;	 /* the rules, so far */
	uint64_t posted; /* by the rules */
	uint64_t read;
} w;

static void on_look(const volatile void *word)
{
	for (unsigned i = 0; i < CHANGES; i++) {
		struct change *c = &w.changes[i];

		if (c->looks && --c->looks == 0)
			*(uint64_t *)((uintptr_t)word & ~(uintptr_t)7) += c->value;
	}
}

static uint64_t *ring_word(size_t i)
{
	return i == 0 ? &w.header->packet_head : (uint64_t *)w.header->packets + i - 1;
}

static void write_beside(void)
{
	size_t at = input_u16(&w.in) % RING_WORDS, count = 1 + input_below(&w.in, 8);

	w.kept = false;
	for (; count-- && at < RING_WORDS; at++)
		*ring_word(at) = input_u64(&w.in);
}

static void change_plan(void)
{
	struct change *c = &w.changes[input_below(&w.in, CHANGES)];

	w.kept = false;
	c->looks = input_u8(&w.in);
	c->value = input_u64(&w.in);
}

/* The number of a packet, in the order of posting. */
static void packet_post(void)
{
	uint64_t at = w.header->packet_head;
	struct fx_packet_slot *slot = &w.header->packets[at % FX_PACKETS];

	slot->packet = (struct fx_packet){.request = FX_PACKET_ALERT, .data64 = ++w.posted};
	input_take(&w.in, &slot->packet.data16, 2);
	slot->seq = at + 1;
	w.header->packet_head = at + 1;
}

static void name_judge(const struct fx_packet *packet)
{
	char name[FX_ALERT_NAME_MAX + 1];

	fx_packet_alert_name(packet, name);
	if (strnlen(name, sizeof(name)) > FX_ALERT_NAME_MAX)
		abort();
}

static void packets_read(void)
{
	struct fx_packet packet;
	unsigned count = 0;

	while (fx_provider_packet(&w.provider, &packet)) {
		if (++count > 4 * FX_PACKETS)
			break; /* more are posted as they are read: a manager reads some at a time */
		name_judge(&packet);
		if (!w.kept)
			continue;
		if (packet.data64 <= w.read)
			abort();
		w.read = packet.data64;
	}
	if (w.kept && (w.read != w.posted || w.provider.drain.broken))
		abort();
	if (w.provider.drain.broken && fx_provider_packet(&w.provider, &packet))
		abort();
}

static void step(void)
{
	uint8_t what = input_u8(&w.in);

	switch (what % 4) {
	case 0:
		for (unsigned i = 0; i <= what / 4u; i++)
			packet_post();
		break;
	case 1:
		packets_read();
		break;
	case 2:
		write_beside();
		break;
	default:
		change_plan();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	alone_reset();
	memset(&w, 0, sizeof(w));
	w.in = (struct input){data, data + size};
	w.header = aligned_alloc(FX_PAGE, sizeof(*w.header));
	if (!w.header)
		abort();
	memset(w.header, 0, sizeof(*w.header));
	w.header->magic = FX_BUFFER_MAGIC;
	w.provider = (struct fx_provider){.buffer = w.header, .name = "fuzz"};
	w.provider.drain.buffer = (const uint8_t *)w.header;
	w.kept = true;
	alone_hooks.look = on_look;
	while (!input_is_over(&w.in))
		step();
	packets_read();
	free(w.header);
	return 0;
}
