/* SPDX-License-Identifier: MIT */
/*
 * An archive of those records alone that the oldest text of the format has, for readers that know no others: no
 * instants with scopes, no arguments that are booleans or bytes, no records of modules, no large records, and of the
 * scheduler only switches, in the first of their forms.
 */
#ifndef FX_ARCHIVES_STOCK_H
#define FX_ARCHIVES_STOCK_H

#include <stdint.h>

#include <fxtrace/reader.h>

#include "manager/archive/output.h"

struct fx_stock_result {
	uint64_t events;
	uint64_t left_out; /* records that it has no room for, modules not counted */
	uint64_t payloads; /* of events that are written as instants without them */
	uint64_t fault_count;
	struct fxt_fault fault; /* the first one */
};

/* Reads all there is, and writes it to an output that has been begun. 0 or -errno, of either. */
int fx_stock_write(struct fxt_reader *reader, struct fx_output *out, struct fx_stock_result *ret);

#endif
