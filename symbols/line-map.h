/* SPDX-License-Identifier: MIT */
/*
 * Where in its source the code of one file comes from, line by line, and through which functions that the compiler has put
 * in place of calls (inlined).
 *
 *	rows      by address: from here on the code is of that place
 *	places    a file and a line, the function that these lie in, and the place where that was called from
 *
 * Say work() calls deep() in line 7, inlined, whose body is line 3:
 *
 *	place 0   "w.c" 7, of the symbol itself, within none
 *	place 1   "w.c" 3, of "deep", within place 0
 *	row       0x1040: place 1
 *	row       0x1052: place 0
 */
#ifndef FX_SYMBOLS_LINE_MAP_H
#define FX_SYMBOLS_LINE_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lists/vector.h"

#define FX_NO_PLACE UINT32_MAX

struct fx_line_place {
	uint32_t file; /* offset of its name, without folders, in the names of the symbols' table */
	uint32_t line; /* 0: not known */
	uint32_t
	    function; /* the same of an inlined function's, as the linker knows it; 0: the symbol's own code */
	uint32_t outer; /* of the call; FX_NO_PLACE: none. Always a lower one */
};

struct fx_line_row {
	uint64_t start; /* link-time address */
	uint32_t place; /* FX_NO_PLACE: nothing is known from here on */
	uint32_t unused;
};

/* All zero: there are none. */
struct fx_line_map {
	FX_VECTOR(struct fx_line_place) places;
	FX_VECTOR(struct fx_line_row) rows; /* after fx_line_map_settle(): of ascending starts */
};

/* *ret: its number. 0, -ENOMEM or -EFBIG. */
int fx_line_map_add(struct fx_line_map *places, const struct fx_line_place *place, uint32_t *ret);

/* From `start` on the code is of that place. 0 or -ENOMEM. */
int fx_line_map_add_row(struct fx_line_map *places, uint64_t start, uint32_t place);

/* Sorts the rows. Of several at one address one that has a place stays. */
void fx_line_map_settle(struct fx_line_map *places);

/* The place of the code at an address, or FX_NO_PLACE. */
uint32_t fx_line_map_find(const struct fx_line_map *places, uint64_t address);

/* Whether all of it can be looked up, in names of so many bytes, of which the last is 0. */
bool fx_line_map_is_sound(const struct fx_line_map *places, size_t names_size);

/* Bytes of memory that they take. */
size_t fx_line_map_memory(const struct fx_line_map *places);

void fx_line_map_clear(struct fx_line_map *places);

#endif
