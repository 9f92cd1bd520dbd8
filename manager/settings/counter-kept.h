/* SPDX-License-Identifier: MIT */
/*
 * What was found of the counters, until the machine is booted again, or has more or fewer processors: a line
 * "BOOT_ID PROCESSORS VERDICT" in fxtrace/counter below the user's runtime directory, for root /run. A user without one
 * measures again each time.
 */
#ifndef FX_MANAGER_COUNTER_KEPT_H
#define FX_MANAGER_COUNTER_KEPT_H

#include <stdbool.h>

#include "manager/settings/counter.h"

/* False: nothing is kept that holds for now. */
bool fx_counter_recall(enum fx_counter_verdict *ret);

/* Where it cannot be kept it is not. */
void fx_counter_keep(enum fx_counter_verdict verdict);

#endif
