/* SPDX-License-Identifier: MIT */
#include "tests/fuzz/honest.h"

#include "base/atomic.h"
#include "tests/fuzz/alone.h"
#include "tests/fuzz/verdict.h"

/* Indices of its strings. */
#define CATEGORY 1u
#define NAME	 2u

void honest_attach(struct honest *h, const struct fx_control *control, void *buffer, uint32_t tid)
{
	*h = (struct honest){.tid = tid};
	fp_attach(&h->fake, control, buffer);
	fp_durable_string(&h->fake, CATEGORY, "cat");
	fp_durable_string(&h->fake, NAME, VERDICT_HONEST);
}

bool honest_switch(struct fake_provider *f)
{
	bool circular = f->control->buffering_mode == FX_MODE_CIRCULAR;

	if (f->layout.halves == 1 || (!circular && f->control->wraps_saved < f->wrap))
		return false;
	f->wrap++;
	f->half_used = 0;
	fx_store_release(&f->header->rolling_state, (uint64_t)f->wrap << 32);
	return true;
}

/* Whether the chunk that comes next is free. */
static bool next_is_free(struct fake_provider *f)
{
	const struct fx_control *c = f->control;
	uint32_t half = f->layout.halves == 2 ? f->wrap & 1 : 0;
	uint32_t number = half * f->layout.chunks_per_half + f->half_used;
	uint64_t word = *fp_table(f, number);

	if (c->buffering_mode == FX_MODE_CIRCULAR)
		return !(word & FX_CHUNK_HELD);
	return word == c->saved[number];
}

/* One try: a chunk is taken, or one passed over, or the half is left. False: there is no room. */
static bool chunk_try(struct honest *h)
{
	struct fake_provider *f = &h->fake;
	uint64_t serial = (uint64_t)f->wrap * f->layout.chunks_per_half + f->half_used;
	bool free;

	if (f->control->serial_limit && serial >= f->control->serial_limit)
		return false;
	if (f->half_used == f->layout.chunks_per_half)
		return honest_switch(f);
	free = next_is_free(f);
	serial = fp_count_claim(f);
	if (free)
		h->chunk = fp_show_claim(f, serial, h->tid);
	return true;
}

void honest_release(struct honest *h)
{
	if (h->chunk.words)
		fp_release(&h->chunk);
	h->chunk.words = NULL;
}

static bool chunk_have(struct honest *h)
{
	const struct fx_layout *l = &h->fake.layout;
	uint32_t tries = 2 * l->halves * l->chunks_per_half + 2;

	if (h->chunk.words && (h->chunk.used + 3) * 8 <= l->chunk_size)
		return true;
	honest_release(h);
	while (!h->chunk.words && tries-- && chunk_try(h))
		;
	return h->chunk.words != NULL;
}

unsigned honest_record(struct honest *h, unsigned count)
{
	unsigned done = 0;

	while (done < count && chunk_have(h)) {
		uint64_t now = alone_now();

		fp_complete(&h->chunk, CATEGORY, NAME, now, now + 100);
		alone_advance(200);
		done++;
	}
	return done;
}
