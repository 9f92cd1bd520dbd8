/* SPDX-License-Identifier: MIT */
#include "engine/function.h"

#include "engine/durable.h"
#include "engine/record.h"

#define ADDRESS_WORDS 2u
#define ADDRESS_BIT   (1ull << 48) /* FX_STRING_ADDRESS_BIT of format/encode.h */

uint64_t fx_function_header;
void (*fx_function_seen)(uint64_t function);

void fx_function_set_category(uint32_t category_string)
{
	fx_function_header = FX_EVENT_HEADER(FX_EVENT_COMPLETE, 3, 0, category_string, 0);
}

/* Writes what is owed. */
static bool pairs_settle(struct fx_thread *t, uint64_t header, uint64_t ticks)
{
	while (t->owed) {
		if (!fx_record_end(t, header, ticks))
			return false;
		t->owed--;
	}
	return true;
}

fx_cold bool fx_pairs_begin(struct fx_thread *t, uint64_t header, uint64_t ticks)
{
	return pairs_settle(t, header, ticks) && fx_record_begin(t, header, ticks);
}

fx_cold void fx_pairs_end(struct fx_thread *t, uint64_t header, uint64_t ticks)
{
	if (!pairs_settle(t, header, ticks) || !fx_record_end(t, header, ticks))
		t->owed++;
}

static uint64_t address_string_header(uint32_t index)
{
	return 2ull | ADDRESS_WORDS << 4 | (uint64_t)index << 16 | 8ull << 32 | ADDRESS_BIT;
}

/* Global tables are full: an index that this chunk alone knows, defined just before its use. */
static uint32_t local_string(struct fx_thread *t, uint64_t function)
{
	uint32_t room = FX_STRING_MAX - FX_STRING_LOCAL + 1;
	struct fx_reservation r;
	uint64_t *p;
	uint32_t index;

	/* One reservation for the definition and a function record: both in one chunk. */
	p = fx_record_reserve(t, ADDRESS_WORDS + 3, &r);
	if (!p)
		return 0;
	t->cursor[r.level].pos -= 3;
	index = FX_STRING_LOCAL + (uint32_t)(p - t->cursor[r.level].chunk) % room;
	p[1] = function;
	fx_record_commit(t, p, address_string_header(index), &r);
	return index;
}

/* A new index and its record in the durable area. 0: no room. */
static uint32_t global_string(uint64_t function)
{
	uint32_t index;
	uint64_t *p;

	/* Relaxed: indices need only be distinct. */
	if (fx_load_relaxed(&fx_engine.header->next_string) >= FX_STRING_LOCAL)
		return 0;
	index = fx_add_relaxed(&fx_engine.header->next_string, 1);
	if (index >= FX_STRING_LOCAL)
		return 0;
	p = fx_durable_reserve(ADDRESS_WORDS);
	if (!p)
		return 0;
	p[1] = function;
	fx_durable_commit(p, address_string_header(index));
	return index;
}

fx_cold uint32_t fx_function_string_slow(struct fx_thread *t, uint64_t function)
{
	uint64_t *table = fx_engine.wiped->functions;
	uint32_t h = fx_function_hash(function);
	uint32_t index = 0;

	/* At most FX_STRING_LOCAL of the slots are ever taken: the probe ends. */
	for (;; h = (h + 1) & (FX_FUNCTION_SLOTS - 1)) {
		uint64_t s = fx_load_acquire(&table[h]); /* pairs with the exchange below */

		if (s >> 16 == function)
			return (uint32_t)(s & 0xffff);
		if (s)
			continue;
		if (!index) {
			if (fx_function_seen)
				fx_function_seen(function);
			index = global_string(function);
			if (!index)
				return local_string(t, function);
		}
		/* Two threads may race: the loser's index stays unused. */
		if (fx_cas_acq_rel(&table[h], &s, function << 16 | index))
			return index;
		if (s >> 16 == function)
			return (uint32_t)(s & 0xffff);
	}
}
