/* SPDX-License-Identifier: MIT */
#include "engine/provider/durable.h"

#include "base/fault.h"
#include "engine/provider/engine.h"

/* A blob record without name, payload or type: skipped by every reader. */
#define CLAIM(words) (5ull | (uint64_t)(words) << 4)
#define SIZE(header) ((uint32_t)((header) >> 4 & 0xfff))

uint64_t *fx_durable_reserve(unsigned words)
{
	struct fx_buffer_header *h = fx_engine.header;
	uint64_t *area = (uint64_t *)((char *)h + fx_engine.layout.durable_offset);
	uint64_t room = fx_engine.layout.durable_size / 8;
	/* relaxed: a hint only, the walk below is what counts */
	uint64_t at = fx_load_relaxed(&h->durable_hint) / 8;

	while (at + words <= room) {
		uint64_t found = 0;

		if (fx_cas_acq_rel(&area[at], &found, CLAIM(words))) {
			FX_FAULT(durable_claimed);
			fx_store_relaxed(&h->durable_hint, (at + words) * 8);
			return &area[at];
		}
		at += SIZE(found);
	}
	fx_store_relaxed(&h->durable_full, 1);
	return 0;
}

void fx_durable_commit(uint64_t *p, uint64_t header)
{
	FX_FAULT(durable_commit);
	fx_store_release(p, header); /* pairs with the walk in reader/durable.c */
	FX_FAULT(durable_committed);
}
