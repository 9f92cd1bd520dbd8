/* SPDX-License-Identifier: MIT */
/*
 * Clock records: what other clocks showed when the archive's was at a time, and whose clock it is. The manager writes
 * one at the beginning, one at the end, and some between: the machine's clocks drift. By them archives of several
 * machines are brought together, and a time has a date.
 *
 * One is a blob of type DATA whose name is "fxtrace:clock", in whatever section; its payload is the eight words of
 * struct fx_clock_record, in this order.
 */
#ifndef FX_FORMAT_CLOCK_RECORD_H
#define FX_FORMAT_CLOCK_RECORD_H

#include <stdbool.h>
#include <stdint.h>

#include "format/encode.h"

#define FX_CLOCK_RECORD_NAME	"fxtrace:clock"
#define FX_CLOCK_RECORD_VERSION 1u

struct fx_clock_record {
	uint64_t version;
	uint64_t ns;	   /* of the archive's clock, CLOCK_BOOTTIME */
	uint64_t realtime; /* CLOCK_REALTIME then, ns since 1970 */
	uint64_t session;  /* a random number: records of another one are not the manager's */
	uint64_t boot[2];  /* the machine's boot_id; zeros: not known */
	uint64_t pids;	   /* inode of the manager's pid namespace; 0: not known */
	int64_t
	    offset; /* ns; what the manager's time namespace adds to the machine's CLOCK_BOOTTIME */
};

/* Errors as of fx_record_encode(). */
int fx_clock_record_encode(struct fx_encoder *encoder, const struct fx_clock_record *clock);

/* False: it is another record, or one of a version that is not known. */
bool fx_clock_record_decode(const struct fxt_record *record, struct fx_clock_record *ret);

#endif
