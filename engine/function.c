/* SPDX-License-Identifier: MIT */
#include "engine/function.h"

#include "engine/durable.h"
#include "engine/record.h"

#define ADDRESS_WORDS 2u
#define ADDRESS_BIT   (1ull << 48) /* FX_STRING_ADDRESS_BIT of format/encode.h */

/* Set in the address of a table entry that has no index; no user-space address has it. */
#define NAMELESS (1ull << 47)

/* Entries of the table, at most: probes stay short. */
#define FUNCTIONS_MAX (FX_FUNCTION_SLOTS / 4 * 3)

/* A place in a chunk, in words, is a local index. */
_Static_assert(FX_CHUNK_MAX / 8 <= FX_STRING_MAX - FX_STRING_LOCAL + 1, "local indices");

uint64_t fx_function_header;
void (*fx_function_seen)(uint64_t function);

void fx_function_set_category(uint32_t category_string)
{
	fx_function_header = FX_EVENT_HEADER(FX_EVENT_COMPLETE, 3, 0, category_string, 0);
}

static bool pairs_record(struct fx_thread *t, uint64_t function, enum fx_event_type type,
			 uint64_t ticks)
{
	return fx_function_record(t, function, FX_HEADER_RETYPE(fx_function_header, type), ticks,
				  0);
}

/* Writes what is owed. */
static bool pairs_settle(struct fx_thread *t, uint64_t function, uint64_t ticks)
{
	while (t->owed) {
		if (!pairs_record(t, function, FX_EVENT_END, ticks))
			return false;
		t->owed--;
	}
	return true;
}

fx_cold bool fx_pairs_begin(struct fx_thread *t, uint64_t function, uint64_t ticks)
{
	return pairs_settle(t, function, ticks) && pairs_record(t, function, FX_EVENT_BEGIN, ticks);
}

fx_cold void fx_pairs_end(struct fx_thread *t, uint64_t function, uint64_t ticks)
{
	if (!pairs_settle(t, function, ticks) || !pairs_record(t, function, FX_EVENT_END, ticks))
		t->owed++;
}

static uint64_t address_string_header(uint32_t index)
{
	return 2ull | ADDRESS_WORDS << 4 | (uint64_t)index << 16 | 8ull << 32 | ADDRESS_BIT;
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

/* What the table shall say of a function that was never seen. 0: there is no room in it. */
static uint64_t table_entry(uint64_t function)
{
	uint32_t index;

	if (fx_function_seen)
		fx_function_seen(function);
	index = global_string(function);
	if (index)
		return function << 16 | index;
	/* Relaxed: a few entries more do no harm. */
	if (fx_load_relaxed(&fx_engine.wiped->function_count) >= FUNCTIONS_MAX)
		return 0;
	return (function | NAMELESS) << 16;
}

/* The index of a function, given now if it is new. 0: it has none. */
static uint32_t function_index(const struct fx_thread *t, uint64_t function)
{
	uint64_t *table = fx_engine.wiped->functions;
	uint32_t h = fx_function_hash(function);
	uint64_t entry = 0;

	/* FUNCTIONS_MAX leaves slots free: the probe ends. */
	for (;; h = (h + 1) & (FX_FUNCTION_SLOTS - 1)) {
		uint64_t s = fx_load_acquire(&table[h]); /* pairs with the exchange below */

		if ((s >> 16 & ~NAMELESS) == function)
			return (uint32_t)(s & 0xffff);
		if (s)
			continue;
		if (!entry)
			entry = table_entry(function);
		/* A handler that forked meanwhile has left us in a child whose indices are others. */
		if (!entry || t->header != fx_engine.header)
			return 0;
		/* Two threads may race: the loser's index stays unused. */
		if (fx_cas_acq_rel(&table[h], &s, entry)) {
			fx_add_relaxed(&fx_engine.wiped->function_count, 1);
			return (uint32_t)(entry & 0xffff);
		}
		if ((s >> 16 & ~NAMELESS) == function)
			return (uint32_t)(s & 0xffff);
	}
}

static unsigned header_words(uint64_t header)
{
	return (unsigned)(header >> 4 & 0xfff);
}

static void payload_write(uint64_t *p, uint64_t header, uint64_t first, uint64_t second)
{
	p[1] = first;
	if (header_words(header) > 2)
		p[2] = second;
}

/* With an index that this chunk alone knows: the place of its definition there. */
static bool record_defining(struct fx_thread *t, uint64_t function, uint64_t header, uint64_t first,
			    uint64_t second)
{
	struct fx_reservation r;
	uint64_t *p = fx_record_reserve(t, ADDRESS_WORDS + header_words(header), &r);
	uint64_t index;

	if (!p)
		return false;
	index = FX_STRING_LOCAL + (uint64_t)(p - t->cursor[r.level].chunk);
	payload_write(p + ADDRESS_WORDS, header, first, second);
	p[ADDRESS_WORDS] = header | index << 48;
	p[1] = function;
	fx_record_commit(t, p, address_string_header((uint32_t)index), &r);
	return true;
}

fx_cold bool fx_function_record(struct fx_thread *t, uint64_t function, uint64_t header,
				uint64_t first, uint64_t second)
{
	uint64_t index = function_index(t, function);
	struct fx_reservation r;
	uint64_t *p;

	if (!index)
		return record_defining(t, function, header, first, second);
	p = fx_record_reserve(t, header_words(header), &r);
	if (!p)
		return false;
	payload_write(p, header, first, second);
	fx_record_commit(t, p, header | index << 48, &r);
	return true;
}
