/* SPDX-License-Identifier: MIT */
#include "engine/provider/string.h"

#include <string.h>

#include "engine/provider/durable.h"
#include "format/encode.h"

/* Entries of the table, at most: probes stay short. */
#define ADDRESSES_MAX (FX_FUNCTION_SLOTS / 4 * 3)

uint32_t fx_string_define(const void *text, size_t length, uint64_t flags)
{
	size_t words = 1 + fx_bytes_words(length);
	uint32_t index;
	uint64_t *p;

	/* Relaxed: indices need only be distinct. */
	if (fx_load_relaxed(&fx_engine.header->next_string) >= FX_STRING_LOCAL)
		return 0;
	index = fx_add_relaxed(&fx_engine.header->next_string, 1);
	if (index >= FX_STRING_LOCAL)
		return 0;
	p = fx_durable_reserve((unsigned)words);
	if (!p)
		return 0;
	memcpy(p + 1, text, length); /* the area is zero: padded */
	fx_durable_commit(p, fx_header_string(words, index, length) | flags);
	return index;
}

static uint64_t string_address_of(uint64_t entry)
{
	return entry >> FX_ADDRESS_SHIFT & ~FX_ADDRESS_NAMELESS;
}

/* What the table shall say of an address that was never seen. 0: there is no room in it. */
static uint64_t table_entry(uint64_t address, fx_string_maker *make, const void *data)
{
	uint32_t index = make(address, data);

	if (index)
		return address << FX_ADDRESS_SHIFT | index;
	/* Relaxed: a few entries more do no harm. */
	if (fx_load_relaxed(&fx_engine.wiped->function_count) >= ADDRESSES_MAX)
		return 0;
	return (address | FX_ADDRESS_NAMELESS) << FX_ADDRESS_SHIFT;
}

uint32_t fx_string_of_address(const struct fx_thread *t, uint64_t address, fx_string_maker *make,
			      const void *data)
{
	uint64_t *table = fx_engine.wiped->functions;
	uint32_t h = fx_string_hash(address);
	uint64_t entry = 0;

	/* ADDRESSES_MAX leaves slots free: the probe ends. */
	for (;; h = (h + 1) & (FX_FUNCTION_SLOTS - 1)) {
		uint64_t s = fx_load_acquire(&table[h]); /* pairs with the exchange below */

		if (string_address_of(s) == address)
			return (uint32_t)s & FX_ADDRESS_INDEX;
		if (s)
			continue;
		if (!entry)
			entry = table_entry(address, make, data);
		/* A handler that forked meanwhile has left us in a child whose indices are others. */
		if (!entry || t->header != fx_engine.header)
			return 0;
		/* Two threads may race: the loser's index stays unused. */
		if (fx_cas_acq_rel(&table[h], &s, entry)) {
			fx_add_relaxed(&fx_engine.wiped->function_count, 1);
			return (uint32_t)entry & FX_ADDRESS_INDEX;
		}
		if (string_address_of(s) == address)
			return (uint32_t)s & FX_ADDRESS_INDEX;
	}
}

/* In place of an entry that is forgotten: of no address, and yet not free, so that probes go on behind it. */
#define FORGOTTEN (FX_ADDRESS_NAMELESS << FX_ADDRESS_SHIFT)

void fx_strings_forget(uint64_t start, uint64_t end)
{
	fx_strings_forget_some(start, end, NULL, NULL);
}

void fx_strings_forget_some(uint64_t start, uint64_t end,
			    bool (*is_meant)(const void *opaque, uint64_t address),
			    const void *opaque)
{
	for (uint32_t i = 0; fx_engine.wiped && i < FX_FUNCTION_SLOTS; i++) {
		uint64_t *slot = &fx_engine.wiped->functions[i];
		/* relaxed, both: an entry is one word, changes once more at most, and nothing is read through it */
		uint64_t address = string_address_of(fx_load_relaxed(slot));

		if (address >= start && address < end && (!is_meant || is_meant(opaque, address)))
			fx_store_relaxed(slot, FORGOTTEN);
	}
}

static uint32_t literal_make(uint64_t address, const void *data)
{
	const char *text = (const char *)(uintptr_t)address;
	size_t length = strnlen(text, FXT_MAX_STRING_LENGTH);

	(void)data;
	return length ? fx_string_define(text, length, 0) : 0;
}

uint32_t fx_string_literal(const struct fx_thread *t, const char *literal)
{
	return fx_string_of_address(t, (uint64_t)(uintptr_t)literal, literal_make, NULL);
}

/* No address that occurs; like string_key_of() in backtrace.c, from another beginning. */
static uint64_t string_key_of(const char *text, size_t length)
{
	uint64_t h = ~(uint64_t)length;

	for (size_t i = 0; i < length; i++) {
		h = (h ^ (uint8_t)text[i]) * UINT64_C(0x9e3779b97f4a7c15);
		h ^= h >> 29;
	}
	return (h & (FX_ADDRESS_NAMELESS - 1)) | 1;
}

uint32_t fx_string_of_bytes(const struct fx_thread *t, const char *text, size_t length,
			    fx_string_maker *make, const void *data)
{
	return fx_string_of_address(t, string_key_of(text, length), make, data);
}
