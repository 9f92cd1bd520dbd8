/* SPDX-License-Identifier: MIT */
/*
 * Whether an archive keeps the rules: those of the format's text, and those by which a viewer
 * shows every event where it belongs.
 *
 * Errors: every fault of the reader; a thread's kernel object without its process; a complete
 * event that ends before it starts; times beyond 63 bits of nanoseconds; counters with arguments
 * that are not numbers; CPU numbers and scheduling arguments that viewers do not take; a clock
 * rate that changes after events; slices, async events and flows that do not fit together (see
 * check-slices.h, check-ids.h). Warnings: see lint.h, and records outside of any provider.
 *
 * Memory is proportional to the number of threads; what is to be kept of events goes to a file
 * without a name where it is much (lists/runs.h).
 */
#ifndef FX_FORMAT_CHECK_ARCHIVE_H
#define FX_FORMAT_CHECK_ARCHIVE_H

#include <stdint.h>

#include <fxtrace/reader.h>

#include "format/violations.h"

struct fx_archive_counts {
	uint64_t bytes; /* of whole records, after decompression */
	uint64_t records;
	uint64_t events; /* event records and large events */
	uint64_t unknown_records;
	uint64_t providers;
	uint64_t processes;
	uint64_t threads;
	uint64_t open_slices; /* begun, never ended */
};

/*
 * Reads the archive to its end; the reader's fault handler is replaced. Returns 0 whatever was
 * found, or -errno if it could not be read: -EBADMSG if it is no archive, which was then added to
 * the violations.
 */
int fx_archive_check(struct fxt_reader *reader, struct fx_violations *violations,
		     struct fx_archive_counts *ret);

#endif /* FX_FORMAT_CHECK_ARCHIVE_H */
