/* SPDX-License-Identifier: MIT */
/*
 * The ring of packets in a provider's buffer. A provider that posts faster than we look overwrites its
 * oldest packets: saving does not depend on them, and alerts that come in such a flood are lost.
 */
#include <stddef.h>
#include <string.h>

#include "base/atomic.h"
#include "manager/door/provider.h"
#include "manager/settings/report.h"

static void provider_abort(struct fx_provider *p, const char *how)
{
	p->drain.broken = how;
	fx_report("%s (%d): %s; the rest of its trace is lost", p->name, (int)p->pid, how);
}

/* What no provider of this version sends. NULL: nothing to say against it. */
static const char *packet_fault(const struct fx_packet *packet)
{
	switch (packet->request) {
	case FX_PACKET_STARTED:
		if (packet->data32 != FX_FIFO_VERSION)
			return "it speaks another version of the packets";
		return packet->data16 ? "a packet has reserved bits set" : NULL;
	case FX_PACKET_SAVE_BUFFER:
	case FX_PACKET_STOPPED:
		return packet->data16 ? "a packet has reserved bits set" : NULL;
	case FX_PACKET_ALERT:
		return NULL;
	default:
		return "it sent a packet that does not exist";
	}
}

/* Copies the packet at our position, or at the oldest one left. False: none. */
static bool packet_take(struct fx_provider *p, struct fx_packet *ret)
{
	const struct fx_buffer_header *h = p->buffer;
	uint64_t head = fx_load_acquire(&h->packet_head), seq;
	const struct fx_packet_slot *slot;

	if (head == p->packets_read)
		return false;
	if (head - p->packets_read > FX_PACKETS)
		p->packets_read = head - FX_PACKETS;
	slot = &h->packets[p->packets_read % FX_PACKETS];
	seq = fx_load_acquire(&slot->seq); /* pairs with fx_packet_post() */
	if (seq < p->packets_read + 1)
		return false; /* claimed, not yet written */
	memcpy(ret, &slot->packet, sizeof(*ret));
	/* Our copy comes before this look. Pairs with the store of seq. */
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	p->packets_read++;
	return seq == p->packets_read && fx_load_relaxed(&slot->seq) == seq;
}

bool fx_provider_packet(struct fx_provider *p, struct fx_packet *ret)
{
	const char *fault;

	if (p->drain.broken || !fx_drain_is_attached(&p->drain) || !packet_take(p, ret))
		return false;
	fault = packet_fault(ret);
	if (fault)
		provider_abort(p, fault);
	return !fault;
}

void fx_packet_alert_name(const struct fx_packet *packet, char ret[FX_ALERT_NAME_MAX + 1])
{
	memcpy(ret, (const char *)packet + offsetof(struct fx_packet, data16), FX_ALERT_NAME_MAX);
	ret[FX_ALERT_NAME_MAX] = 0;
}
