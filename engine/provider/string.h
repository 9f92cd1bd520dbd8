/* SPDX-License-Identifier: MIT */
/*
 * Strings that records refer to by index: a process-wide table from address to index, with each text
 * written once to the durable area. Addresses are those of functions, whose names the manager finds,
 * or of string literals.
 *
 * When the indices, the durable area or the table run out, a string has no index, for good; tracing
 * goes on with strings that stand in the records themselves.
 */
#ifndef FX_ENGINE_STRING_H
#define FX_ENGINE_STRING_H

#include <stddef.h>
#include <stdint.h>

#include "engine/provider/engine.h"

/* The slot of an address in the table of names. Near functions get near slots (locality). */
fx_hot uint32_t fx_string_hash(uint64_t function)
{
	return (uint32_t)(function >> 4) & (FX_FUNCTION_SLOTS - 1);
}

/* By bytes: so the table's place is part of the load. */
fx_hot uint64_t *fx_string_slot(uint64_t address)
{
	return (uint64_t *)((char *)fx_engine.wiped + offsetof(struct fx_wiped, functions) +
			    (address >> 1 & (FX_FUNCTION_SLOTS - 1) * sizeof(uint64_t)));
}

/* In a table entry: the address has no index. No user-space address has this bit. */
#define FX_ADDRESS_NAMELESS (1ull << (63 - FX_ADDRESS_SHIFT))

/* Gives an address that is new an index: 0 none. `data` is the caller's. */
typedef uint32_t fx_string_maker(uint64_t address, const void *data);

/* A new index, defined in the durable area with `length` bytes of text; `flags` go into the header of
 * the String Record. 0: there is no index, or no room for its text. */
uint32_t fx_string_define(const void *text, size_t length, uint64_t flags);

/* The index of `address`, made now if it is new; 0: it has none. The threads of a process agree. */
uint32_t fx_string_of_address(const struct fx_thread *t, uint64_t address, fx_string_maker *make,
			      const void *data);

/* What lay at the addresses `start` up to `end` is gone: what is there next has other names. */
void fx_strings_forget(uint64_t start, uint64_t end);

/* The same of those alone for which `is_meant' says so. */
void fx_strings_forget_some(uint64_t start, uint64_t end,
			    bool (*is_meant)(const void *opaque, uint64_t address),
			    const void *opaque);

/*
 * The index of a string literal: its address tells it from others, so its text must not change, nor
 * its memory be used for another before fx_strings_forget(). 0: it has to stand in the record itself (fx_ref_inline()).
 */
uint32_t fx_string_literal(const struct fx_thread *t, const char *literal);

/* The index of `length` bytes of text, by a hash of them: two texts in 2^46 have the same. `make` gets
 * the hash. */
uint32_t fx_string_of_bytes(const struct fx_thread *t, const char *text, size_t length,
			    fx_string_maker *make, const void *data);

#endif
