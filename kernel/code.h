/* SPDX-License-Identifier: MIT */
/*
 * An ELF file's code as the unwinder needs it: its segments, its build-id, and words of them, among these its unwind tables. What
 * has no binary search table gets one made of its frames (kernel/frames.h). The file is read, and never mapped: it may be overwritten in
 * place. Addresses are those that it was linked for.
 */
#ifndef FX_KERNEL_CODE_H
#define FX_KERNEL_CODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FX_CODE_SEGMENTS 16u
#define FX_CODE_ID_MAX	 64u

struct fx_code_segment {
	uint64_t address, offset, size; /* in the file */
};

/* All zeros but `fd' or `own' before fx_code_parse(); of what that leaves only the results are of interest to others. */
struct fx_code {
	int fd; /* -1: memory of this process */
	const uint8_t *own;
	/* Results: */
	uint64_t
	    table; /* of the binary search table (.eh_frame_hdr); 0: there is none that can be made */
	uint8_t build_id[FX_CODE_ID_MAX];
	size_t build_id_size; /* 0: it has none */

	struct fx_code_segment segments[FX_CODE_SEGMENTS];
	unsigned count;
	struct fx_code_segment tables; /* the segment with the unwind tables */
	uint8_t **blocks; /* of that, each read when it is first needed; NULL: none was */
	uint8_t *made;	  /* a search table of our own, at `table' */
	size_t made_size;
};

/* Finds what there is. False: it is no ELF file that can be read. In either case it is to be closed. */
bool fx_code_parse(struct fx_code *code);

/* With its descriptor. */
void fx_code_close(struct fx_code *code);

/* The address of the byte that stands at `offset` of the file. False: it is in no segment. */
bool fx_code_address(const struct fx_code *code, uint64_t offset, uint64_t *ret);

/* Eight bytes at an address. False: the file does not have them. */
bool fx_code_word(struct fx_code *code, uint64_t address, uint64_t *ret);

#endif
