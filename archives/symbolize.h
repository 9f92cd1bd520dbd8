/* SPDX-License-Identifier: MIT */
/*
 * An archive with names in the place of addresses: texts that are "MODULE+0x123", of a module that the provider has
 * recorded with a build-id, become the name of the function there, if it is found (finder.h).
 */
#ifndef FX_ARCHIVES_SYMBOLIZE_H
#define FX_ARCHIVES_SYMBOLIZE_H

#include <stdint.h>

#include <fxtrace/reader.h>

#include "archives/finder.h"
#include "manager/archive/output.h"

struct fx_symbolize_result {
	uint64_t named, unnamed; /* texts */
	uint64_t left_out;	 /* records that are too large, or that nobody knows */
	uint64_t fault_count;
	struct fxt_fault fault; /* the first one */
};

/* Reads all there is, and writes it to an output that has been begun. 0 or -errno, of either. */
int fx_symbolize(struct fxt_reader *reader, struct fx_finder *finder, struct fx_output *out,
		 struct fx_symbolize_result *ret);

#endif
