/* SPDX-License-Identifier: MIT */
/*
 * Growing arrays. FX_VECTOR(type) declares one; all zeros is an empty one.
 *
 *     FX_VECTOR(int) numbers = {0};
 *     if (fx_vector_reserve(&numbers, 1) < 0)
 *             return -ENOMEM;
 *     numbers.items[numbers.count++] = 7;
 *     fx_vector_free(&numbers);
 */
#ifndef FX_LISTS_VECTOR_H
#define FX_LISTS_VECTOR_H

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#define FX_VECTOR(type)                                                                            \
	struct {                                                                                   \
		type *items;                                                                       \
		size_t count;                                                                      \
		size_t capacity;                                                                   \
	}

static inline int fx_vector_grow_(void **items, size_t *capacity, size_t needed, size_t item_size)
{
	size_t grown = *capacity + *capacity / 2;
	void *moved;

	if (grown < needed)
		grown = needed;
	if (grown > SIZE_MAX / item_size)
		return -ENOMEM;
	moved = realloc(*items, grown * item_size);
	if (!moved)
		return -ENOMEM;
	*items = moved;
	*capacity = grown;
	return 0;
}

/* Makes room for @more further items. Returns 0 or -ENOMEM, and then nothing has changed. */
#define fx_vector_reserve(v, more)                                                                 \
	((v)->count + (more) <= (v)->capacity                                                      \
	     ? 0                                                                                   \
	     : fx_vector_grow_((void **)&(v)->items, &(v)->capacity, (v)->count + (more),          \
			       sizeof(*(v)->items)))

#define fx_vector_free(v)                                                                          \
	do {                                                                                       \
		free((v)->items);                                                                  \
		(v)->items = NULL;                                                                 \
		(v)->count = (v)->capacity = 0;                                                    \
	} while (0)

#endif
