/* SPDX-License-Identifier: MIT */
/*
 * What a thread has to say of its calls only after a stop, at which they were told as open until then.
 */
#ifndef FX_MANAGER_LATE_H
#define FX_MANAGER_LATE_H

#include <stdbool.h>
#include <stdint.h>

#include "manager/archive/rewriting.h"

/* Whether the record, not yet rewritten, tells again what was told at a stop. */
bool fx_late_is(const struct fx_rewriting *w);

/* What is written of a call that was open at a stop ends there, as its callers do. Times are the archive's. */
void fx_late_cut(const struct fx_rewriting *w, uint64_t start, uint64_t *end);

#endif
