/* SPDX-License-Identifier: MIT */
#include "engine/engine.h"

#include <errno.h>
#include <linux/futex.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>

#include "base/fault.h"
#include "base/syscall.h"
#include "engine/category.h"

/* What an unattached process polls: state 0, owner alive. Pages of zeroes, never written. */
static const struct {
	struct fx_control control;
} control_off __attribute__((aligned(4096)));
static const struct fx_common common_off;

/* What is polled while there are guests: one for each number of them, in a process that is not attached and in one
 * that is. Never written; from the last of either there is no way back. */
static struct fx_control control_guests[2][FX_GUESTS_MAX + 1];

struct fx_engine fx_engine = {.control = &control_off.control, .common = &common_off};

/* Whether `size` bytes at `offset`, which words may stand in, lie within `total`. */
static bool lies_within(uint64_t offset, uint64_t size, uint64_t total)
{
	return offset % 8 == 0 && offset <= total && size <= total - offset;
}

static bool layout_fits(const struct fx_layout *l, uint64_t size)
{
	uint64_t half = (uint64_t)l->chunks_per_half * l->chunk_size;

	return l->total_size == size && l->halves >= 1 && l->halves <= 2 && l->chunks_per_half &&
	       l->chunk_size >= FX_CHUNK_MIN && l->chunk_size <= FX_CHUNK_MAX &&
	       l->chunk_size % 8 == 0 && l->thread_count >= 1 &&
	       l->thread_count <= FX_THREADS_MAX && l->durable_size % 8 == 0 &&
	       lies_within(l->builtin_offset, FX_BUILTIN_SIZE, size) &&
	       lies_within(l->threads_offset,
			   (uint64_t)l->thread_count * sizeof(struct fx_thread_slot), size) &&
	       lies_within(l->table_offset, 8ull * l->halves * l->chunks_per_half, size) &&
	       lies_within(l->durable_offset, l->durable_size, size) &&
	       lies_within(l->rolling_offset[0], half, size) &&
	       lies_within(l->rolling_offset[1], l->halves == 2 ? half : 0, size);
}

/* Memory that a forked child finds zeroed. A kernel without it (before 4.14) cannot trace. */
static struct fx_wiped *wiped_map(void)
{
	long p = fx_syscall6(SYS_mmap, 0, sizeof(struct fx_wiped), PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (p < 0 && p > -4096)
		return NULL;
	if (fx_syscall3(SYS_madvise, p, sizeof(struct fx_wiped), MADV_WIPEONFORK) != 0) {
		fx_syscall2(SYS_munmap, p, sizeof(struct fx_wiped));
		return NULL;
	}
	fx_syscall3(SYS_madvise, p, sizeof(struct fx_wiped), MADV_DONTDUMP);
	return (struct fx_wiped *)p;
}

int fx_engine_attach(const struct fx_control *control, const struct fx_common *common, void *buffer,
		     uint64_t buffer_size, const uint64_t *builtin, size_t builtin_words,
		     uint32_t first_string)
{
	struct fx_layout layout = control->layout;
	struct fx_buffer_header *h = buffer;

	if (control->magic != FX_CONTROL_MAGIC || control->version != FX_LAYOUT_VERSION ||
	    !layout_fits(&layout, buffer_size) || builtin_words * 8 > FX_BUILTIN_SIZE - 8)
		return -EINVAL;
	if (!fx_engine.wiped) {
		fx_engine.wiped = wiped_map();
		if (!fx_engine.wiped)
			return -ENOMEM;
	}
	fx_engine.pid = fx_getpid();
	fx_engine.header = h;
	fx_engine.layout = layout;
	fx_engine.clock_kind = (enum fx_clock_kind)control->clock_kind;
	fx_engine.tick_step = control->tick_step;

	memcpy((char *)buffer + layout.builtin_offset, builtin, builtin_words * 8);
	h->version = FX_LAYOUT_VERSION;
	h->pid = (uint32_t)fx_engine.pid;
	h->total_size = layout.total_size;
	h->durable_size = layout.durable_size;
	h->rolling_size = (uint64_t)layout.chunks_per_half * layout.chunk_size;
	h->next_string = first_string;
	fx_categories_tell();
	FX_FAULT(attach_magic);
	fx_store_release(&h->magic, FX_BUFFER_MAGIC); /* pairs with the manager's first look */

	/* Only now may a hook find work. */
	fx_engine.wiped->attached = 1;
	fx_engine.page = control;
	fx_store_relaxed(&fx_engine.common, common);
	fx_barrier();
	fx_store_relaxed(&fx_engine.control, control);
	return 0;
}

void fx_engine_confine(void)
{
	fx_engine.confined = true;
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

/* A guest is a process of its own. Who may not ask takes himself for one. */
bool fx_engine_may_be_guest(void)
{
	bool attached;

	return guests_of(fx_control(), &attached) &&
	       (fx_engine.confined || fx_getpid() != fx_engine.pid);
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
	if (!fx_engine.confined)
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
