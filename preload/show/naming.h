/* SPDX-License-Identifier: MIT */
/* Numbers and sets of bits by the names that the headers give them: lists that are made from names.tbl. */
#ifndef FX_PRELOAD_NAMING_H
#define FX_PRELOAD_NAMING_H

#include <stdint.h>

#include "preload/show/text.h"

struct fx_named {
	uint32_t value;
	char name[28];
};

/* A list, and how many it has: the first two arguments of what follows. */
#define FX_NAMES(kind) fx_list_##kind, fx_count_##kind

/* NULL if the list lacks it. */
const char *fx_name_of(const struct fx_named *list, unsigned count, uint32_t value);

/* The name of one number; the number itself if the list lacks it. */
void fx_text_name(struct fx_text *t, const struct fx_named *list, unsigned count, uint32_t value);

/* The names of all bits that are set, those without a name in hex; of none, the name of 0 or "0". */
void fx_text_flags(struct fx_text *t, const struct fx_named *list, unsigned count, uint32_t flags);

#endif
