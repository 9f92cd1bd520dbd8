/* SPDX-License-Identifier: MIT */
/* Numbers with a unit, as they stand on a command line: 64M, 1.5s. */
#ifndef FX_CLIENT_QUANTITY_H
#define FX_CLIENT_QUANTITY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum fx_quantity {
	FX_QUANTITY_COUNTS, /* no unit */
	FX_QUANTITY_SIZES,  /* bytes: none, K, M, G, powers of 1,024 */
	FX_QUANTITY_TIMES,  /* ns, us, ms, s, min, h; the result is nanoseconds */
};

/* A decimal number, possibly with a fraction, and one of the units. False: it is none, or too large. */
bool fx_quantity_parse(const char *text, enum fx_quantity what, uint64_t *ret);

/* GLOB=TIME as GLOB=NANOSECONDS, as patterns of functions have it (symbols/patterns.h); GLOB may have an = itself. False: it is none, or too
 * long for `size' bytes. */
bool fx_quantity_of_glob(const char *text, char *ret, size_t size);

#endif
