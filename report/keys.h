/* SPDX-License-Identifier: MIT */
/*
 * Numbers for keys: each key once, counting from 0 in order of appearance, as many as there is room for. A section keeps
 * what it counts in an array beside them. All zeros, but for the limit, is an empty one.
 */
#ifndef FX_REPORT_KEYS_H
#define FX_REPORT_KEYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lists/vector.h"

struct fx_key {
	uint64_t address;
	uint32_t numbers[4];
};

#define FX_KEY_NONE SIZE_MAX

struct fx_keys {
	size_t limit;	 /* keys; set before the first one */
	uint64_t beyond; /* times that a key was asked for which had no room */
	FX_VECTOR(struct fx_key) keys;
	FX_VECTOR(uint32_t) slots; /* 1 + number; 0: free */
};

/* The number of a key, which is made if it is new. FX_KEY_NONE: there is no room, or no memory. */
size_t fx_keys_number(struct fx_keys *keys, struct fx_key key);

/* Whether a key has its number already. */
bool fx_keys_has(const struct fx_keys *keys, struct fx_key key);

void fx_keys_free(struct fx_keys *keys);

#endif
