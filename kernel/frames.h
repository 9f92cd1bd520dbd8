/* SPDX-License-Identifier: MIT */
/*
 * The binary search table that a file's linker has not made: programs that are linked statically have .eh_frame, and no
 * .eh_frame_hdr. The table is of that section's form (Linux Standard Base, "The .eh_frame_hdr section").
 */
#ifndef FX_KERNEL_FRAMES_H
#define FX_KERNEL_FRAMES_H

#include <stddef.h>
#include <stdint.h>

/* Of a section's bytes, which lie at `address'; the table is to lie at `table'. *ret is the caller's to free. Bytes of it; 0:
 * there is nothing in it, or no memory. */
size_t fx_frames_index(const uint8_t *bytes, size_t size, uint64_t address, uint64_t table,
		       uint8_t **ret);

#endif
