/* SPDX-License-Identifier: MIT */
/*
 * An archive in parts: by time, by size, or a process each. A part is an archive of its own, with the names, modules and
 * clock records that it needs; each event is in one part, so that all parts together are what the archive was. What
 * began in a part ends there: a call that goes on beyond the end of a part is whole in it, with its end, and so are
 * asynchronous operations. Arrows may have their ends in different parts, each with the slice or instant it belongs to.
 *
 * The archive is read once for what is in it, and once more for every FX_SPLIT_AT_ONCE parts.
 */
#ifndef FX_ARCHIVES_SPLIT_H
#define FX_ARCHIVES_SPLIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <fxtrace/reader.h>

#include "archives/places.h"
#include "manager/archive/output.h"

#define FX_SPLIT_AT_ONCE 32u

/* More are a mistake. */
#define FX_SPLIT_MAX 100000u

struct fx_split_part {
	size_t number; /* counts from 1 */
	uint64_t
	    key; /* the process's id; or how many times `every' it begins behind the first event */
	uint64_t events;
};

struct fx_split_order {
	const char *path; /* of the archive */
	enum fx_split_by by;
	uint64_t every; /* ns, or bytes of records */
	/* Opens the output of a part, and begins it. 0; or -errno, which it has said. */
	int (*open)(void *opaque, const struct fx_split_part *part, struct fx_output **ret);
	/* The part is complete: closes its output. 0; or -errno, which it has said. */
	int (*close)(void *opaque, const struct fx_split_part *part, struct fx_output *out);
	void *opaque;
};

struct fx_split_result {
	size_t parts;
	uint64_t events;
	uint64_t crossing; /* calls and operations that go on beyond the end of their part */
	uint64_t left_out; /* records that are too large, or that nobody knows */
	uint64_t fault_count;
	struct fxt_fault fault; /* the first one */
};

/*
 * Returns 0; -errno of the archive; -EFBIG: there were more than FX_SPLIT_MAX parts; or what open or close returned, with
 * *ret_said.
 */
int fx_split(const struct fx_split_order *order, struct fx_split_result *ret, bool *ret_said);

#endif
