/* SPDX-License-Identifier: MIT */
/* How sure an answer is, and what is missing. */
#ifndef FX_WHY_NOTES_H
#define FX_WHY_NOTES_H

#include "why/why-internal.h"

void fx_why_notes(const struct fx_why *why, struct fx_table *table);

#endif
