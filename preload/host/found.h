/* SPDX-License-Identifier: MIT */
/*
 * Which module an address lies in: no lock, no allocation, no system call. By glibc's _dl_find_object(), which it has
 * since 2.35; before that, by a list of the modules that are there from the start, and later ones are not found.
 */
#ifndef FX_PRELOAD_FOUND_H
#define FX_PRELOAD_FOUND_H

#include <stdbool.h>
#include <stdint.h>

struct fx_found {
	uint64_t start, end;   /* of all that is mapped */
	const uint8_t *tables; /* .eh_frame_hdr, or NULL */
};

/* In the constructor, single-threaded. */
void fx_found_init(void);

bool fx_found_at(uint64_t address, struct fx_found *ret);

/* For tests: the list, and what it says, whatever glibc has. */
void fx_found_collect(void);
bool fx_found_among_first(uint64_t address, struct fx_found *ret);

#endif
