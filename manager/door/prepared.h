/* SPDX-License-Identifier: MIT */
/*
 * The memory of the next provider, made while nobody waits: a process that registers stands still until it is answered. What
 * the next one gets is likely to be as large as what the last one got.
 */
#ifndef FX_MANAGER_PREPARED_H
#define FX_MANAGER_PREPARED_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/layout.h"

/* How large it is, and where the control page has its list of categories. */
struct fx_memory_shape {
	uint64_t control_size, buffer_size, list_offset;
};

/* Mapped here and sealed, all zero; descriptors to be sent. */
struct fx_memory {
	struct fx_control *control;
	void *buffer;
	int control_fd, buffer_fd;
};

struct fx_prepared {
	struct fx_memory_shape shape; /* of the last that was taken; of size 0: none was */
	struct fx_memory memory;
	bool full;
};

/* The caller's to unmap and close. Made on the spot if there is none of that shape. 0 or -errno. */
int fx_prepared_take(struct fx_prepared *prepared, const struct fx_memory_shape *shape,
		     struct fx_memory *ret);

/* Whether one was taken that is not made up for yet. */
bool fx_prepared_is_due(const struct fx_prepared *prepared);

/* Descriptors that have to be free besides. */
#define FX_PREPARED_ROOM 16u

/* Makes it up, if there is room; else not before the next is taken. */
void fx_prepared_fill(struct fx_prepared *prepared);

/* Gives back the descriptors of what is there, unless so many others are free, no more than above; 0: in any case. It is not made
 * up for before the next is taken. True if there was something. */
bool fx_prepared_give_back(struct fx_prepared *prepared, unsigned unless_free);

void fx_prepared_destroy(struct fx_prepared *prepared);

#endif
