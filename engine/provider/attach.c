/* SPDX-License-Identifier: MIT */
/* A buffer is made the process's: its header, the builtin strings and the categories are written, and hooks find work. */
#include <errno.h>
#include <string.h>

#include "base/fault.h"
#include "base/syscall.h"
#include "engine/provider/category.h"
#include "engine/provider/engine.h"
#include "engine/provider/wiped.h"

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

static bool stash_fits(const struct fx_control *control, const struct fx_layout *l)
{
	return !control->stash_offset ||
	       lies_within(control->stash_offset, (uint64_t)l->thread_count * FX_STASH_SIZE,
			   l->total_size);
}

bool fx_engine_renew(void)
{
	struct fx_wiped *wiped;

	if (!fx_wiped_renew())
		return false;
	wiped = fx_wiped_map(sizeof(*wiped));
	fx_touch(wiped);
	fx_store_relaxed(&fx_engine.wiped, wiped);
	return true;
}

int fx_engine_attach(int pid, const struct fx_control *control, const struct fx_common *common,
		     void *buffer, uint64_t buffer_size, const struct fx_builtin *builtin)
{
	struct fx_layout layout = control->layout;
	struct fx_buffer_header *h = buffer;

	if (control->magic != FX_CONTROL_MAGIC || control->version != FX_LAYOUT_VERSION ||
	    !layout_fits(&layout, buffer_size) || !stash_fits(control, &layout) ||
	    builtin->words * 8 > FX_BUILTIN_SIZE - 8)
		return -EINVAL;
	if (!fx_engine.wiped) {
		fx_engine.wiped = fx_wiped_map(sizeof(struct fx_wiped));
		if (!fx_engine.wiped)
			return -ENOMEM;
		fx_touch(fx_engine.wiped);
	}
	fx_engine.pid = pid;
	fx_engine.header = h;
	fx_engine.attachments++;
	fx_engine.layout = layout;
	fx_engine.clock_kind = (enum fx_clock_kind)control->clock_kind;
	fx_engine.tick_step = control->tick_step;

	h->builtin_id = control->builtin_id == builtin->id ? builtin->id : 0;
	if (!h->builtin_id && builtin->words)
		memcpy((char *)buffer + layout.builtin_offset, builtin->records,
		       builtin->words * 8);
	h->version = FX_LAYOUT_VERSION;
	h->pid = (uint32_t)fx_engine.pid;
	h->total_size = layout.total_size;
	h->durable_size = layout.durable_size;
	h->rolling_size = (uint64_t)layout.chunks_per_half * layout.chunk_size;
	h->next_string = builtin->next;
	h->dropped_unslotted = h->lost_unslotted[FX_LOSS_ADOPTED] =
	    fx_load_relaxed(&fx_engine.wiped->lost);
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
