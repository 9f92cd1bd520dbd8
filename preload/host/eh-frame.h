/* SPDX-License-Identifier: MIT */
/* The entries of .eh_frame, found by way of .eh_frame_hdr. Their programs are cfi.c's. */
#ifndef FX_PRELOAD_EH_FRAME_H
#define FX_PRELOAD_EH_FRAME_H

#include "preload/host/dwarf.h"

/* Common to many functions. */
struct fx_cie {
	uint64_t return_register; /* whose rule is the return address's */
	uint64_t code_align;
	int64_t data_align;
	uint8_t pointer_encoding;
	bool has_augmentation, is_signal;
	struct fx_dwarf program;
};

/* One function's. */
struct fx_fde {
	struct fx_cie cie;
	uint64_t start, size;
	struct fx_dwarf program;
};

/* The entry that `pc` lies in. False: there is none, or none that is understood. */
bool fx_fde_find(const uint8_t *eh_frame_hdr, uint64_t pc, struct fx_fde *ret);

/* Calls `see` for each place at which an entry begins, in the order of their addresses. */
void fx_fde_starts(const uint8_t *eh_frame_hdr, void (*see)(void *opaque, uint64_t start),
		   void *opaque);

#endif
