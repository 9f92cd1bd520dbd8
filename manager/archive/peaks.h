/* SPDX-License-Identifier: MIT */
/* How deep something has been since when. What is less deep than what came after it is of no interest, so there is at most one
 * moment for each level. */
#ifndef FX_MANAGER_PEAKS_H
#define FX_MANAGER_PEAKS_H

#include <stdint.h>

#include "lists/vector.h"

struct fx_peak {
	uint64_t ns;
	uint32_t level;
};

/* All zero at first. */
struct fx_peaks {
	FX_VECTOR(struct fx_peak) items; /* the newest last, each less deep than the one before */
};

/* It was so deep at `ns'; if that is before the newest moment, at that one. */
void fx_peaks_note(struct fx_peaks *peaks, uint64_t ns, uint32_t level);

/* The deepest level at `ns` and since; 0: none is known. */
uint32_t fx_peaks_since(const struct fx_peaks *peaks, uint64_t ns);

void fx_peaks_clear(struct fx_peaks *peaks);

#endif
