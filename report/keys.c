/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <string.h>

#include "report/keys.h"

enum { SLOTS_AT_FIRST = 64 };

static uint64_t keys_hash(const struct fx_key *key)
{
	uint64_t hash = key->address;

	for (int i = 0; i < 4; i++) {
		hash = (hash ^ key->numbers[i]) * 0x9e3779b97f4a7c15ull;
		hash ^= hash >> 29;
	}
	return hash;
}

/* The slot of a key, or the free one where it would be. There is always one that is free. */
static uint32_t *keys_slot(const struct fx_keys *keys, const struct fx_key *key)
{
	size_t at = keys_hash(key) & (keys->slots.count - 1);

	while (keys->slots.items[at] &&
	       memcmp(&keys->keys.items[keys->slots.items[at] - 1], key, sizeof(*key)) != 0)
		at = (at + 1) & (keys->slots.count - 1);
	return &keys->slots.items[at];
}

/* Twice as many slots. Returns 0 or -ENOMEM. */
static int keys_grow(struct fx_keys *keys)
{
	size_t count = keys->slots.count ? keys->slots.count * 2 : SLOTS_AT_FIRST;

	if (fx_vector_reserve(&keys->slots, count - keys->slots.count) < 0)
		return -ENOMEM;
	keys->slots.count = count;
	memset(keys->slots.items, 0, count * sizeof(uint32_t));
	for (size_t i = 0; i < keys->keys.count; i++)
		*keys_slot(keys, &keys->keys.items[i]) = (uint32_t)i + 1;
	return 0;
}

size_t fx_keys_number(struct fx_keys *keys, struct fx_key key)
{
	uint32_t *slot;

	if (keys->keys.count * 2 >= keys->slots.count && keys_grow(keys) < 0)
		return FX_KEY_NONE;
	slot = keys_slot(keys, &key);
	if (*slot)
		return *slot - 1;
	if (keys->keys.count >= keys->limit || fx_vector_reserve(&keys->keys, 1) < 0) {
		keys->beyond++;
		return FX_KEY_NONE;
	}
	keys->keys.items[keys->keys.count++] = key;
	*slot = (uint32_t)keys->keys.count;
	return keys->keys.count - 1;
}

bool fx_keys_has(const struct fx_keys *keys, struct fx_key key)
{
	return keys->slots.count > 0 && *keys_slot(keys, &key) != 0;
}

void fx_keys_free(struct fx_keys *keys)
{
	fx_vector_free(&keys->keys);
	fx_vector_free(&keys->slots);
}
