/* SPDX-License-Identifier: MIT */
#include "engine/provider/engine.h"

#include <errno.h>
#include <linux/futex.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>

#include "base/fault.h"
#include "base/syscall.h"
#include "engine/provider/number.h"

/* What an unattached process polls: state 0, owner alive. Pages of zeroes, never written. */
static const struct {
	struct fx_control control;
} control_off __attribute__((aligned(4096)));
static const struct fx_common common_off;

/* What is polled while there are guests: one for each number of them, in a process that is not attached and in one
 * that is. Never written; from the last of either there is no way back. */
static struct fx_control control_guests[2][FX_GUESTS_MAX + 1] FX_LARGE;

struct fx_engine fx_engine = {.control = &control_off.control, .common = &common_off};

/* So often the process itself has given something up: of a count that is as it was, what is refused may go back. */
#define DECIDED 1024u

_Static_assert(FX_ASK_ALL < DECIDED, "they share a word");

static __thread struct {
	unsigned depth; /* of children, each of the one before */
	uint32_t refused;
} lent __attribute__((tls_model("initial-exec")));

bool fx_engine_is_lent(void)
{
	return !fx_engine_is_stranger() && lent.depth;
}

void fx_engine_confine(uint32_t refused)
{
	uint32_t now = fx_load_relaxed(&fx_engine.refused),
		 decided = fx_engine_is_lent() ? 0 : DECIDED;

	if (!fx_engine_is_stranger())
		fx_number_learn();
	/* relaxed: see fx_engine_may() */
	while (!__atomic_compare_exchange_n(&fx_engine.refused, &now, (now | refused) + decided,
					    true, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		;
}

void fx_engine_lend(void)
{
	if (!lent.depth++)
		lent.refused = fx_load_relaxed(&fx_engine.refused);
}

void fx_engine_lent_back(void)
{
	uint32_t now = fx_load_relaxed(&fx_engine.refused);

	if (--lent.depth)
		return;
	while (now != lent.refused && now / DECIDED == lent.refused / DECIDED &&
	       !__atomic_compare_exchange_n(&fx_engine.refused, &now, lent.refused, true,
					    __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		;
}

/* How many guests `control` stands for, and whether the process is attached. */
static unsigned guests_of(const struct fx_control *control, bool *attached)
{
	size_t i = ((uintptr_t)control - (uintptr_t)control_guests) / sizeof *control;

	if (i >= sizeof control_guests / sizeof *control) {
		*attached = control != &control_off.control;
		return 0;
	}
	*attached = i > FX_GUESTS_MAX;
	return (unsigned)(i % (FX_GUESTS_MAX + 1)) + 1;
}

static const struct fx_control *control_for(unsigned guests, bool attached)
{
	if (guests)
		return &control_guests[attached][guests - 1];
	return attached ? fx_engine.page : &control_off.control;
}

void fx_engine_detach(void)
{
	const struct fx_control *now = fx_control();
	bool attached;

	/* Pairs with those of guests that come and go meanwhile: no number is lost. */
	while (!fx_cas_acq_rel(&fx_engine.control, &now,
			       control_for(guests_of(now, &attached), false)))
		;
	fx_barrier();
	fx_store_relaxed(&fx_engine.common, &common_off);
}

void fx_engine_take_up(const struct fx_common *common)
{
	const struct fx_control *now = fx_control();
	bool attached;

	fx_store_relaxed(&fx_engine.common, common);
	fx_barrier();
	while (
	    !fx_cas_acq_rel(&fx_engine.control, &now, control_for(guests_of(now, &attached), true)))
		;
}

void fx_engine_give_up(void)
{
	fx_thread_on(UINT32_MAX); /* a forked child has a header of its own then */
	if (fx_engine.wiped && fx_engine.wiped->attached &&
	    !fx_load_relaxed(&fx_engine.header->given_up))
		fx_store_relaxed(&fx_engine.header->given_up, fx_now());
	fx_engine_detach();
}

void fx_engine_go_blind(void)
{
	fx_store_relaxed(&fx_engine.blind, true); /* the new thread comes after it */
	fx_engine_give_up();
}

/* The number of guests is in the pointer, so that these pair with one another and with a detachment. */
void fx_engine_guest_comes(void)
{
	const struct fx_control *now = fx_control();
	unsigned guests;
	bool attached;

	do {
		guests = guests_of(now, &attached);
		if (guests > FX_GUESTS_MAX)
			return;
	} while (!fx_cas_acq_rel(&fx_engine.control, &now, control_for(guests + 1, attached)));
}

void fx_engine_guest_gone(void)
{
	const struct fx_control *now = fx_control();
	unsigned guests;
	bool attached;

	do {
		guests = guests_of(now, &attached);
		if (!guests || guests > FX_GUESTS_MAX)
			return;
	} while (!fx_cas_acq_rel(&fx_engine.control, &now, control_for(guests - 1, attached)));
}

void fx_engine_guests_forget(void)
{
	bool attached;

	if (guests_of(fx_control(), &attached))
		fx_store_relaxed(&fx_engine.control, control_for(0, attached));
}

/* A guest is a process of its own. A process that may not ask takes itself for one. */
bool fx_engine_may_be_guest(void)
{
	bool attached;

	return guests_of(fx_control(), &attached) &&
	       (!fx_engine_may(FX_ASK_SELF) || fx_getpid() != fx_engine.pid);
}

void fx_packet_post(enum fx_packet_request request, uint16_t data16, uint32_t data32,
		    uint64_t data64)
{
	struct fx_buffer_header *h = fx_engine.header;
	uint64_t position = fx_add_acq_rel(&h->packet_head, 1);
	struct fx_packet_slot *s = &h->packets[position % FX_PACKETS];

	/* Ordered after the packet a lap ago, whose thread may have been another. */
	(void)fx_load_acquire(&s->seq);
	s->packet = (struct fx_packet){(uint16_t)request, data16, data32, data64};
	FX_FAULT(packet_claimed);
	fx_store_release(&s->seq, position + 1); /* pairs with the manager's read of seq */
}

void fx_doorbell_ring(void)
{
	if (fx_engine_may(FX_ASK_WAIT))
		fx_syscall3(SYS_futex, &fx_common()->doorbell, FUTEX_WAKE, 1);
}

int fx_engine_alert(const char *name, size_t length)
{
	struct fx_packet packet = {.request = FX_PACKET_ALERT};

	if (length == 0 || length > FX_ALERT_BYTES || memchr(name, 0, length))
		return -EINVAL;
	/* A thread that records, so that a forked child alerts on its own behalf. */
	if (!fx_thread_on(UINT32_MAX))
		return -ESHUTDOWN;
	memcpy((char *)&packet + offsetof(struct fx_packet, data16), name, length);
	fx_packet_post(FX_PACKET_ALERT, packet.data16, packet.data32, packet.data64);
	fx_doorbell_ring();
	return 0;
}
