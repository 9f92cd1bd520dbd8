/* SPDX-License-Identifier: MIT */
/* What had the time, whatever waited for it. */
#ifndef FX_WHY_CAUSES_H
#define FX_WHY_CAUSES_H

#include "why/why-internal.h"

/* A table of the own times of a tree, *ret 0 or -ENOMEM; NULL: there is no memory. */
struct fx_table *fx_why_causes(const struct fx_why *why, int *ret);

#endif
