/* SPDX-License-Identifier: MIT */
/*
 * Collectives of MPI: which rank came last, and when. Each rank's call has the same id as those of the others
 * (mpi/comms.c: arguments `collective', `rank' and `ranks'). Only of those that all ranks are seen to come to anything is said.
 */
#ifndef FX_ARCHIVES_MEETINGS_H
#define FX_ARCHIVES_MEETINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <fxtrace/reader.h>

#include "archives/clockmap.h"

/* So many are told of. */
#define FX_MEETINGS_MAX (1u << 20)

struct fx_meetings;

/* A rank that comes. */
struct fx_coming {
	uint64_t id;
	uint64_t ns; /* of the archive's own clock */
	uint32_t archive;
	int32_t rank;
	uint32_t ranks;
};

/* NULL: no memory. */
struct fx_meetings *fx_meetings_new(void);
void fx_meetings_free(struct fx_meetings *meetings);

/* Whether a record is a call of one; all but *ret's archive is set. */
bool fx_coming_read(const struct fxt_record *record, struct fx_coming *ret);

/* 0 or -ENOMEM. */
int fx_meetings_add(struct fx_meetings *meetings, const struct fx_coming *coming);

/* Once all are added, and the archives' clocks known: map_of() is asked for these. 0 or -errno. */
int fx_meetings_seal(struct fx_meetings *meetings,
		     struct fx_clockmap *(*map_of)(void *opaque, size_t archive), void *opaque);

/* Who came last, in the new archive's time. */
struct fx_meeting {
	uint64_t id;
	uint64_t ns;
	int32_t rank;
};

/* NULL: that is not known. */
const struct fx_meeting *fx_meetings_find(const struct fx_meetings *meetings, uint64_t id);

#endif
