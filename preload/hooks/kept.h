/* SPDX-License-Identifier: MIT */
/*
 * What a hook finds of the function that calls it: registers that a called function keeps, as they were at the call of the
 * hook, and, at an entry, the lower halves of the vectors that arguments go by. The hooks' usual ways change none of them.
 * The ways into the slow halves save them, in assembly (kept.c).
 */
#ifndef FX_PRELOAD_KEPT_H
#define FX_PRELOAD_KEPT_H

#include <stdint.h>

#include "engine/recipe.h"

#if defined(__x86_64__)
#define FX_KEPT_REGISTERS 16u
#define FX_KEPT_FRAME	  6u /* the frame pointer */
#else
#define FX_KEPT_REGISTERS 32u
#define FX_KEPT_FRAME	  29u
#endif
#define FX_KEPT_VECTORS FX_RECIPE_VECTORS

/* By DWARF's numbers; those that need not be kept are anything. */
struct fx_kept {
	uint64_t registers[FX_KEPT_REGISTERS];
	uint64_t vectors[FX_KEPT_VECTORS];
};

#endif
