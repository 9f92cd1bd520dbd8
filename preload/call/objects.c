/* SPDX-License-Identifier: MIT */
#include "preload/call/objects.h"

#include <stddef.h>

#include "base/atomic.h"

static unsigned objects_bucket_of(uint64_t address)
{
	return (unsigned)((address >> 3) * 0x9e3779b97f4a7c15ull >> 55);
}
_Static_assert(FX_OBJECTS_BUCKETS == 1u << (64 - 55), "the bits of a hash");

/* Exchanges one `from` for `to`; false: there is none. */
static bool exchange(uint64_t *bucket, uint64_t from, uint64_t to)
{
	for (unsigned i = 0; i < FX_OBJECTS_WAYS; i++) {
		uint64_t expected = from;

		if (fx_load_relaxed(&bucket[i]) == from &&
		    fx_cas_acq_rel(&bucket[i], &expected, to))
			return true;
	}
	return false;
}

void fx_objects_set(struct fx_objects *set, const volatile void *object, bool is_in)
{
	uint64_t address = (uint64_t)(uintptr_t)object;
	uint64_t *bucket = set->addresses[objects_bucket_of(address)];

	if (!is_in && !fx_load_relaxed(&set->used))
		return;
	/* Once at most. */
	while (exchange(bucket, address, 0))
		;
	if (!is_in)
		return;
	fx_store_relaxed(&set->used, true);
	exchange(bucket, 0, address);
}

bool fx_objects_have(const struct fx_objects *set, const volatile void *object)
{
	uint64_t address = (uint64_t)(uintptr_t)object;
	const uint64_t *bucket = set->addresses[objects_bucket_of(address)];

	if (!fx_load_relaxed(&set->used))
		return false;
	for (unsigned i = 0; i < FX_OBJECTS_WAYS; i++)
		if (fx_load_relaxed(&bucket[i]) == address)
			return true;
	return false;
}

void fx_objects_each(const struct fx_objects *set, void (*visit)(volatile void *object))
{
	const uint64_t *at = &set->addresses[0][0];

	/* relaxed: what comes meanwhile is, or is not, visited */
	for (size_t i = 0; i < (size_t)FX_OBJECTS_BUCKETS * FX_OBJECTS_WAYS; i++) {
		const uint64_t address = fx_load_relaxed(&at[i]);

		if (address)
			visit((volatile void *)(uintptr_t)address);
	}
}
