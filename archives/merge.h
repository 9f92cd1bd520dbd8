/* SPDX-License-Identifier: MIT */
/*
 * Several archives as one: their records in order of time as far as the archives have them so, by clocks that are
 * aligned (align.h), with ids kept apart (apart.h), and an arrow for each message from one archive to another.
 * Each archive is read twice; memory grows with processes, threads, providers and the messages that count. Processes of archives
 * whose clock was aligned say how, and by how much it may be wrong: arguments `clock' and `clock_error_ns' of their names.
 */
#ifndef FX_ARCHIVES_MERGE_H
#define FX_ARCHIVES_MERGE_H

#include <stddef.h>
#include <stdint.h>

#include "archives/align.h"
#include "manager/archive/output.h"

struct fx_merge;

/* Of one archive. */
struct fx_merge_input {
	const char *path;
	bool has_offset;
	int64_t offset; /* ns, to the first archive's clock */
};

/* What came of one. */
struct fx_merge_result {
	const struct fx_aligned *aligned;
	int64_t moved;	/* ns; its first time in the new archive, less what it was */
	uint64_t shift; /* of its processes and threads */
};

/*
 * Reads all archives and aligns them. The inputs are borrowed as long as the merge lives. Returns 0, or -errno with
 * *ret_at the input that it is about: -EBADMSG if that is no archive, -ENODATA if nothing tells how its clock lies.
 * *ret is to be freed either way, if it is not NULL.
 */
int fx_merge_open(const struct fx_merge_input *inputs, size_t count, struct fx_merge **ret,
		  size_t *ret_at);

struct fx_merge_result fx_merge_result(const struct fx_merge *merge, size_t at);

struct fx_merge_counts {
	uint64_t events;
	uint64_t arrows; /* between archives */
	uint64_t
	    backwards; /* further ones, which no clocks could have in order: they are left out */
	uint64_t left_out; /* records that are too large, or that nobody knows */
};

/* Writes all to an output that has been begun. Returns 0, -errno of an input (*ret_at), or the output's. */
int fx_merge_write(struct fx_merge *merge, struct fx_output *out, struct fx_merge_counts *ret,
		   size_t *ret_at);

void fx_merge_free(struct fx_merge *merge);

#endif
