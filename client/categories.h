/* SPDX-License-Identifier: MIT */
/*
 * Lists of categories, as --categories takes them.
 */
#ifndef FX_CLIENT_CATEGORIES_H
#define FX_CLIENT_CATEGORIES_H

#include <stdint.h>

/* Bits of the categories that are recorded by default. */
uint32_t fx_categories_default(void);

/*
 * Parses a comma list of NAME, NAME* and #default; -NAME takes away, from the default if the list
 * begins with it. NULL, or what is wrong; the text is valid until the next call.
 */
const char *fx_categories_parse(const char *list, uint32_t *ret);

#endif
