/* SPDX-License-Identifier: MIT */
/* Ends of arrows that are held (loose-flows.h), of a thread. */
#ifndef FX_MANAGER_LOOSE_H
#define FX_MANAGER_LOOSE_H

#include <stdbool.h>
#include <stdint.h>

#include "lists/vector.h"
#include "manager/archive/held.h"

struct fx_loose_flow {
	uint64_t ns;
	struct fx_held_record record;
};

/* All zero at first. */
struct fx_loose {
	FX_VECTOR(struct fx_loose_flow) flows; /* by their times */
	uint64_t start, end;		       /* of the call that was noted last */
};

/* Puts it in its place, for which room is reserved. */
void fx_loose_insert(struct fx_loose *loose, struct fx_loose_flow flow);

/* Remembers a call. Whether one of them may lie in it. */
bool fx_loose_note(struct fx_loose *loose, uint64_t start, uint64_t end);

/* Moves all to others, and frees what has held them. Without memory as many are forgotten as *ret_lost says. */
void fx_loose_move(struct fx_loose **from, struct fx_loose *to, uint32_t *ret_lost);

/* Forgets all; not the struct itself. */
void fx_loose_clear(struct fx_loose *loose);

#endif
